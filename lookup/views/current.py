"""GET /api/lookup/user: the current form."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpResponse, QueryDict
from django.utils import timezone

from accounts import http
from accounts.api_json import json_bytes, json_response
from accounts.api_view import ApiRequest, ApiView
from accounts.models import Permission
from lookup import finding, openapi, rows
from lookup.rows import DOCUMENT_COLUMNS, UserRow
from lookup.serializers.current import CommentSerializer, FeedbackSerializer, UserSerializer

_COLUMNS = {**DOCUMENT_COLUMNS, "aliases": "aliases"}
_USER, _COMMENT, _FEEDBACK = UserSerializer(), CommentSerializer(), FeedbackSerializer()


class UserLookup(ApiView):
    permission = Permission.LOOKUP_USER

    @openapi.user_lookup
    def get(self, request: ApiRequest) -> HttpResponse:
        return json_response(answer(request.GET, timezone.now()))


def answer(query: QueryDict, now: datetime) -> bytes:
    """The whole answer, put together from the texts of the read model. 1 query, 2 with comments.

    Raises what `finding.find` raises.
    """
    asked = [include for include in openapi.INCLUDES if http.single_parameter(query, include) == "true"]
    columns = [_COLUMNS[include] for include in asked if include in _COLUMNS]
    user = finding.find(
        http.single_parameter(query, "type") or "",
        http.single_parameter(query, "value") or "",
        columns,
        now,
        is_alias_profile=http.single_parameter(query, "showAliasProfile") == "true",
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
