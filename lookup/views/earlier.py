"""GET /api/lookup/username/{username} and /api/lookup/uid/{uid}: the earlier form."""

from __future__ import annotations

from django.utils import timezone

from accounts import authentication
from accounts.api_view import BusyView
from accounts.errors import KeyRefused
from accounts.models import Permission
from infrastructure.requests import request_context
from infrastructure.requests.errors import ApiError
from lookup import openapi
from lookup.documents import resolve
from lookup.errors import UserNotFound, ValueInvalid

TOO_MANY_REQUESTS = 429


class EarlierView(BusyView):
    """Every refusal of a key is 404 with its own words; a limit stays 429."""

    is_read = True
    permission = Permission.ACCOUNT
    credential = authentication.earlier_credential

    def refusal(self, error: ApiError) -> ApiError:
        is_key_error = isinstance(error, KeyRefused) and error.status != TOO_MANY_REQUESTS
        return error.with_status(404) if is_key_error else error


class UsernameLookup(EarlierView):
    @openapi.username_lookup
    def get(self, request: request_context.Request, username: str) -> bytes:
        return answer("username", username)


class UidLookup(EarlierView):
    @openapi.uid_lookup
    def get(self, request: request_context.Request, uid: str) -> bytes:
        return answer("uid", uid)


def answer(by: str, value: str) -> bytes:
    """Return the whole answer. 1 query. Raises UserNotFound, ProfilePrivate: every failure is 404."""
    try:
        user = resolve.answer(by, value, resolve.EARLIER, timezone.now())
    except ValueInvalid:
        raise UserNotFound from None
    return b"%b%d}" % (user.head or b"", user.views)
