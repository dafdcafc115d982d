"""GET /api/lookup/user: the current form."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime

from accounts.api_view import BusyView
from accounts.models import Permission
from infrastructure.requests import request_context
from infrastructure.requests.api_json import utf8
from lookup import openapi
from lookup.documents import registry, resolve, sql
from lookup.documents.registry import DOCUMENT_COLUMNS
from lookup.documents.resolve import AnswerRow, Parts
from lookup.serializers.current import FeedbackSerializer, comments_json

_KEYS = {include: f',"{include}":'.encode() for include in registry.INCLUDES}
ALIAS_PROFILE = "showAliasProfile"
_FEEDBACK = FeedbackSerializer()


class UserLookup(BusyView):
    is_read = True
    permission = Permission.LOOKUP_USER

    @openapi.user_lookup
    def get(self, request: request_context.Request) -> bytes:
        return answer(request.query, request.now)


def answer(query: request_context.Query, now: datetime) -> bytes:
    """Return the whole answer, from the texts of the read model. 1 query, 2 where it shows not all comments.

    Raises what `resolve.answer` raises.
    """
    includes, asked = _asked(query.names_of("true"))
    user = resolve.answer(query.single("type") or "", query.single("value") or "", asked, now)
    parts, texts = [b'{"error":null,"user":', user.head or b""], user.texts
    for include in includes:
        parts += (_KEYS[include], texts[include] if include in texts else _LIVE[include](user))
    parts.append(b"}")
    return b"".join(parts)


@functools.lru_cache(maxsize=1_000)
def _asked(names: tuple[str, ...]) -> tuple[tuple[str, ...], Parts]:
    """Return the includes in the order of the answer, and what they take. `names`: of the parameters that are true."""
    includes = tuple(include for include in registry.INCLUDES if include in names)
    texts = tuple(include for include in includes if include in DOCUMENT_COLUMNS)
    has_counters, has_comments = len(texts) < len(includes), "comments" in includes
    return includes, Parts(texts, has_counters, has_comments, ALIAS_PROFILE in names)


def _comments(user: AnswerRow) -> bytes:
    """Return the total of the comments and the first ones."""
    many = user.comments > sql.MAX_COMMENTS
    found = sql.read_comments(user.user_id) if many else sql.comments_of(user.shown_comments)
    return comments_json(user.comments, found)


# What no document holds: it changes without the owner, or, as the aliases, belongs to all profiles of a user.
_LIVE: dict[str, Callable[[AnswerRow], bytes]] = {
    "aliases": lambda user: user.aliases,
    "views": lambda user: b"%d" % user.views,
    "feedback": lambda user: utf8(_FEEDBACK.to_json(user)),
    "comments": _comments,
}
