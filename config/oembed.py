"""GET /oembed: the provider of oEmbed (https://oembed.com) for the public pages of all apps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404, resolve
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from imagehost.pages import oembed as files
from lookup.page import oembed
from lookup.page.oembed import Json, Room

MAX_LENGTH = 2000  # characters of an address
# By the name of a page's URL: what answers for it, given its only parameter. None: visitors see no such page.
ANSWERS: dict[str, Callable[[str, Room, datetime], Json | None]] = {
    "profile_page": oembed.of_profile,
    "file_page": files.of_file,
    "album_page": files.of_album,
    "folder_page": files.of_folder,
}


@csrf_exempt  # no cookie decides anything: a POST is 405
@require_safe
def provide(request: HttpRequest) -> HttpResponse:
    """Answer for the page in `url`. 404 for any other address, also of a page that is not public."""
    asked = request.GET
    if asked.get("format", "json") != "json":
        return _answer({"error": "Only the format json is offered."}, status=501)
    try:
        room = Room(*oembed.size_of([asked.get("maxwidth", ""), asked.get("maxheight", "")]))
    except ValueError:
        return _answer({"error": "maxwidth and maxheight are whole numbers of pixels, from 1."}, status=400)
    found = _find(asked.get("url", ""), room)
    if found is None:
        return _answer({"error": "This address shows nothing that can be embedded."}, status=404)
    return _answer(found)


def _find(url: str, room: Room) -> Json | None:
    """Return the answer for a whole address of ours, or None."""
    if len(url) > MAX_LENGTH or not url.startswith(f"{settings.BASE_URL}/"):
        return None
    try:
        path = unquote(urlsplit(url).path)
        if "\0" in path:  # as the door refuses it in the address of a request: no text of PostgreSQL holds it
            return None
        match = resolve(path, urlconf=settings.ROOT_URLCONF)
    except (ValueError, Resolver404):
        return None
    of_page = ANSWERS.get(match.url_name or "")
    if of_page is None:
        return None
    (name,) = match.kwargs.values()
    return of_page(name, room, timezone.now())


def _answer(body: Json, status: int = 200) -> HttpResponse:
    """Return a response that caches and pages of any site may use: it says the same to everybody."""
    response = JsonResponse(body, status=status)
    response.headers["Cache-Control"] = f"public, max-age={oembed.CACHE_SECONDS}"
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    return response
