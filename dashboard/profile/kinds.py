"""The lists of the editor, in words, and what one row of them looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from dashboard.profile import content_forms, editing, section_forms
from dashboard.profile.content_forms import RowForm
from lookup import registry
from lookup.models import GalleryItem, Link, Profile, ProfileBadge, Section, Widget
from lookup.registry import ContentList
from lookup.sections import SectionType

Row = Any  # a row of one of the lists


@dataclass(frozen=True, slots=True)
class Kind:
    """`verbose_name`: of one row; `lead`: what the list is for; `empty`: what to do where there is nothing."""

    content: ContentList
    title: str
    verbose_name: str
    lead: str
    empty: str

    @property
    def name(self) -> str:
        return self.content.name

    @property
    def template(self) -> str:
        """Of a row."""
        return f"dashboard/profile_content/rows/{self.name}.html"

    def url_of(self, profile: Profile, page: str = "", **kwargs: str) -> str:
        """The list, or one of its pages: add, order, row, move, switch, delete."""
        return editing.url_of(profile, f"profile_{self.name}_{page}" if page else f"profile_{self.name}", **kwargs)


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            registry.LINKS,
            "Links",
            "link",
            "Places that belong to you elsewhere, and texts to copy.",
            "You have no links yet. Add one: a web address, an e-mail address or a text to copy.",
        ),
        Kind(
            registry.BADGES,
            "Badges",
            "badge",
            "Badges come with what you reach, or from staff; you can make some of your own beside them.",
            "You have no badges yet. They come with views, likes and comments; or make one of your own.",
        ),
        Kind(
            registry.WIDGETS,
            "Widgets",
            "widget",
            "What other services tell about you. An “About me” section chooses which ones it shows.",
            "You have no widgets yet. Add one, and then choose it in an “About me” section.",
        ),
        Kind(
            registry.AUDIOS,
            "Audio",
            "song",
            "What your page plays, in this order.",
            "You have no songs yet. Add one: an audio file with its title.",
        ),
        Kind(
            registry.BACKGROUNDS,
            "Backgrounds",
            "background",
            "Pictures or films behind your page. The first one that is on is what earlier forms of the lookup name.",
            "You have no backgrounds yet. Add a picture or a film.",
        ),
        Kind(
            registry.PROJECTS,
            "Projects",
            "project",
            "What you have made. A “Projects” section chooses which ones it shows.",
            "You have no projects yet. Add one with a title, and say where it is.",
        ),
        Kind(
            registry.GALLERY,
            "Gallery",
            "picture",
            "Pictures, in gallery sections or below all sections.",
            "Your gallery is empty. Add a picture.",
        ),
        Kind(
            registry.SECTIONS,
            "Sections",
            "section",
            "The parts of your page, one below the other.",
            "Your page has no sections yet. Add one, for example “About me”.",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A row in its place in the list, with what can be done to it. `move_url` and others: where the forms are sent."""

    row: Row
    name: str
    number: int
    is_first: bool
    is_last: bool
    is_on: bool
    is_own: bool
    url: str
    move_url: str
    switch_url: str
    delete_url: str


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that are put in order among each other; `title` is empty where the list is one."""

    title: str
    rows: list[Shown]


def groups_of(kind: Kind, profile: Profile) -> list[Group]:
    """The list as its page shows it. At most 3 queries."""
    rows = kind.content.rows_of(profile.pk)
    if not kind.content.group:
        return [Group("", _shown(kind, profile, rows))] if rows else []
    parts: dict[str | None, list[Row]] = {}
    for row in rows:
        parts.setdefault(getattr(row, kind.content.group), []).append(row)
    order = sorted(parts.values(), key=_place_of_section)
    is_one = list(parts) == [None]
    return [Group("" if is_one else _title_of_section(part[0]), _shown(kind, profile, part)) for part in order]


def form_class(row: Row) -> type[RowForm]:
    return section_forms.SectionForm if isinstance(row, Section) else content_forms.FORMS[type(row)]


def name_of(row: Row) -> str:
    """What the row is called where buttons speak of it."""
    match row:
        case Link():
            return row.title or row.url
        case Section():
            return row.title or SectionType(row.type).label
        case GalleryItem():
            return row.caption or row.asset.path.rpartition("/")[2]
        case ProfileBadge():
            return row.badge.name
        case Widget():
            return f"{row.platform} {row.type}: {row.identifier}"
        case _:
            return str(row) if str(row) != row.pk else "untitled"


def page_address(profile: Profile) -> str:
    """The public page that shows the profile."""
    return reverse("profile_page", args=[profile.user.username if profile.is_main else profile.alias.name.name])


def _shown(kind: Kind, profile: Profile, rows: Sequence[Row]) -> list[Shown]:
    return [
        Shown(
            row=row,
            name=name_of(row),
            number=number,
            is_first=number == 1,
            is_last=number == len(rows),
            is_on=not kind.content.switch or getattr(row, kind.content.switch),
            is_own=isinstance(row, kind.content.model),
            url=kind.url_of(profile, "row", pk=row.pk),
            move_url=kind.url_of(profile, "move", pk=row.pk),
            switch_url=kind.url_of(profile, "switch", pk=row.pk) if kind.content.switch else "",
            delete_url=kind.url_of(profile, "delete", pk=row.pk),
        )
        for number, row in enumerate(rows, start=1)
    ]


def _place_of_section(part: Sequence[GalleryItem]) -> tuple[bool, int, str]:
    """As on the page: sections in their order, then what is in none."""
    section = part[0].section
    return (section is None, section.order if section else 0, section.pk if section else "")


def _title_of_section(picture: GalleryItem) -> str:
    section = picture.section
    return f"In the section “{name_of(section)}”" if section else "In no section"
