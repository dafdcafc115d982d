"""The pages in reading order: pages/contents.toml, and the pages of the API reference.

A page below the address of another one of its group is a part of that one: the menu shows it where one of them is open.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils.safestring import SafeString

from dashboard.documentation import reference

_FOLDER = Path(__file__).parent / "pages"

GROUPS: dict[str, list[str]] = tomllib.loads((_FOLDER / "contents.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Page:
    """`slug`: its path below /docs, "" for the start page. `source`: its Markdown, before anything is put in.

    `parent`: the slug of the page that it is a part of.
    """

    slug: str
    group: str
    source: str
    parent: str | None = None

    @property
    def title(self) -> str:
        return self.source.split("\n", 1)[0].removeprefix("# ")

    @property
    def label(self) -> SafeString:
        """Return the title as HTML."""
        return reference.labelled(self.title)

    @property
    def summary(self) -> str:
        """Return the first paragraph, in one line."""
        return " ".join(self.source.split("\n\n", 2)[1].split())

    @property
    def filled_summary(self) -> str:
        """Return the summary with the names that the page leaves open, and whole addresses in its links."""
        named = self.summary.replace("{{ site_name }}", settings.SITE_NAME).replace("{{ base_url }}", settings.BASE_URL)
        return named.replace("](/", f"]({settings.BASE_URL}/")

    @property
    def parts(self) -> list[Page]:
        return [page for page in pages().values() if page.parent == self.slug]

    @property
    def whole(self) -> Page | None:
        """Return the page that it is a part of."""
        return None if self.parent is None else pages()[self.parent]

    @property
    def previous(self) -> Page | None:
        """Return the page before this one in reading order."""
        return _neighbors()[self.slug][0]

    @property
    def next(self) -> Page | None:
        """Return the page after this one in reading order."""
        return _neighbors()[self.slug][1]

    @property
    def path(self) -> str:
        return f"/docs/{self.slug}" if self.slug else "/docs"

    @property
    def twin_path(self) -> str:
        return f"{self.path}.md"


@functools.cache
def pages() -> dict[str, Page]:
    """Return the pages by slug, in order."""
    return {page.slug: page for group in GROUPS for page in _pages_of(group)}


def _pages_of(group: str) -> list[Page]:
    sources = {slug: (_FOLDER / f"{slug or 'start'}.md").read_text("utf-8") for slug in GROUPS[group]}
    if reference.SLUG in sources:
        sources |= reference.sources()
    above = {slug: slug.rpartition("/")[0] or None for slug in sources}
    return [Page(slug, group, text, above[slug] if above[slug] in sources else None) for slug, text in sources.items()]


@functools.cache
def _neighbors() -> dict[str, tuple[Page | None, Page | None]]:
    found = list(pages().values())
    around = zip([None, *found], found, [*found[1:], None], strict=False)
    return {page.slug: (before, after) for before, page, after in around}


def groups() -> list[tuple[str, list[Page]]]:
    return [(group, [page for page in pages().values() if page.group == group]) for group in GROUPS]
