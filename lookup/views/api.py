"""The endpoints: GET /api/lookup/user, the earlier lookups, the leaderboards, and the picture of a chat account."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from datetime import datetime
from typing import ClassVar, NamedTuple

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone

from accounts import authentication
from accounts.api_view import ApiView, BusyView
from accounts.errors import KeyRefused
from accounts.models import LinkedAccount, Permission
from infrastructure.databases.statements import BoundStatement, SentAhead
from infrastructure.requests import request_context
from infrastructure.requests.errors import ApiError
from infrastructure.requests.request_context import MAX_PLAIN_PARAMETERS, Prefetch
from lookup import leaderboards, openapi
from lookup.documents import registry, resolve
from lookup.documents.registry import DOCUMENT_COLUMNS
from lookup.documents.resolve import Parts, Prepared, Question
from lookup.errors import LimitInvalid, UserNotFound, ValueInvalid
from lookup.models import Board

LONGEST_KEPT = 500  # characters of a query without its value; all its names and values have 250
DEFAULT_LIMIT, MAX_LIMIT = 10, 100
AVATAR_CACHE_SECONDS = 300
DEFAULT_AVATARS = 6
_LIMIT = re.compile(r"[0-9]{1,3}")


class Asked(NamedTuple):
    """What a lookup asks for. `includes`: in the order of the answer."""

    includes: tuple[str, ...]
    question: Question


class LookupView(BusyView):
    """A lookup of one user, whose row is asked for together with the check of the key."""

    is_read = is_conditional = True

    def asked(self, request: request_context.Request, **parameters: str) -> Asked:
        """Return what the request asks for. Raises what `resolve.prepared`, `Prepared.of` and `Query` raise."""
        raise NotImplementedError

    def prefetch(self, request: request_context.Request, **parameters: str) -> Prefetch | None:
        return SentAhead(lambda: self._first_statement(request, **parameters))

    def _first_statement(self, request: request_context.Request, **parameters: str) -> BoundStatement | None:
        """Read the query, which a request that is not sent ahead does later: a refused one costs its refusal."""
        try:
            asked = request.asked = self.asked(request, **parameters)
        except (ApiError, SuspiciousOperation):  # which the handler raises, once the key is accepted
            return None
        return asked.question.statement, asked.question.values


class UserLookup(LookupView):
    permission = Permission.LOOKUP_USER

    def asked(self, request: request_context.Request, **parameters: str) -> Asked:
        return _asked(request.meta.get("QUERY_STRING", ""))

    @openapi.user_lookup
    def get(self, request: request_context.Request) -> bytes:
        return _answer(request.asked or self.asked(request), request.now)


def answer(query: str, now: datetime) -> bytes:
    """Return the whole answer, from the texts of the read model. 1 query, 2 where it shows not all comments.

    Raises what `resolve.answer` raises, and what `Query` does.
    """
    return _answer(_asked(query), now)


def _answer(asked: Asked, now: datetime) -> bytes:
    return b"{%b}" % resolve.body(resolve.answer_to(asked.question, now), asked.includes)


def _asked(text: str) -> Asked:
    """Read a query. Of a client's queries often nothing but the value differs: what the rest asks for is kept."""
    value, rest = request_context.cut_parameter(text, "value")
    if value is not None and len(rest) <= LONGEST_KEPT and text.count("&") < MAX_PLAIN_PARAMETERS:
        kept = _without_value(rest)
        if kept is not None:
            includes, prepared = kept
            return Asked(includes, prepared.of(value))
    query = request_context.Query(text)
    includes, prepared = _prepared(query)
    return Asked(includes, prepared.of(query.single("value") or ""))


@functools.lru_cache(maxsize=1_000)
def _without_value(rest: str) -> tuple[tuple[str, ...], Prepared] | None:
    """Return what a query without its value asks for; None where it has another value."""
    query = request_context.Query(rest)
    return None if "value" in query else _prepared(query)


def _prepared(query: request_context.Query) -> tuple[tuple[str, ...], Prepared]:
    return prepared(query.single("type") or "", query.names_of("true"))


def prepared(by: str, names: Collection[str]) -> tuple[tuple[str, ...], Prepared]:
    """Return the includes in the order of the answer, and what reads them of any user. `names`: of the switches that
    are on, and others. Raises TypeInvalid."""
    includes = tuple(include for include in registry.INCLUDES if include in names)
    texts = tuple(include for include in includes if include in DOCUMENT_COLUMNS)
    has_counters, has_comments = len(texts) < len(includes), "comments" in includes
    parts = Parts(texts, has_counters, has_comments, resolve.ALIAS_PROFILE in names)
    return includes, resolve.prepared(by, parts)


class EarlierView(BusyView):
    """Every refusal of a key is 404 with its own words; a limit stays 429."""

    is_read = True
    permission = Permission.ACCOUNT
    credential = authentication.earlier_credential

    def refusal(self, error: ApiError) -> ApiError:
        is_key_error = isinstance(error, KeyRefused) and error.status != 429
        return error.with_status(404) if is_key_error else error


class EarlierLookup(EarlierView, LookupView):
    """By the parameter of its path."""

    def asked(self, request: request_context.Request, **parameters: str) -> Asked:
        ((by, value),) = parameters.items()
        return _earlier_asked(by, value)

    def handle(self, request: request_context.Request, **parameters: str) -> bytes:
        return _earlier_answer(request.asked or self.asked(request, **parameters))


class UsernameLookup(EarlierLookup):
    @openapi.username_lookup
    def get(self, request: request_context.Request, username: str) -> bytes:
        return self.handle(request, username=username)


class UidLookup(EarlierLookup):
    @openapi.uid_lookup
    def get(self, request: request_context.Request, uid: str) -> bytes:
        return self.handle(request, uid=uid)


def earlier_answer(by: str, value: str) -> bytes:
    """Return the whole answer. 1 query. Raises UserNotFound, ProfilePrivate: every failure is 404."""
    return _earlier_answer(_earlier_asked(by, value))


def _earlier_asked(by: str, value: str) -> Asked:
    try:
        return Asked((), resolve.prepared(by, resolve.EARLIER).of(value))
    except ValueInvalid:
        raise UserNotFound from None


def _earlier_answer(asked: Asked) -> bytes:
    user = resolve.answer_to(asked.question, timezone.now())
    return b"%b%d}" % (user.head or b"", user.views)


class Leaderboard(EarlierView):
    is_conditional = True
    board: ClassVar[Board]

    def get(self, request: request_context.Request) -> bytes:
        return leaderboards.answer(self.board, _limit(request.query.single("limit", str(DEFAULT_LIMIT))))


@openapi.board("views", "profile views")
class ViewsLeaderboard(Leaderboard):
    board = Board.VIEWS


@openapi.board("badges", "number of enabled badges")
class BadgesLeaderboard(Leaderboard):
    board = Board.BADGES


@openapi.board("uid", "uid")
class UidLeaderboard(Leaderboard):
    board = Board.UID


def _limit(value: str | None) -> int:
    if value is None or not _LIMIT.fullmatch(value) or not 1 <= int(value) <= MAX_LIMIT:
        raise LimitInvalid
    return int(value)


class ChatAvatar(ApiView):
    """Redirects; needs no key."""

    @openapi.chat_avatar
    def get(self, request: HttpRequest, user_id: str) -> HttpResponse:
        response = HttpResponseRedirect(chat_avatar(user_id))
        response.headers["Cache-Control"] = f"public, max-age={AVATAR_CACHE_SECONDS}"
        return response


def chat_avatar(user_id: str) -> str:
    """Return the picture that the linked chat account last had, or the platform's default one for it.

    Raises UserNotFound: the user does not exist, is banned, has no linked chat account, or has turned public API access
    off without mirroring the picture. 1 query.
    """
    is_shown = Q(user__public_api_access=True) | Q(user__profile_documents__mirrors_chat=True)
    found = LinkedAccount.objects.filter(is_shown, user=user_id, kind=LinkedAccount.Kind.CHAT, user__is_active=True)
    row = next(iter(found.values_list("external_id", "avatar_url")[:1]), None)  # equal for every profile
    if row is None:
        raise UserNotFound
    external_id, avatar_url = row
    number = (int(external_id) >> 22) % DEFAULT_AVATARS if external_id.isdecimal() else 0
    return avatar_url or f"{settings.CHAT_CDN_URL}/embed/avatars/{number}.png"
