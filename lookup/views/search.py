"""GET /search?q=: people by how their name begins."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts import rate_limits
from accounts.http import single_parameter
from infrastructure import limits, text_rules
from infrastructure.limits import LimitsUnavailable
from infrastructure.requests import request_context
from lookup import name_search
from lookup.name_search import Match
from lookup.page import people
from lookup.page.people import Person
from lookup.views.leaderboard_page import with_policy

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
def show(request: HttpRequest) -> HttpResponse:
    """Show the form and the results for `q`, if given. 1 query plus the session's."""
    typed = single_parameter(request.GET, "q")
    known: dict[str, object] = {"query": (typed or "")[: 2 * LONGEST].replace("\0", ""), "longest": LONGEST}
    status, seconds_left = 200, 0
    if typed is None or typed.strip():
        try:
            known |= _found(_term(typed))
        except Refused as refused:
            known["problem"] = str(refused)
            status, seconds_left = refused.status, refused.seconds_left
    response = with_policy(render(request, "lookup/search.html", known, status=status))
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


def _found(term: str) -> dict[str, object]:
    _count()
    matches, has_more = name_search.find(term, MOST)
    return {"term": term, "results": [_result(match) for match in matches], "has_more": has_more}


def _result(match: Match) -> Result:
    person = people.person(match.person, match.page)
    shown = {text_rules.folded(one) for one in (person.name, person.display_name, match.person.username)}
    return Result(person, "" if text_rules.folded(match.found) in shown else match.found)


def _count() -> None:
    try:
        seconds_left = limits.hit(rate_limits.SEARCHES.of(request_context.address()))
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        raise Refused("The search does not work at the moment. Try again in a minute.", 503) from None
    if seconds_left:
        sentence = f"Limit reached: {rate_limits.SEARCHES.amount} searches a minute. Try again in {seconds_left} s."
        raise Refused(sentence, 429, seconds_left)
