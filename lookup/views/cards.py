"""GET /{username}/card.svg: the card of a profile for other sites; and the answers of every card.

A card is the same for everybody: it reads no cookie, counts no view, and caches keep it for a minute. What is not shown
is always one 404: nobody learns whether it is unknown, private, banned or without a card.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from infrastructure.requests import content_security, kept_html
from lookup.errors import ProfilePrivate, UserNotFound
from lookup.page import context, profile_card, svg_card
from lookup.page.context import Elsewhere

CACHING = "public, max-age=60"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # as GitHub's proxy answers it


@csrf_exempt  # no cookie decides anything: a POST is 405
@require_safe
def show(request: HttpRequest, name: str) -> HttpResponse:
    """Show the card. 1 query. An unknown `theme` or `size` is the default: an embedded picture stays a picture."""
    look = svg_card.look_of(request.GET.dict())
    try:
        page = context.find(name, timezone.now(), number=None)
    except (UserNotFound, ProfilePrivate):
        return missing()
    if isinstance(page, Elsewhere):
        return elsewhere("profile_card", page, look)
    return picture(request, profile_card.draw(page, look))


def elsewhere(url_name: str, place: Elsewhere, look: svg_card.Look) -> HttpResponse:
    """Return the redirect from the card of an alias to that of the username."""
    path = reverse(url_name, args=[place.username])
    return _public(HttpResponseRedirect(f"{path}?{look.query}" if look.query else path))


def picture(request: HttpRequest, svg: bytes) -> HttpResponse:
    """Return the answer with a card, or 304."""
    etag = f'"{kept_html.digest(svg)}"'
    response = HttpResponse(svg, content_type="image/svg+xml", headers={"ETag": etag})
    return _public(get_conditional_response(request, etag=etag, response=response) or response)


def missing() -> HttpResponse:
    """Return the one answer for every card that is not shown."""
    return _public(HttpResponse("Not found.\n", content_type="text/plain; charset=utf-8", status=404))


def _public(response: HttpResponse) -> HttpResponse:
    response.headers["Cache-Control"] = CACHING
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers[content_security.HEADER] = POLICY
    return response
