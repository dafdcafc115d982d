"""GET /{username}/share and /{username}/qr.svg: the link of a profile, to copy, to send and to scan."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from lookup.page import context, icons
from lookup.page.context import Elsewhere, ProfilePage
from lookup.views.profile_page import refusing, with_caching

QR_CACHING = "public, max-age=3600"  # a profile that goes private keeps its picture for an hour: only the link


@require_safe
@refusing
def share(request: HttpRequest, name: str) -> HttpResponse:
    return with_caching(
        _of_profile(name, "profile_share", lambda page: render(request, "lookup/share.html", {"page": page}))
    )


@require_safe
@refusing
def qr_code(request: HttpRequest, name: str) -> HttpResponse:
    return _of_profile(name, "profile_qr", _picture)


def _of_profile(name: str, view: str, answer: Callable[[ProfilePage], HttpResponse]) -> HttpResponse:
    """Return the answer for the profile that visitors of `name` see. 1 query. Raises as `context.find`."""
    page = context.find(name, timezone.now(), number=None)
    if isinstance(page, Elsewhere):
        return HttpResponseRedirect(reverse(view, args=[page.username]))
    return answer(page)


def _picture(page: ProfilePage) -> HttpResponse:
    response = HttpResponse(icons.qr_code(page.head.canonical), content_type="image/svg+xml")
    response.headers["Cache-Control"] = QR_CACHING
    return response
