"""The lists of the editor and their rows, as pages show them, and the last deleted row, which can be restored."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from accounts.http import SignedInRequest
from dashboard.profile import CONTENT, GROUPS, editing
from dashboard.profile.content_forms import Words
from dashboard.profile.section_forms import FORMS
from lookup.documents import registry
from lookup.documents.registry import ContentList
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
        """Return the URL of the list, or of one of its pages: add, order, row, preview, move, switch, delete."""
        return editing.url_of(profile, f"profile_{self.name}_{page}" if page else f"profile_{self.name}", **kwargs)


KINDS = {name: Kind(content) for name, content in registry.LISTS.items()}


def menu_groups() -> dict[str, list[str]]:
    """Return `GROUPS`, with the lists that no group names at the end of the group of content."""
    named = {name for names in GROUPS.values() for name in names}
    return {**GROUPS, CONTENT: [*GROUPS[CONTENT], *(name for name in KINDS if name not in named)]}


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row of a list. `is_own`: of the user, and not given by staff."""

    row: Row
    name: str
    is_on: bool
    is_own: bool


def groups_of(kind: Kind, profile: Profile) -> list[tuple[str, list[ShownRow]]]:
    """Return the list as its page shows it: titles, empty for an undivided list, and rows that share one order: of the
    sections in their order, then pictures without a section. At most 3 queries."""
    parts: dict[str | None, list[ShownRow]] = {}
    for row in kind.content.rows_of(profile.pk):
        is_on = not kind.content.switch or getattr(row, kind.content.switch)
        shown = ShownRow(row, name_of(row), is_on, isinstance(row, kind.content.model))
        parts.setdefault(getattr(row, kind.content.group) if kind.content.group else None, []).append(shown)
    if list(parts) in ([], [None]):
        return [("", rows) for rows in parts.values()]
    found = [(part[0].row.section, part) for part in parts.values()]
    found.sort(key=lambda part: (0, part[0].order, part[0].pk) if part[0] else (1, 0, ""))
    return [(f"In the section “{name_of(section)}”" if section else "In no section", rows) for section, rows in found]


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


def preview_address(kind: Kind, profile: Profile, row: Row) -> str:
    """Return where the form of the row is sent for a preview."""
    if not row._state.adding:
        return kind.url_of(profile, "row_preview", pk=row.pk)
    return kind.url_of(profile, "preview", **({"type": row.type} if isinstance(row, Section) else {}))


def page_address(profile: Profile) -> str:
    """Return the public page that shows the profile."""
    return reverse("profile_page", args=[profile.user.username if profile.is_main else profile.alias.name.name])


UNDO_SECONDS = 600
DELETED = "deleted_row"  # of the session: the last deleted row of a list, which its owner can bring back


def last_deleted(request: SignedInRequest, profile: Profile, kind: Kind) -> dict[str, Any] | None:
    """Return the deletion as the view wrote it, if it was in this list. One that is too old is forgotten."""
    kept: dict[str, Any] | None = request.session.get(DELETED)
    if kept and not 0 <= time.time() - kept["at"] <= UNDO_SECONDS:
        del request.session[DELETED]
        return None
    return kept if kept and (kept["profile"], kept["list"]) == (profile.pk, kind.name) else None
