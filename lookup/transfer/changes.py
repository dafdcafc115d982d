"""Compare a line with the main profile of its user: fields, settings, and rows of each list."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Model

from lookup.serializers.fields import Mirrored
from lookup.shapes import settings_schema
from lookup.transfer import content
from lookup.transfer.conflicts import Claims
from lookup.transfer.reading import Json, Line
from lookup.transfer.tables import TABLES, Table

_NOT_COMPARED = {"profileId", "createdAt", "updatedAt", "settings"}  # of the profile; settings are compared one by one


@dataclass(frozen=True)
class Change:
    """`name`: a key of the profile, `cardSettings.blur` for a setting, or a column of a row."""

    name: str
    old: Any
    new: Any


_SHOWN_AGAIN = Change("is_shown", old=False, new=True)


@dataclass(frozen=True)
class Row:
    """An entry of a list as lookups show it. `values`: of a new row; an existing one has only `changes`."""

    model: type[Model]
    entry: Json
    values: Json = field(default_factory=dict)
    changes: tuple[Change, ...] = ()

    @property
    def is_only_moved(self) -> bool:
        return [change.name for change in self.changes] == ["order"]


@dataclass
class ListChanges:
    """The changes of one list, by the name of its include."""

    name: str
    added: list[Row] = field(default_factory=list)
    changed: list[Row] = field(default_factory=list)
    removed: list[Row] = field(default_factory=list)
    unchanged: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed)


@dataclass(frozen=True)
class Changes:
    fields: list[Change]
    settings: list[Change]
    lists: list[ListChanges]

    @property
    def is_empty(self) -> bool:
        return not (self.fields or self.settings) and all(one.is_empty for one in self.lists)

    @cached_property
    def digest(self) -> str:
        """Return a digest, equal for equal changes: with it a user confirms what a page has shown."""
        listed = [(one.name, one.added, one.changed, one.removed) for one in self.lists]
        return hashlib.sha256(repr((self.fields, self.settings, listed)).encode()).hexdigest()


def between(today: Line, line: Line, claims: Claims) -> Changes:
    """Return what `content.write` changes on the user's profile, which lookups show as `today`. No query."""
    lists: dict[str, ListChanges] = {}
    for table in TABLES:
        _compare_rows(table, today, line, claims, lists.setdefault(table.include, ListChanges(table.include)))
    return Changes(
        list(_fields(today.profile, line.profile)), list(_settings(today.profile, line.profile)), [*lists.values()]
    )


def _fields(old: Json, new: Json) -> Iterator[Change]:
    for name, value in new.items():
        if name in _NOT_COMPARED or isinstance(value, Mirrored):  # the upload behind a mirrored picture stays
            continue
        if old[name] != value:
            yield Change(name, old[name], value)


def _settings(old: Json, new: Json) -> Iterator[Change]:
    before, after = settings_schema.filled(old["settings"]), settings_schema.filled(new["settings"])
    for key, values in after.items():
        for name, value in values.items():
            if before[key][name] != value:
                yield Change(f"{key}.{name}", before[key][name], value)


def _compare_rows(table: Table, today: Line, line: Line, claims: Claims, found: ListChanges) -> None:
    shown = {entry["id"]: entry for _, entry in table.of(today)}
    hidden = {row.pk for row in content.held(table, line, claims)} - set(shown)
    for _, entry in table.of(line):
        values = table.columns(entry)
        if entry["id"] in shown:
            before = table.columns(shown[entry["id"]])
            changes = tuple(Change(name, before[name], new) for name, new in values.items() if before[name] != new)
            if changes:
                found.changed.append(Row(table.model, entry, values, changes))
            else:
                found.unchanged += 1
        elif entry["id"] in hidden:
            found.changed.append(Row(table.model, entry, values, (_SHOWN_AGAIN,)))
        else:
            found.added.append(Row(table.model, entry, values))
    for row in content.unnamed(table, line, claims):
        found.removed.append(
            Row(table.model, shown.get(row.pk) or {"id": row.pk, "caption": getattr(row, "caption", "")})
        )
