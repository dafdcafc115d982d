"""The pages in reading order, and their index for AI tools and scripts (https://llmstxt.org)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

_FOLDER = Path(__file__).parent / "pages"

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Start", ("", "api-keys", "current-and-earlier", "limits", "errors", "changes", "changelog")),
    ("Quickstarts", ("sign-in", "quickstarts/lookup", "quickstarts/presence", "quickstarts/upload")),
    ("Sign-in", ("sign-in/scopes", "sign-in/client-libraries", "sign-in/buttons")),
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
        """Return the first paragraph, in one line."""
        return " ".join(self.source.split("\n\n", 2)[1].split())

    @property
    def path(self) -> str:
        return f"/docs/{self.slug}" if self.slug else "/docs"

    @property
    def twin_path(self) -> str:
        return f"{self.path}.md"


@functools.cache
def pages() -> dict[str, Page]:
    """Return the pages by slug, in order."""
    return {slug: Page(slug, group, _source(slug)) for group, slugs in GROUPS for slug in slugs}


def groups() -> list[tuple[str, list[Page]]]:
    return [(group, [pages()[slug] for slug in slugs]) for group, slugs in GROUPS]


def _source(slug: str) -> str:
    return (_FOLDER / f"{slug or 'start'}.md").read_text(encoding="utf-8")


def llms_txt() -> str:
    parts = [
        f"# {settings.SITE_NAME}",
        "> Sign-in provider (OAuth 2.1, OpenID Connect), profile lookup, live presence, leaderboards and image host. "
        f"One service, at {settings.BASE_URL}.",
        "Each page is Markdown. The same pages for people have the same addresses without `.md`.",
    ]
    for group, pages in groups():
        lines = [f"- [{page.title}]({settings.BASE_URL}{page.twin_path}): {_filled(page.summary)}" for page in pages]
        parts.append(f"## {group}\n\n" + "\n".join(lines))
    documents = [
        f"- [OpenAPI, JSON]({settings.BASE_URL}/docs/openapi.json): every endpoint under /api/ but the protocol's",
        f"- [OpenAPI, YAML]({settings.BASE_URL}/docs/openapi.yaml): the same",
        f"- [Discovery]({settings.BASE_URL}/.well-known/openid-configuration): the sign-in provider's own document",
    ]
    return "\n\n".join([*parts, "## Machine-readable\n\n" + "\n".join(documents)]) + "\n"


def _filled(summary: str) -> str:
    """Return a page's first words with the names that its text leaves open, and whole addresses in its links."""
    names = {"site_name": settings.SITE_NAME, "base_url": settings.BASE_URL}
    for name, value in names.items():
        summary = summary.replace(f"{{{{ {name} }}}}", value)
    return summary.replace("](/", f"]({settings.BASE_URL}/")
