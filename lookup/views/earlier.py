"""GET /api/lookup/username/{username} and /api/lookup/uid/{uid}: the earlier form."""

from __future__ import annotations

import json

from django.utils import timezone

from accounts import authentication, hot
from accounts.api_json import json_bytes
from accounts.api_view import HotView
from accounts.errors import ApiError, KeyRefused
from accounts.models import Permission
from lookup import finding, openapi
from lookup.errors import UserNotFound, ValueInvalid
from lookup.rows import UserRow

TOO_MANY_REQUESTS = 429


class EarlierView(HotView):
    """Every refusal of a key is 404 with its own words; a limit stays 429."""

    is_read = True
    permission = Permission.ACCOUNT
    credential = authentication.earlier_credential

    def refusal(self, error: ApiError) -> ApiError:
        is_key_error = isinstance(error, KeyRefused) and error.status != TOO_MANY_REQUESTS
        return error.with_status(404) if is_key_error else error


class UsernameLookup(EarlierView):
    @openapi.username_lookup
    def get(self, request: hot.Request, username: str) -> bytes:
        return answer("username", username)


class UidLookup(EarlierView):
    @openapi.uid_lookup
    def get(self, request: hot.Request, uid: str) -> bytes:
        return answer("uid", uid)


def answer(by: str, value: str) -> bytes:
    """The whole answer. 1 query. Raises UserNotFound, ProfilePrivate: every failure is 404."""
    try:
        user = finding.find(by, value, ["earlier", "aliases"], timezone.now())
    except ValueInvalid:
        raise UserNotFound from None
    earlier, aliases = user.texts
    head = json_bytes(_head(user, json.loads(aliases)))[:-1]
    return b"".join([head, b",", earlier.encode(), b',"viewCount":', str(user.views).encode(), b"}"])


def _head(user: UserRow, aliases: list[dict[str, str | bool | None]]) -> dict[str, object]:
    """What stands before the part that the read model holds. A banned user is not found."""
    return {
        "id": user.id,
        "uid": user.uid,
        "username": user.username,
        "alias": aliases[0] if aliases else {},
        "displayUsername": user.display_name or user.username,
        "banned": False,
        "createdAt": int(user.created_at.timestamp()),
        "chatId": user.chat_id or "",
    }
