"""The index of the pages for programs that read: https://llmstxt.org."""

from __future__ import annotations

from django.conf import settings

from dashboard.documentation import contents


def index() -> str:
    parts = [
        f"# {settings.SITE_NAME}",
        "> Sign-in provider (OAuth 2.1, OpenID Connect), profile lookup, live presence, leaderboards and image host. "
        f"One service, at {settings.BASE_URL}.",
        "Each page is Markdown. The same pages for people have the same addresses without `.md`.",
    ]
    for group, pages in contents.groups():
        lines = [f"- [{page.title}]({settings.BASE_URL}{page.twin_path}): {_filled(page.summary)}" for page in pages]
        parts.append(f"## {group}\n\n" + "\n".join(lines))
    documents = [
        f"- [OpenAPI, JSON]({settings.BASE_URL}/docs/openapi.json): every endpoint under /api/ but the protocol's",
        f"- [OpenAPI, YAML]({settings.BASE_URL}/docs/openapi.yaml): the same",
        f"- [Discovery]({settings.BASE_URL}/.well-known/openid-configuration): the sign-in provider's own document",
    ]
    return "\n\n".join([*parts, "## Machine-readable\n\n" + "\n".join(documents)]) + "\n"


def _filled(summary: str) -> str:
    """A page's first words, with the names that its text leaves open."""
    names = {"site_name": settings.SITE_NAME, "base_url": settings.BASE_URL}
    for name, value in names.items():
        summary = summary.replace(f"{{{{ {name} }}}}", value)
    return summary
