"""The lists of the editor and their rows, as pages show them, and the last deleted row, which can be restored."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.urls import reverse

from accounts.http import SignedInRequest
from dashboard.profile import CONTENT, GROUPS, editing
from dashboard.profile.content_forms import Words
from dashboard.profile.section_forms import FORMS
from lookup.documents import registry
from lookup.documents.registry import ContentList
from lookup.editing.content import Deleted
from lookup.models import GalleryItem, Profile, ProfileBadge, Section, Widget
from lookup.shapes.sections import SectionType

Row = Any  # a row of one of the lists


@dataclass(frozen=True, slots=True)
class Kind:
    """A list of the registry as the editor shows it."""

    content: ContentList

    @property
    def name(self) -> str:
        return self.content.name

    @property
    def words(self) -> Words:
        return FORMS[self.content.model].words

    @property
    def title(self) -> str:
        return self.words.title or self.name.capitalize()

    @property
    def verbose_name(self) -> str:
        """Return the name of one row."""
        return self.words.noun or str(self.content.model._meta.verbose_name)

    @property
    def templates(self) -> list[str]:
        """Return the templates of a row, the first that exists counts."""
        return [f"dashboard/profile_content/rows/{name}.html" for name in (self.name, "plain")]

    def url_of(self, profile: Profile, page: str = "", **kwargs: str) -> str:
        """Return the URL of the list, or of one of its pages: add, order, row, move, switch, delete."""
        return editing.url_of(profile, f"profile_{self.name}_{page}" if page else f"profile_{self.name}", **kwargs)


KINDS = {name: Kind(content) for name, content in registry.LISTS.items()}


def menu_groups() -> dict[str, list[str]]:
    """Return `GROUPS`, with the lists that no group names at the end of the group of content."""
    named = {name for names in GROUPS.values() for name in names}
    return {**GROUPS, CONTENT: [*GROUPS[CONTENT], *(name for name in KINDS if name not in named)]}


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row with its position in the list and the URLs of its page and of its forms."""

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
    """Rows that share one order. `title` is empty for an undivided list."""

    title: str
    rows: list[ShownRow]


def groups_of(kind: Kind, profile: Profile) -> list[Group]:
    """Return the list as its page shows it. At most 3 queries."""
    rows = kind.content.rows_of(profile.pk)
    if not kind.content.group:
        return [Group("", _shown(kind, profile, rows))] if rows else []
    parts: dict[str | None, list[Row]] = {}
    for row in rows:
        parts.setdefault(getattr(row, kind.content.group), []).append(row)
    order = sorted(parts.values(), key=_place_of_section)
    is_one = list(parts) == [None]
    return [Group("" if is_one else _title_of_section(part[0]), _shown(kind, profile, part)) for part in order]


def name_of(row: Row) -> str:
    """Return the name of the row for buttons and messages."""
    match row:
        case Section():
            return row.title or SectionType[row.type].label
        case GalleryItem():
            return row.caption or row.asset.path.rpartition("/")[2]
        case ProfileBadge():
            return row.badge.name
        case Widget():
            return f"{row.platform} {row.type}: {row.identifier}"
        case _:
            return str(row) if str(row) != row.pk else "untitled"


def page_address(profile: Profile) -> str:
    """Return the public page that shows the profile."""
    return reverse("profile_page", args=[profile.user.username if profile.is_main else profile.alias.name.name])


def _shown(kind: Kind, profile: Profile, rows: Sequence[Row]) -> list[ShownRow]:
    return [
        ShownRow(
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
    """Return the sort key, as on the page: sections in their order, then pictures without a section."""
    section = part[0].section
    return (section is None, section.order if section else 0, section.pk if section else "")


def _title_of_section(picture: GalleryItem) -> str:
    section = picture.section
    return f"In the section “{name_of(section)}”" if section else "In no section"


UNDO_SECONDS = 600
_KEY = "deleted_row"  # of the session: the last deleted row of a list, which its owner can bring back


@dataclass(frozen=True)
class Offer:
    """A row that can be restored. `url`: where the form with its `pk` is sent."""

    pk: str
    name: str
    url: str


def keep_deleted(
    request: SignedInRequest, profile: Profile, kind: Kind, *, pk: str, name: str, deleted: Deleted
) -> None:
    request.session[_KEY] = {
        "profile": profile.pk,
        "list": kind.name,
        "pk": pk,
        "name": name,
        "at": int(time.time()),
        "row": asdict(deleted),
    }


def restorable(request: SignedInRequest, profile: Profile, kind: Kind) -> Offer | None:
    """Return what the page of the list offers to restore."""
    kept = _kept(request, profile, kind)
    return Offer(kept["pk"], kept["name"], kind.url_of(profile, "restore")) if kept else None


def deleted(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> Deleted | None:
    """Return the deleted row `pk`; None where another one was deleted since, or it was too long ago."""
    kept = _kept(request, profile, kind)
    return Deleted(**kept["row"]) if kept and kept["pk"] == pk else None


def forget_deleted(request: SignedInRequest) -> None:
    request.session.pop(_KEY, None)


def _kept(request: SignedInRequest, profile: Profile, kind: Kind) -> dict[str, Any] | None:
    """Return the deletion as `keep_deleted` wrote it, if it was in this list. One that is too old is forgotten."""
    kept: dict[str, Any] | None = request.session.get(_KEY)
    if kept and not 0 <= time.time() - kept["at"] <= UNDO_SECONDS:
        forget_deleted(request)
        return None
    return kept if kept and (kept["profile"], kept["list"]) == (profile.pk, kind.name) else None
