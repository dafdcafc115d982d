"""The errors of the presence lookup, in the documents' words."""

from collections.abc import Mapping
from typing import Any

from accounts.errors import ApiError


class ChatIdInvalid(ApiError):
    """The path's segment is not 17 to 19 digits."""

    error = "errors.lookupChatIdInvalid"


class PresenceUnavailable(ApiError):
    """Nobody knows now: the feed is stale, or the platform does not answer. `retry_after` in whole seconds."""

    status = 503
    error = "errors.presenceUnavailable"

    def __init__(self, *, retry_after: int = 5) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after

    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


class NotMember(ApiError):
    """The account exists, and has not joined the chat server."""

    status = 404
    error = "errors.lookupNotMember"
    extra: Mapping[str, Any] = {"miss": "notMember"}


class ChatNotFound(ApiError):
    """No account has this id."""

    status = 404
    error = "errors.lookupChatNotFound"
    extra: Mapping[str, Any] = {"miss": "notFound"}
