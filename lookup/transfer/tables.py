"""The tables of what is on a profile: which entries of a line are rows of which table, and what their columns hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Model

from lookup.documents import registry
from lookup.documents.registry import ContentList
from lookup.models import Audio, Background, CustomBadge, GalleryItem, Link, ProfileBadge, Section
from lookup.serializers.fields import AssetFacts
from lookup.shapes import sections
from lookup.shapes.sections import SectionType
from lookup.transfer import form
from lookup.transfer.reading import Json, Line, Located


@dataclass(frozen=True)
class Table:
    """`include`: where a line has its rows. `entries`: the entries of a line's data that are its rows. `columns`: what
    a row says, except its id and profile; an asset as its facts."""

    model: type[Model]
    include: str
    entries: Callable[[Json], Iterator[Located]]
    columns: Callable[[Json], Json]

    @cached_property
    def name(self) -> str:
        return str(self.model._meta.verbose_name)

    def of(self, line: Line) -> list[Located]:
        """Return the entries of a line, searched once."""
        if (found := line.listed.get(self.name)) is None:
            found = line.listed[self.name] = list(self.entries(line.data))
        return found


def is_hidden(row: Model, line: Line) -> bool:
    """Return whether lookups leave a row out. A line cannot name such a row, which stays."""
    match row:
        case Audio() | Background() | Link():
            return not row.is_active
        case Section():
            return not row.is_enabled or not sections.is_valid(row.type, row.config)
        case GalleryItem(section=Section() as section):
            if any(section.pk == entry["id"] for entry in line.rows("sections")):
                return False
            return section.type != SectionType.GALLERY or is_hidden(section, line)
    return False


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


def _rows_of(content: ContentList, model: type[Model], **wanted: str) -> Table:
    """Return the table of a list whose rows are as its form shows them; unlocked tiers ascend, each once."""
    names = form.columns_of(content.form, model) if content.form else {}
    fixed = {"is_active": True} if content.switch == "is_active" else {}

    def columns(entry: Json) -> Json:
        found = {column: entry[name] for column, name in names.items()} | fixed
        if "unlocked_tiers" in found:
            found["unlocked_tiers"] = sorted(set(found["unlocked_tiers"]))
        return found

    return Table(model, content.name, _of(content.name, **wanted), columns)


STANDARD_BADGES = _rows_of(registry.BADGES, ProfileBadge, type="STANDARD")
_SECTION_COLUMNS = ("type", "order", "title", "description", "alignment", "config")
_PICTURE_COLUMNS = ("asset", "caption", "width", "order")
# Sections before the pictures in them.
TABLES = (
    STANDARD_BADGES,
    _rows_of(registry.BADGES, CustomBadge, type="CUSTOM"),
    *(_rows_of(content, content.model) for content in registry.LISTS.values() if content.is_plain),
    Table(
        Section,
        "sections",
        _of("sections"),
        lambda entry: {**{name: entry[name] for name in _SECTION_COLUMNS}, "is_enabled": True},
    ),
    Table(
        GalleryItem,
        "gallery",
        _pictures,
        lambda entry: {"section_id": entry["section"], **{name: entry[name] for name in _PICTURE_COLUMNS}},
    ),
)


def assets_of(line: Line) -> Iterator[tuple[str, AssetFacts]]:
    """Yield every upload that the line names, with its path there."""
    for path, entry in [("profile", line.data["profile"]), *(row for table in TABLES for row in table.of(line))]:
        for name, value in entry.items():
            if isinstance(value, AssetFacts):
                yield f"{path}.{name}", value
