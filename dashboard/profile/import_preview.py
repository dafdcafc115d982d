"""What an import would change, in the words of the editor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from dashboard.profile import settings_form
from dashboard.profile.forms import PLACES, ProfileForm
from dashboard.profile.kinds import KINDS
from dashboard.profile.section_forms import FORMS
from lookup.models import GalleryItem, Link, Section, Widget
from lookup.serializers.fields import AssetFacts, Mirrored
from lookup.shapes.sections import SectionType
from lookup.transfer.own import Change, Changes, ListChanges, Row

MAX_ROWS = 50  # named, of each kind of change in a list
MAX_TEXT = 160
_LOOK = {"theme": "Theme"} | {column: label for column, (label, _) in settings_form.FONTS.items()}
_COLUMNS = {
    "config": "Content",
    "is_active": "On",
    "is_enabled": "On",
    "is_shown": "On",
    "order": "Place",
    "section_id": "Section",
    "selected_tier": "Tier",
}


@dataclass(frozen=True)
class Value:
    """`new` is empty where the page can only say that the value changes."""

    label: str
    old: str
    new: str


@dataclass(frozen=True)
class Edited:
    name: str
    values: list[Value]


@dataclass(frozen=True)
class Names:
    """Of rows that share a change; `more`: how many are not named."""

    verb: str
    names: list[str]
    more: int

    @property
    def count(self) -> int:
        return len(self.names) + self.more


@dataclass(frozen=True)
class ListPreview:
    title: str
    names: list[Names]
    edited: list[Edited]
    more_edited: int
    unchanged: int

    @property
    def summary(self) -> str:
        """Return a text such as "2 added, 1 changed, 4 unchanged"."""
        edited = len(self.edited) + self.more_edited
        counts = [(one.count, one.verb.lower()) for one in self.names] + [
            (edited, "changed"),
            (self.unchanged, "unchanged"),
        ]
        return ", ".join(f"{count} {word}" for count, word in counts if count)


@dataclass(frozen=True)
class Preview:
    values: list[Value]
    lists: list[ListPreview]
    unchanged_lists: str


def of(changes: Changes) -> Preview:
    values = [*map(_field, changes.fields)]
    for change in changes.settings:
        key, _, name = change.name.partition(".")
        values.append(_value(f"{settings_form.TITLES[key]}: {settings_form.label_of(key, name)}", change))
    lists = [_list(one) for one in changes.lists if not one.is_empty]
    same = [KINDS[one.name].title for one in changes.lists if one.is_empty]
    return Preview(values, lists, ", ".join(same))


def _list(changes: ListChanges) -> ListPreview:
    moved = [row for row in changes.changed if row.is_only_moved]
    edited = [row for row in changes.changed if not row.is_only_moved]
    kinds = (("Added", changes.added), ("Removed", changes.removed), ("Moved", moved))
    return ListPreview(
        title=KINDS[changes.name].title,
        names=[_names(verb, rows) for verb, rows in kinds if rows],
        edited=[
            Edited(_name_of(row), [_column(row.model, change) for change in row.changes]) for row in edited[:MAX_ROWS]
        ],
        more_edited=max(len(edited) - MAX_ROWS, 0),
        unchanged=changes.unchanged,
    )


def _names(verb: str, rows: Sequence[Row]) -> Names:
    return Names(verb, [_name_of(row) for row in rows[:MAX_ROWS]], max(len(rows) - MAX_ROWS, 0))


def _name_of(row: Row) -> str:
    """Return the name of the row, as `kinds.name_of` names a stored row."""
    entry = row.entry
    if row.model is Section:
        return _short(entry["title"]) or SectionType[entry["type"]].label
    if row.model is Link and row.values and not row.changes:  # a new one
        return f"{_short(entry['title'])} ({_short(entry['url'])})" if entry["title"] else _short(entry["url"])
    if row.model is Widget:
        return _short(f"{entry['platform']} {entry['type']}: {entry['identifier']}")
    if row.model is GalleryItem:
        return _short(entry["caption"]) or _text(entry.get("asset")) or "untitled"
    return next((_short(entry[key]) for key in ("title", "name", "url", "badgeId") if entry.get(key)), "untitled")


def _column(model: type[Model], change: Change) -> Value:
    field, words = FORMS[model].base_fields.get(change.name), change.name.replace("_", " ")
    label = _COLUMNS.get(change.name) or (str(field.label or "") if field else "") or words[:1].upper() + words[1:]
    return _value(label, change)


def _field(change: Change) -> Value:
    column = re.sub(r"([A-Z])", lambda letter: f"_{letter[0].lower()}", change.name)
    if column in PLACES:
        return _value(PLACES[column].title, change)
    if column in _LOOK:
        return _value(_LOOK[column], change)
    return _value(str(ProfileForm.base_fields[column].label), change)


def _value(label: str, change: Change) -> Value:
    old, new = _text(change.old), _text(change.new)
    return Value(label, old, "" if old == new else new)  # long texts may differ behind what is shown


def _text(value: Any) -> str:
    """Return short plain text; empty for a value without such a form."""
    match value:
        case None | "" | []:
            return "empty"
        case bool():
            return "on" if value else "off"
        case AssetFacts():
            return value.path.rpartition("/")[2]
        case Mirrored():
            return "picture of your chat account"
        case str() | int() | float():
            return _short(str(value))
        case [*texts] if all(isinstance(text, str | int) for text in texts):
            return _short(", ".join(map(str, texts)))
        case _:
            return ""


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
