"""A user imports their own export: only what users may change of themselves is taken from it.

Names, plan, rights, aliases, counters, comments, votes, unlocked badges and the catalogues stay: the line that is
written is the user's present export, with the content of the file in place of theirs.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Model

from accounts import audit
from accounts.models import User
from lookup.documents import registry
from lookup.editing import profiles
from lookup.models import Asset
from lookup.serializers.fields import Mirrored
from lookup.shapes import settings_schema
from lookup.shapes.strict_fields import Problem
from lookup.transfer import content, exporting, people, reading
from lookup.transfer.catalogues import missing_entries
from lookup.transfer.conflicts import Claims
from lookup.transfer.reading import Json, Line, LineRefused
from lookup.transfer.tables import TABLES, Table, assets_of, is_hidden

MAX_BYTES = 2 * 1024 * 1024
_CONTENT = tuple(name for name in registry.DOCUMENT_COLUMNS if name not in {"profile", "badges"})
_NOT_TAKEN = ("profileId", "createdAt", "updatedAt")  # of the profile
_BADGE_CHOICES = ("enabled", "order", "color", "recolor")
_TAKEN = "Something that this file names has just been taken. Please try again."


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


@dataclass
class Outcome:
    """`notes`: what is left out, by path. `is_written`: the changes have been made."""

    changes: Changes
    notes: list[Problem]
    is_written: bool = False


def exported(user: User) -> bytes:
    """Return the user's line, even where lookups hide them. Raises User.DoesNotExist if deleted."""
    for line in exporting.lines(user_ids=[user.pk], hidden_too=True):
        return line
    raise User.DoesNotExist


def look(*, user: User, text: bytes) -> Outcome:
    """Return what `restore` would change. Raises LineRefused, with every reason."""
    return restore(user=user, text=text, digest="", by=user)


def restore(*, user: User, text: bytes, digest: str, by: User | None) -> Outcome:
    """Replace the user's content by the content of a file that `exported` made.

    Nothing is written without changes, or where `digest`, which `look` gave, is of other changes. Rows that lookups
    hide stay. Raises LineRefused, with every reason: nothing is changed.
    """
    given = _own_line(text, user)
    try:
        with transaction.atomic():
            people.lock([given])
            with profiles.changing(all_of=[user.pk]):
                today = reading.read(1, exported(user))
                line, notes = _merged(given, today)
                claims = Claims([line], {})
                problems = list(_problems(line, claims))
                if problems:
                    raise LineRefused(problems)
                outcome = Outcome(_between(today, line, claims), notes)
                if digest == outcome.changes.digest and not outcome.changes.is_empty:
                    content.write([line], people.People({}, []), claims)
                    audit.record("profile:restored", by=by, on=user, profile=line.profile_id)
                    profiles.touch(line.profile_id)
                    outcome.is_written = True
    except IntegrityError:
        raise LineRefused([("", _TAKEN)]) from None
    return outcome


def _own_line(text: bytes, user: User) -> Line:
    if len(text) > MAX_BYTES:
        raise LineRefused([("", f"Has more than {MAX_BYTES // 1024 // 1024} MB.")])
    lines = list(reading.lines(io.BytesIO(text)))
    if len(lines) != 1:
        raise LineRefused([("", f"Has {len(lines)} lines with content; an export of your profile has one.")])
    line = reading.read(*lines[0])
    if line.user_id != user.pk:
        raise LineRefused([("user.id", f"Is the id of another account; yours is {user.pk}.")])
    return line


def _merged(given: Line, today: Line) -> tuple[Line, list[Problem]]:
    """Return today's line with the content of the given one, and what is left out of that."""
    data: Json = {**today.data, **{name: given.data[name] for name in _CONTENT}}
    data["profile"] = {**given.profile, **{name: today.profile[name] for name in _NOT_TAKEN}}
    data["badges"], notes = _badges(given.rows("badges"), today.rows("badges"))
    return Line(given.number, data), notes


def _badges(given: list[Json], today: list[Json]) -> tuple[list[Json], list[Problem]]:
    """Return catalogue badges that the user has, displayed as in the file, and the custom badges of the file."""
    notes: list[Problem] = []
    said = {badge["badgeId"]: (place, badge) for place, badge in enumerate(given) if badge["type"] == "STANDARD"}
    badges = [badge for badge in given if badge["type"] == "CUSTOM"]
    for held in today:
        if held["type"] != "STANDARD":
            continue
        place, chosen = said.pop(held["badgeId"], (0, held))
        tier = chosen["selectedTier"]
        if tier is not None and tier not in held["unlockedTiers"]:
            path = f"badges.{place}.selectedTier"
            notes.append((path, "You have not unlocked this tier; your current choice stays."))
            tier = held["selectedTier"]
        badges.append({**held, **{name: chosen[name] for name in _BADGE_CHOICES}, "selectedTier": tier})
    notes += [(f"badges.{place}", "You do not have this badge; it is left out.") for place, _ in said.values()]
    return badges, notes


def _problems(line: Line, claims: Claims) -> Iterator[Problem]:
    for path, _ in claims.problems(line):  # the owner is not disclosed
        yield path, "Belongs to another user, or to another of your profiles."
    own = {content.facts_of(asset) for asset in Asset.objects.filter(owner=line.user_id)}
    for path, facts in assets_of(line):
        if facts not in own:  # knowing the address of a file does not make it one's own
            yield path, "Not one of your uploads. Upload it, then export again."
    yield from missing_entries(line)
    yield from _too_many(line, claims)


def _too_many(line: Line, claims: Claims) -> Iterator[Problem]:
    """Yield lists over their limits, hidden rows included; who has more today may keep as many."""
    limits: dict[type[Model], int] = {one.model: one.limit for one in registry.LISTS.values()}
    for table in TABLES:
        if table.model not in limits:
            continue
        entries = table.of(line)
        named = {entry["id"] for _, entry in entries}
        held = claims.rows[table.name, line.profile_id]
        staying = sum(row.pk not in named and is_hidden(row, line) for row in held)
        most = max(limits[table.model], len(held))
        if len(entries) + staying > most:
            yield entries[0][0].partition(".")[0], f"Has too many rows: with those that are hidden, {most} are allowed."


def _between(today: Line, line: Line, claims: Claims) -> Changes:
    """Return what `content.write` changes on the user's profile, which lookups show as `today`. No query."""
    lists: dict[str, ListChanges] = {}
    for table in TABLES:
        _compare_rows(table, today, line, claims, lists.setdefault(table.include, ListChanges(table.include)))
    old, new = today.profile, line.profile
    before, after = settings_schema.filled(old["settings"]), settings_schema.filled(new["settings"])
    return Changes(
        fields=[
            Change(name, old[name], value)
            for name, value in new.items()
            if name not in {*_NOT_TAKEN, "settings"}
            and not isinstance(value, Mirrored)  # the upload behind a mirrored picture stays
            and old[name] != value
        ],
        settings=[
            Change(f"{key}.{name}", before[key][name], value)
            for key, values in after.items()
            for name, value in values.items()
            if before[key][name] != value
        ],
        lists=list(lists.values()),
    )


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
