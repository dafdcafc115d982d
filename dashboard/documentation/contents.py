"""The pages in reading order: pages/contents.toml."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

_FOLDER = Path(__file__).parent / "pages"

GROUPS: dict[str, list[str]] = tomllib.loads((_FOLDER / "contents.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Page:
    """`slug`: its path below /docs, "" for the start page. `source`: its Markdown, before anything is put in."""

    slug: str
    group: str
    source: str

    @property
    def title(self) -> str:
        return self.source.split("\n", 1)[0].removeprefix("# ")

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
    def path(self) -> str:
        return f"/docs/{self.slug}" if self.slug else "/docs"

    @property
    def twin_path(self) -> str:
        return f"{self.path}.md"


@functools.cache
def pages() -> dict[str, Page]:
    """Return the pages by slug, in order."""
    texts = {
        slug: (_FOLDER / f"{slug or 'start'}.md").read_text("utf-8") for slugs in GROUPS.values() for slug in slugs
    }
    return {slug: Page(slug, group, texts[slug]) for group, slugs in GROUPS.items() for slug in slugs}


def groups() -> list[tuple[str, list[Page]]]:
    return [(group, [pages()[slug] for slug in slugs]) for group, slugs in GROUPS.items()]
