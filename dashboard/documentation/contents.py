"""Which pages there are, in the order in which they are read."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "pages"

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Start", ("", "api-keys", "current-and-earlier", "limits", "errors", "changes")),
    ("Sign-in", ("sign-in", "sign-in/scopes", "sign-in/client-libraries")),
    (
        "Sign-in endpoints",
        (
            *("sign-in/discovery", "sign-in/authorize", "sign-in/token", "sign-in/userinfo", "sign-in/revoke"),
            *("sign-in/introspect", "sign-in/jwks", "sign-in/end-session"),
        ),
    ),
    (
        "Lookup",
        (
            *("lookup/user", "lookup/settings", "lookup/presence", "lookup/presence-events", "lookup/chat-avatar"),
            *("lookup/username", "lookup/uid"),
        ),
    ),
    ("Leaderboards", ("leaderboards/views", "leaderboards/badges", "leaderboards/uid", "leaderboards/entry")),
    (
        "Image host",
        (
            *("imagehost/upload", "imagehost/earlier-upload", "imagehost/uploaders", "imagehost/gallery"),
            *("imagehost/folders", "imagehost/create-folder", "imagehost/folder", "imagehost/change-folder"),
            "imagehost/delete-folder",
        ),
    ),
    ("Reference", ("reference",)),
)


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
        """The first paragraph, in one line."""
        return " ".join(self.source.split("\n\n", 2)[1].split())

    @property
    def path(self) -> str:
        return f"/docs/{self.slug}" if self.slug else "/docs"

    @property
    def twin_path(self) -> str:
        return f"{self.path}.md"


@functools.cache
def pages() -> dict[str, Page]:
    """By slug, in order."""
    return {slug: Page(slug, group, _source(slug)) for group, slugs in GROUPS for slug in slugs}


def groups() -> list[tuple[str, list[Page]]]:
    return [(group, [pages()[slug] for slug in slugs]) for group, slugs in GROUPS]


def _source(slug: str) -> str:
    return (_FOLDER / f"{slug or 'start'}.md").read_text(encoding="utf-8")
