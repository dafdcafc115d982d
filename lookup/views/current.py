"""GET /api/lookup/user: the current form."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from accounts import hot
from accounts.api_json import json_bytes
from accounts.api_view import HotView
from accounts.models import Permission
from lookup import finding, openapi, rows
from lookup.rows import DOCUMENT_COLUMNS, UserRow
from lookup.serializers.current import CommentSerializer, FeedbackSerializer, UserSerializer

_COLUMNS = {**DOCUMENT_COLUMNS, "aliases": "aliases"}
_USER, _COMMENT, _FEEDBACK = UserSerializer(), CommentSerializer(), FeedbackSerializer()


class UserLookup(HotView):
    is_read = True
    permission = Permission.LOOKUP_USER

    @openapi.user_lookup
    def get(self, request: hot.Request) -> bytes:
        return answer(request.query, timezone.now())


def answer(query: hot.Query, now: datetime) -> bytes:
    """The whole answer, put together from the texts of the read model. 1 query, 2 with comments.

    Raises what `finding.find` raises.
    """
    asked = [include for include in openapi.INCLUDES if query.single(include) == "true"]
    columns = [_COLUMNS[include] for include in asked if include in _COLUMNS]
    user = finding.find(
        query.single("type") or "",
        query.single("value") or "",
        columns,
        now,
        is_alias_profile=query.single("showAliasProfile") == "true",
    )
    texts = iter(user.texts)
    parts = [b'{"error":null,"user":', json_bytes(_USER.to_representation(user))]
    for include in asked:
        text = next(texts).encode() if include in _COLUMNS else _live(include, user)
        parts += [b',"', include.encode(), b'":', text]
    parts.append(b"}")
    return b"".join(parts)


def _live(include: str, user: UserRow) -> bytes:
    """What changes without the owner."""
    if include == "views":
        return str(user.views).encode()
    if include == "feedback":
        return json_bytes(_FEEDBACK.to_representation(user))
    items = [_COMMENT.to_representation(row) for row in rows.read_comments(user.id)]
    return json_bytes({"count": user.comments, "items": items})
