"""Public pages about the service: the operator's terms and privacy policy, status, and what programs ask every site."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.html import escape, linebreaks
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt

from config import version
from config.env import Document
from config.operations import readiness
from dashboard.documentation import contents

CACHE_SECONDS = 300  # a cache may keep pages that do not depend on the user
SECURITY_DAYS = 90  # how long a copy of security.txt is true; RFC 9116 §2.5.5 asks for less than a year
STATUS_SECONDS = 10  # how long a process shows one state
# Paths with forms, signed-in pages and answers for programs. Profiles, files and documentation may be found.
ROBOTS = "User-agent: *\n" + "".join(
    f"Disallow: {path}\n"
    for path in ("/accounts/", "/admin/", "/api/", "/consent/", "/dashboard/", "/docs/search", "/search?")
)
# What people know the parts of `/readyz` as. Each of them needs the parts of EVERYTHING.
EVERYTHING = frozenset({"database", "migrations", "static_files"})
SERVICES = {
    "Sign-in": {"signing_key", "cache"},
    "Profiles and API": {"cache"},
    "Image host": {"files", "incoming"},
    "Live presence": {"presence"},
    "Background work": {"jobs"},
}


@dataclass(frozen=True)
class Service:
    name: str
    is_working: bool


@dataclass(frozen=True)
class Status:
    """`checked_at`: when the parts were asked."""

    services: list[Service]
    checked_at: datetime

    @property
    def is_working(self) -> bool:
        return all(service.is_working for service in self.services)


@require_safe
def terms(request: HttpRequest) -> HttpResponse:
    return _published(request, settings.TERMS, "Terms of service", "terms of service")


@require_safe
def privacy(request: HttpRequest) -> HttpResponse:
    return _published(request, settings.PRIVACY, "Privacy policy", "a privacy policy")


def _published(request: HttpRequest, document: Document, title: str, what: str) -> HttpResponse:
    """Show the operator's text, redirect to the operator's page, or answer 404 saying that there is none."""
    if document.url:
        return redirect(document.url)
    context = {"title": title, "what": what, "text": text_of(document)}
    response = render(request, "legal.html", context, status=200 if document.text else 404)
    return _cached(response)


def text_of(document: Document) -> SafeString:
    """Return the document's HTML. Markdown cannot hold HTML, pictures or a heading of the first level."""
    if not document.is_markdown:
        return SafeString(linebreaks(document.text, autoescape=True) if document.text else "")
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(document.text)
    if tokens and tokens[0].tag == "h1":  # the page has a title of its own
        tokens = tokens[3:]
    for token in tokens:
        if token.tag == "h1":
            token.tag = "h2"
        if token.type == "bullet_list_open":
            token.attrJoin("class", "bullets")
        if token.type == "table_open":
            token.attrJoin("class", "table")
    return SafeString(parser.renderer.render(tokens, parser.options, {}))


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Show what works, without session, user or database: any of them may be what does not."""
    response = render(request, "status.html", {"status": current_status(), "version": version()})
    response.headers["Cache-Control"] = "no-store"
    return response


_kept: tuple[float, Status] | None = None


def current_status() -> Status:
    """Ask the parts at most every STATUS_SECONDS in this process."""
    global _kept  # noqa: PLW0603 - one value for the threads of the process; the last write wins
    kept, now = _kept, time.monotonic()
    if kept is None or now - kept[0] > STATUS_SECONDS:
        failing = {name for name, part in readiness.parts().items() if part.state != "ok"}
        offered = {name: parts for name, parts in SERVICES.items() if "presence" not in parts or settings.CHAT.guild_id}
        services = [Service(name, not failing & (parts | EVERYTHING)) for name, parts in offered.items()]
        _kept = kept = (now, Status(services, timezone.now()))
    return kept[1]


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    text = f"{ROBOTS}Sitemap: {settings.BASE_URL}/sitemap.xml\n"
    return _cached(HttpResponse(text, content_type="text/plain; charset=utf-8"))


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """Return the pages that search engines may show (https://www.sitemaps.org); profiles are found by their links."""
    own = [path for path, document in (("/terms", settings.TERMS), ("/privacy", settings.PRIVACY)) if document.text]
    paths = ["/", "/leaderboard", *own, *(page.path for page in contents.pages().values())]
    entries = "".join(f"<url><loc>{escape(settings.BASE_URL + path)}</loc></url>\n" for path in paths)
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return _cached(HttpResponse(declaration + text, content_type="application/xml; charset=utf-8"))


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Return where to report a vulnerability (RFC 9116), or 404 where the operator has set no contact."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    contact = settings.SECURITY_CONTACT if ":" in settings.SECURITY_CONTACT else f"mailto:{settings.SECURITY_CONTACT}"
    expires = (timezone.now() + timedelta(days=SECURITY_DAYS)).strftime("%Y-%m-%dT00:00:00Z")
    lines = {
        "Contact": contact,
        "Expires": expires,
        "Preferred-Languages": settings.LANGUAGE_CODE,
        "Canonical": f"{settings.BASE_URL}/.well-known/security.txt",
    }
    text = "".join(f"{name}: {value}\n" for name, value in lines.items())
    return _cached(HttpResponse(text, content_type="text/plain; charset=utf-8"))


@require_safe
def change_password(request: HttpRequest) -> HttpResponse:
    """Send password managers to the form (W3C, A Well-Known URL for Changing Passwords)."""
    return redirect("account_change_password")


def _cached(response: HttpResponse) -> HttpResponse:
    response.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
    return response
