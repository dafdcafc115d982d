"""The changelog as an Atom feed. Page and feed have one source: a heading `## DATE: TITLE` for each entry."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.contrib.syndication.views import Feed
from django.utils.feedgenerator import Atom1Feed

from dashboard.client_apps.error_guide import anchor_of
from dashboard.documentation import contents, expansion, rendering

SLUG = "changelog"
_ENTRY = re.compile(r"^## ((\d{4}-\d\d-\d\d): ([^\n]+))\n\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_OWN_LINK = re.compile(r"\]\(/")


@dataclass(frozen=True)
class Change:
    """An entry. `text`: its Markdown; links lead to whole addresses, as a feed is read elsewhere."""

    anchor: str
    day: datetime
    title: str
    text: str


@functools.cache
def changes() -> tuple[Change, ...]:
    """Return the newest changes first, as on the page."""
    found = _ENTRY.findall(expansion.expanded(contents.pages()[SLUG]))
    return tuple(
        Change(
            anchor_of(heading),
            datetime.fromisoformat(day).replace(tzinfo=UTC),
            title,
            _OWN_LINK.sub(f"]({settings.BASE_URL}/", text),
        )
        for heading, day, title, text in found
    )


class ChangesFeed(Feed[Change, None]):
    feed_type = Atom1Feed

    def title(self) -> str:
        return f"{settings.SITE_NAME}: changelog of the API"

    def link(self) -> str:
        return f"{settings.BASE_URL}{contents.pages()[SLUG].path}"

    def feed_url(self) -> str:
        return f"{self.link()}.atom"

    def items(self) -> tuple[Change, ...]:
        return changes()

    def item_title(self, item: Change) -> str:
        return item.title

    def item_description(self, item: Change) -> str:
        return rendering.html_of(item.text)

    def item_link(self, item: Change) -> str:
        return f"{self.link()}#{item.anchor}"

    def item_updateddate(self, item: Change) -> datetime:
        return item.day

    item_pubdate = item_updateddate
