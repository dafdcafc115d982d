"""GET /leaderboard/views, /badges and /uid: the leaderboards for people, as many places as the API shows."""

from __future__ import annotations

from django.core.paginator import InvalidPage, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe

from accounts.http import single_parameter
from infrastructure.requests import content_security
from lookup.documents import sql
from lookup.models import Board
from lookup.page import people, url_policy
from lookup.views.leaderboards import MAX_LIMIT

AT_ONCE = 25  # places of a page
CACHE_SECONDS = 60


@require_safe
def first(request: HttpRequest) -> HttpResponse:
    return redirect("leaderboard_board", Board.VIEWS)


@require_safe
def show(request: HttpRequest, board: str) -> HttpResponse:
    """Show a page of the board. 1 query plus the session's. As in the API, ranks are counted here: users who left the
    board since the ranking leave no gap."""
    if board not in Board.values:
        raise Http404
    shown = Board(board)
    rows = enumerate(sql.read_places(shown, MAX_LIMIT), start=1)
    places = Paginator([people.place(shown, rank, row) for rank, row in rows], AT_ONCE)
    try:
        page = places.page(single_parameter(request.GET, "page", "1") or "")
    except InvalidPage:
        raise Http404 from None
    tabs = [
        {"url": f"/leaderboard/{key}", "text": words.title, "current": "page" if key is shown else ""}
        for key, words in people.BOARDS.items()
    ]
    known = {
        "board": people.BOARDS[shown],
        "key": shown.value,
        "page": page,
        "tabs": tabs,
        "docs": f"leaderboards/{shown}",
    }
    return with_policy(_cached(request, render(request, "lookup/leaderboard.html", known)))


def with_policy(response: HttpResponse) -> HttpResponse:
    """Allow pictures of profiles, where uploads have a host of their own."""
    response.headers[content_security.HEADER] = content_security.header(images=url_policy.media_sources())
    return response


def _cached(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Let caches keep the page of visitors; the page of a signed-in user has their name in its header."""
    patch_vary_headers(response, ["Cookie"])
    if request.user.is_authenticated:
        patch_cache_control(response, private=True, no_cache=True)
    else:
        patch_cache_control(response, public=True, max_age=CACHE_SECONDS)
    return response
