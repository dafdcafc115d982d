"""The entries that a section lists in its configuration: rows of the catalogues, and the user's own skills.

Each entry has a key: the id of a catalogue row, kind and id of music, or a digest of a skill.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models import Model

from accounts.models import User
from lookup.documents import registry
from lookup.editing import content, profiles
from lookup.models import Anime, Game, MediaTitle, MusicItem, Profile, Section
from lookup.shapes.sections import MUSIC_KINDS, SectionType
from lookup.shapes.strict_fields import problem_of_text

Json = Any  # what a configuration holds: an id, or an object
Row = Any  # a row of a catalogue

FOUND = 20  # how many rows a search shows
# Where each type keeps them.
PATHS: dict[str, tuple[str, ...]] = {
    SectionType.ABOUT_ME: ("skills", "custom"),
    **{type_: (catalogue.config_key,) for type_, catalogue in registry.CATALOGUES.items()},
}
CATALOGUES: dict[str, type[Model]] = {type_: catalogue.model for type_, catalogue in registry.CATALOGUES.items()}


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as pages show it. `facts`: distinguish entries of equal titles; `svg`: the icon of a skill."""

    key: str
    title: str
    facts: str = ""
    svg: str = ""


def key_of(entry: Json) -> str:
    if isinstance(entry, int):
        return str(entry)
    if "musicId" in entry:
        return f"{entry['kind']}:{entry['musicId']}"
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:16]


def entries_of(section: Section) -> list[Entry]:
    """Return the entries in order, with a note on rows that are no longer in the catalogue. At most 1 query."""
    stored = _stored(section)
    if section.type not in CATALOGUES:
        return [Entry(key_of(skill), skill["label"], skill["iconName"], skill["iconSvg"]) for skill in stored]
    known = {entry.key: entry for entry in map(_entry, _rows_of(section.type, stored))}
    return [known.get(key, Entry(key, f"Entry {key}", "no longer in the catalog")) for key in map(key_of, stored)]


def search(type: str, words: str) -> list[Entry]:
    """Return at most FOUND rows of the type's catalogue whose names hold `words`. 1 query."""
    model = CATALOGUES[type]
    name = "name" if model is Game else "title"
    rows = model._default_manager.filter(**{f"{name}__icontains": words}).order_by(name, "pk")
    return [_entry(row) for row in rows[:FOUND]]


def add_row(*, profile: Profile, pk: str, key: str, by: User | None) -> None:
    """Put a row of the catalogue at the end. Raises ValidationError: the row does not exist, is listed already, or the
    section is full."""
    with _changing(profile, pk, by) as (section, entries):
        entry = _of_key(section.type, key)
        if not _rows_of(section.type, [entry]):
            raise ValidationError("The catalog has no such entry.")
        if key in map(key_of, entries):
            raise ValidationError("It is in this section already.")
        entries.append(entry)


def add_skill(*, profile: Profile, pk: str, label: str, icon_name: str, icon_svg: str, by: User | None) -> None:
    """Put a skill at the end. Raises ValidationError: unsafe drawing, skill listed already, or section full."""
    with _changing(profile, pk, by) as (section, entries):
        skill = {"label": label, "iconName": icon_name, "iconSvg": icon_svg}
        if section.type != SectionType.ABOUT_ME:
            raise ObjectDoesNotExist
        if skill in entries:
            raise ValidationError("It is in this section already.")
        entries.append(skill)


def remove(*, profile: Profile, pk: str, key: str, by: User | None) -> None:
    """Remove the entry. Raises ObjectDoesNotExist where the section or the entry does not exist."""
    with _changing(profile, pk, by) as (_, entries):
        entries.pop(_place(entries, key))


def move(*, profile: Profile, pk: str, key: str, places: int, by: User | None) -> None:
    """Move the entry up by one place (-1) or down (1), unless at the end. Raises ObjectDoesNotExist."""
    with _changing(profile, pk, by) as (_, entries):
        place = _place(entries, key)
        entries.insert(min(max(place + places, 0), len(entries) - 1), entries.pop(place))


@contextmanager
def _changing(profile: Profile, pk: str, by: User | None) -> Iterator[tuple[Section, list[Json]]]:
    """Lock the section; write its entries as the block leaves them."""
    with profiles.changing(profile.pk, by=by) as block:
        section: Section = registry.SECTIONS.row_of(block.profile.pk, pk, is_locked=True)
        if section.type not in PATHS:
            raise ObjectDoesNotExist
        entries = _stored(section)
        yield section, entries
        config = copy.deepcopy(section.config) if isinstance(section.config, dict) else {}
        *above, name = PATHS[section.type]
        functools.reduce(lambda holder, part: holder.setdefault(part, {}), above, config)[name] = entries
        content.write(block, section, {"config": config})


def _stored(section: Section) -> list[Json]:
    """Return a copy of the entries; empty where the configuration is of another shape."""
    value: Json = section.config
    for name in PATHS[section.type]:
        value = value.get(name) if isinstance(value, dict) else None
    return list(value) if isinstance(value, list) else []


def _place(stored: Sequence[Json], key: str) -> int:
    for place, entry in enumerate(stored):
        if key_of(entry) == key:
            return place
    raise ObjectDoesNotExist


def _of_key(type: str, key: str) -> Json:
    """Return the entry that a configuration holds for this key. Raises ObjectDoesNotExist."""
    if type == SectionType.MUSIC:
        kind, _, music_id = key.partition(":")
        if kind not in MUSIC_KINDS or problem_of_text(music_id, 100, min_length=1):
            raise ObjectDoesNotExist
        return {"kind": kind, "musicId": music_id}
    if type not in CATALOGUES or not (key.isascii() and key.isdigit() and len(key) <= 16):
        raise ObjectDoesNotExist
    return int(key)


def _rows_of(type: str, entries: Iterable[Json]) -> list[Row]:
    if type != SectionType.MUSIC:
        return list(CATALOGUES[type]._default_manager.filter(pk__in=entries))
    wanted = {(entry["kind"], entry["musicId"]) for entry in entries}
    rows = MusicItem.objects.filter(music_id__in={music_id for _, music_id in wanted})
    return [row for row in rows if (row.kind, row.music_id) in wanted]


def _entry(row: Row) -> Entry:
    match row:
        case Game():
            return Entry(str(row.pk), row.name, str(row.released.year) if row.released else "")
        case Anime():
            facts = [row.format, row.year]
        case MediaTitle():
            facts = [row.media_type.capitalize(), row.year]
        case _:
            facts = [row.get_kind_display(), row.artist, row.album]
    key = f"{row.kind}:{row.music_id}" if isinstance(row, MusicItem) else str(row.pk)
    return Entry(key, row.title, " · ".join(str(fact) for fact in facts if fact))
