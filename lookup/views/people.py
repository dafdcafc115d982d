"""The pages that list people: GET /leaderboard/views, /badges and /uid, with as many places as the API shows; GET
/search?q=, by how a name begins."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from django.core.paginator import InvalidPage, Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe

from accounts import rate_limits
from accounts.http import single_parameter
from infrastructure import limits, text_rules
from infrastructure.limits import LimitsUnavailable
from infrastructure.requests import content_security, kept_html, request_context
from lookup import leaderboards
from lookup.leaderboards import PlaceRow
from lookup.models import Board
from lookup.page import url_policy
from lookup.page.people import BOARDS, Person, person, place
from lookup.people import Match, find
from lookup.views.api import MAX_LIMIT

AT_ONCE = 25  # places of a page
CACHE_SECONDS = 60
SHORTEST, LONGEST, MOST = 2, 32, 20
# A character of a script without spaces between its words, which is a name or its first word by itself: of Thai, Lao,
# Tibetan, Burmese, Khmer, Kana, Bopomofo, Chinese, Yi and Hangul.
_WORD = re.compile(
    "[\u0e01-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u312f\u31a0-\u31ff\u3400-\u9fff\ua000-\ua4cf\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Result:
    """`note`: the name that was found, where the row does not show it."""

    person: Person
    note: str


class Refused(Exception):
    """The search is not run. The message is for the page."""

    def __init__(self, sentence: str, status: int = 400, seconds_left: int = 0) -> None:
        super().__init__(sentence)
        self.status, self.seconds_left = status, seconds_left


@require_safe
def first_board(request: HttpRequest) -> HttpResponse:
    return redirect("leaderboard_board", Board.VIEWS)


@require_safe
def show_board(request: HttpRequest, board: str) -> HttpResponse:
    """Show a page of the board. 1 query plus the session's. As in the API, ranks are counted here: users who left the
    board since the ranking leave no gap."""
    if board not in Board.values:
        raise Http404
    shown = Board(board)
    places = Paginator([*enumerate(leaderboards.places(shown, MAX_LIMIT), start=1)], AT_ONCE)
    try:
        page = places.page(single_parameter(request.GET, "page", "1") or "")
    except InvalidPage:
        raise Http404 from None
    if request.GET.keys() <= {"page"}:
        key = kept_html.digest("leaderboard", shown, page.number, places.num_pages, page.object_list)
        response = kept_html.answer(request, key, lambda: _board(request, shown, page))
    else:  # the links to other pages repeat the whole query
        response = _board(request, shown, page)
    _with_policy(response)
    patch_vary_headers(response, ["Cookie"])
    if request.user.is_authenticated:  # their name is in the header of the page
        patch_cache_control(response, private=True, no_cache=True)
    else:
        patch_cache_control(response, public=True, max_age=CACHE_SECONDS)
    return response


def _board(request: HttpRequest, board: Board, page: Page[tuple[int, PlaceRow]]) -> HttpResponse:
    """Render a page of the board from its ranks and rows."""
    tabs = [
        {"url": f"/leaderboard/{key}", "text": words.title, "current": "page" if key is board else ""}
        for key, words in BOARDS.items()
    ]
    places = [place(board, rank, row) for rank, row in page.object_list]
    known = {"board": BOARDS[board], "key": board.value, "page": page, "places": places, "tabs": tabs}
    return render(request, "lookup/leaderboard.html", {**known, "docs": f"leaderboards/{board}"})


def _with_policy(response: HttpResponse) -> HttpResponse:
    """Allow pictures of profiles, where uploads have a host of their own."""
    response.headers[content_security.HEADER] = content_security.header(images=url_policy.media_sources())
    return response


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show the form and the results for `q`, if given. 1 query plus the session's."""
    typed = single_parameter(request.GET, "q")
    known: dict[str, object] = {"query": (typed or "")[: 2 * LONGEST].replace("\0", ""), "longest": LONGEST}
    status, seconds_left = 200, 0
    if typed is None or typed.strip():
        try:
            term = _term(typed)
            _count()
            matches, has_more = find(term, MOST)
            known |= {"term": term, "results": [_result(match) for match in matches], "has_more": has_more}
        except Refused as refused:
            known["problem"] = str(refused)
            status, seconds_left = refused.status, refused.seconds_left
    response = _with_policy(render(request, "lookup/search.html", known, status=status))
    response.headers["Cache-Control"] = "private, no-cache"
    if seconds_left:
        response.headers["Retry-After"] = str(seconds_left)
    return response


def _term(typed: str | None) -> str:
    """Return the text to search for. Raises Refused where no name can begin so."""
    if typed is None:
        raise Refused("Search for one name at a time.")
    term = typed.strip().removeprefix("@")
    if text_rules.problem_of_line(term) or text_rules.find_unstorable(term):
        raise Refused("Remove the control characters from the name.")
    folded = text_rules.folded(term[: LONGEST + 1])
    if len(term) > LONGEST or (len(folded) < SHORTEST and not _WORD.fullmatch(folded)):
        raise Refused(f"Type {SHORTEST} to {LONGEST} characters of the name.")
    return term


def _result(match: Match) -> Result:
    found = person(match.person, match.page)
    shown = {text_rules.folded(one) for one in (found.name, found.display_name, match.person.username)}
    return Result(found, "" if text_rules.folded(match.found) in shown else match.found)


def _count() -> None:
    try:
        seconds_left = limits.hit(rate_limits.SEARCHES.of(request_context.address()))
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        raise Refused("The search does not work at the moment. Try again in a minute.", 503) from None
    if seconds_left:
        sentence = f"Limit reached: {rate_limits.SEARCHES.amount} searches a minute. Try again in {seconds_left} s."
        raise Refused(sentence, 429, seconds_left)
