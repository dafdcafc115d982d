"""The errors of the presence lookup (docs/spec/lookup.md)."""

from collections.abc import Mapping
from typing import Any

from infrastructure.requests.errors import ApiError


class ChatIdInvalid(ApiError):
    error = "errors.lookupChatIdInvalid"
    cause = "The id in the path is not 17 to 19 digits."
    fix = "Send the id of a chat account, not a uid of this service. The lookup returns it as `user.chatId`."


class PresenceUnavailable(ApiError):
    """The presence is unknown: the feed is stale, or the platform does not answer. `retry_after` in whole seconds."""

    status = 503
    error = "errors.presenceUnavailable"
    cause = "The connection to the chat platform is down, so the presence is unknown."
    fix = "Wait for the seconds of `Retry-After`. Do not show the person as offline."

    def __init__(self, *, retry_after: int = 5) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after

    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


class NotMember(ApiError):
    status = 404
    error = "errors.lookupNotMember"
    extra: Mapping[str, Any] = {"miss": "notMember"}
    cause = "The account exists, and has not joined the service's chat server."
    fix = "Ask the person to join. Only members are visible."


class ChatNotFound(ApiError):
    status = 404
    error = "errors.lookupChatNotFound"
    extra: Mapping[str, Any] = {"miss": "notFound"}
    cause = "No chat account has this id."
    fix = "Check the id."
