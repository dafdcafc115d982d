"""The tables of what is on a profile: which entries of a line are rows of which table, and what their columns hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Model

from lookup import sections
from lookup.models import (
    Audio,
    Background,
    CustomBadge,
    GalleryItem,
    Link,
    ProfileBadge,
    Project,
    Section,
    Widget,
)
from lookup.sections import SectionType
from lookup.transfer.reading import Json, Line, Located
from lookup.transfer.uploads import AssetFacts


def _never(row: Model, data: Json) -> bool:
    """Rows of most tables are never hidden."""
    return False


@dataclass(frozen=True)
class Table:
    """`entries`: those of a line's data that are rows of it. `columns`: what a row says, its id and profile aside; an
    asset as its facts.

    `is_hidden`: whether lookups leave a row out. Such a row is nothing that a line could speak of, and stays.
    """

    model: type[Model]
    entries: Callable[[Json], Iterator[Located]]
    columns: Callable[[Json], Json]
    is_hidden: Callable[[Any, Json], bool] = _never

    @cached_property
    def name(self) -> str:
        return str(self.model._meta.verbose_name)

    def of(self, line: Line) -> list[Located]:
        """The entries of a line, which are looked for once."""
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
    """The gallery, each picture with its section and its place there."""
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
    """In a section that is hidden and not named by the line either."""
    section = row.section
    if section is None or any(section.pk == entry["id"] for entry in data["sections"]):
        return False
    return section.type != SectionType.GALLERY or _is_hidden_section(section, data)


STANDARD_BADGES = Table(
    ProfileBadge,
    _of("badges", type="STANDARD"),
    lambda entry: {
        "badge_id": entry["badgeId"],
        "is_enabled": entry["enabled"],
        "selected_tier": entry["selectedTier"],
        "unlocked_tiers": sorted(set(entry["unlockedTiers"])),
        "color": entry["color"],
        "recolor": entry["recolor"],
        "order": entry["order"],
    },
)
# Sections before the pictures that stand in them.
TABLES = (
    STANDARD_BADGES,
    Table(
        CustomBadge,
        _of("badges", type="CUSTOM"),
        lambda entry: {
            "name": entry["name"],
            "image": entry["image"],
            "icon_svg": entry["iconSvg"],
            "color": entry["color"],
            "recolor": entry["recolor"],
            "is_enabled": entry["enabled"],
            "order": entry["order"],
        },
    ),
    Table(
        Widget,
        _of("widgets"),
        lambda entry: {name: entry[name] for name in ("platform", "type", "identifier", "order")},
    ),
    Table(
        Audio,
        _of("audios"),
        lambda entry: {
            "title": entry["title"],
            "artist": entry["artist"],
            "external_url": entry["externalUrl"],
            "audio": entry["audio"],
            "cover": entry["cover"],
            "order": entry["order"],
            "is_active": True,
        },
        _is_inactive,
    ),
    Table(
        Background,
        _of("backgrounds"),
        lambda entry: {
            "title": entry["title"],
            "asset": entry["asset"],
            "order": entry["order"],
            "is_active": True,
        },
        _is_inactive,
    ),
    Table(
        Link,
        _of("links"),
        lambda entry: {
            "title": entry["title"],
            "url": entry["url"],
            "platform_id": entry["platformId"],
            "platform_type": entry["platformType"],
            "is_text": entry["isText"],
            "recolor": entry["recolor"],
            "color": entry["color"],
            "icon": entry["icon"],
            "icon_svg": entry["iconSvg"],
            "order": entry["order"],
            "is_active": True,
        },
        _is_inactive,
    ),
    Table(
        Project,
        _of("projects"),
        lambda entry: {
            **{name: entry[name] for name in ("title", "description", "url", "tags", "order")},
            "icon": entry["icon"],
        },
    ),
    Table(
        Section,
        _of("sections"),
        lambda entry: {
            **{name: entry[name] for name in ("type", "order", "title", "description", "alignment", "config")},
            "is_enabled": True,
        },
        _is_hidden_section,
    ),
    Table(
        GalleryItem,
        _pictures,
        lambda entry: {
            "section_id": entry["section"],
            "asset": entry["asset"],
            "caption": entry["caption"],
            "width": entry["width"],
            "order": entry["order"],
        },
        _is_hidden_picture,
    ),
)


def assets_of(line: Line) -> Iterator[tuple[str, AssetFacts]]:
    """Every upload that the line names, with its path there."""
    for path, entry in [("profile", line.data["profile"]), *(row for table in TABLES for row in table.of(line))]:
        for name, value in entry.items():
            if isinstance(value, AssetFacts):
                yield f"{path}.{name}", value
