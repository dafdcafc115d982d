"""The tables of what is on a profile: which entries of a line are rows of which table, and what their columns hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.db.models import Model

from lookup.documents import registry
from lookup.documents.registry import ContentList
from lookup.models import (
    Audio,
    Background,
    CustomBadge,
    GalleryItem,
    Link,
    ProfileBadge,
    Section,
)
from lookup.serializers.fields import AssetFacts
from lookup.shapes import sections
from lookup.shapes.sections import SectionType
from lookup.transfer import form
from lookup.transfer.reading import Json, Line, Located


def _never(row: Model, data: Json) -> bool:
    return False


@dataclass(frozen=True)
class Table:
    """`include`: where a line has its rows. `entries`: the entries of a line's data that are its rows. `columns`: what
    a row says, except its id and profile; an asset as its facts.

    `is_hidden`: whether lookups leave a row out. A line cannot name such a row, which stays.
    """

    model: type[Model]
    include: str
    entries: Callable[[Json], Iterator[Located]]
    columns: Callable[[Json], Json]
    is_hidden: Callable[[Any, Json], bool] = _never

    @cached_property
    def name(self) -> str:
        return str(self.model._meta.verbose_name)

    def of(self, line: Line) -> list[Located]:
        """Return the entries of a line, searched once."""
        if (found := line.listed.get(self.name)) is None:
            found = line.listed[self.name] = list(self.entries(line.data))
        return found


def _of(include: str, **wanted: str) -> Callable[[Json], Iterator[Located]]:
    def entries(data: Json) -> Iterator[Located]:
        for place, entry in enumerate(data[include]):
            if all(entry[name] == value for name, value in wanted.items()):
                yield f"{include}.{place}", entry

    return entries


def _pictures(data: Json) -> Iterator[Located]:
    """Yield the gallery, each picture with its section and its place there."""
    homes = {
        item["id"]: (section["id"], place)
        for section in data["sections"]
        if section["type"] == SectionType.GALLERY
        for place, item in enumerate(section["items"])
    }
    for place, item in enumerate(data["gallery"]):
        section, order = homes.get(item["id"], (None, place))
        yield f"gallery.{place}", {**item, "section": section, "order": order}


def _is_inactive(row: Audio | Background | Link, data: Json) -> bool:
    return not row.is_active


def _is_hidden_section(row: Section, data: Json) -> bool:
    return not row.is_enabled or not sections.is_valid(row.type, row.config)


def _is_hidden_picture(row: GalleryItem, data: Json) -> bool:
    """Return whether the picture is in a hidden section that the line does not name either."""
    section = row.section
    if section is None or any(section.pk == entry["id"] for entry in data["sections"]):
        return False
    return section.type != SectionType.GALLERY or _is_hidden_section(section, data)


def _rows_of(content: ContentList, model: type[Model], **wanted: str) -> Table:
    """Return the table of a list whose rows are as its form shows them."""
    names = form.columns_of(content.form, model) if content.form else {}
    fixed = {"is_active": True} if content.switch == "is_active" else {}
    return Table(
        model,
        content.name,
        _of(content.name, **wanted),
        lambda entry: {column: entry[name] for column, name in names.items()} | fixed,
        _is_inactive if fixed else _never,
    )


def _sorted_tiers(table: Table) -> Table:
    """Return the table with unlocked tiers that ascend, each once."""

    def columns(entry: Json) -> Json:
        found = table.columns(entry)
        return {**found, "unlocked_tiers": sorted(set(found["unlocked_tiers"]))}

    return replace(table, columns=columns)


STANDARD_BADGES = _sorted_tiers(_rows_of(registry.BADGES, ProfileBadge, type="STANDARD"))
# Sections before the pictures in them.
TABLES = (
    STANDARD_BADGES,
    _rows_of(registry.BADGES, CustomBadge, type="CUSTOM"),
    *(_rows_of(content, content.model) for content in registry.LISTS.values() if content.is_plain),
    Table(
        Section,
        "sections",
        _of("sections"),
        lambda entry: {
            **{name: entry[name] for name in ("type", "order", "title", "description", "alignment", "config")},
            "is_enabled": True,
        },
        _is_hidden_section,
    ),
    Table(
        GalleryItem,
        "gallery",
        _pictures,
        lambda entry: {
            "section_id": entry["section"],
            **{name: entry[name] for name in ("asset", "caption", "width", "order")},
        },
        _is_hidden_picture,
    ),
)


def assets_of(line: Line) -> Iterator[tuple[str, AssetFacts]]:
    """Yield every upload that the line names, with its path there."""
    for path, entry in [("profile", line.data["profile"]), *(row for table in TABLES for row in table.of(line))]:
        for name, value in entry.items():
            if isinstance(value, AssetFacts):
                yield f"{path}.{name}", value
