"""The errors of the presence lookup (docs/spec/lookup.md)."""

from collections.abc import Mapping
from typing import Any

from infrastructure.requests.errors import ApiError


class ChatIdInvalid(ApiError):
    error = "errors.lookupChatIdInvalid"
    cause = "The id in the path is not 17 to 19 digits."
    fix = "Send the id of a chat account, not a uid of this service. The lookup returns it as `user.chatId`."


class ChatIdsInvalid(ApiError):
    error = "errors.lookupChatIdsInvalid"
    cause = "`ids` is missing or repeated, names more than 100 accounts, or holds something else than ids."
    fix = "Send `ids` once, with at most 100 ids of chat accounts between commas."


class StreamTokenInvalid(ApiError):
    status = 401
    error = "Invalid stream token."
    code = "INVALID_STREAM_TOKEN"
    cause = "The stream token is unknown, or older than 60 seconds."
    fix = "Let your server ask for a new one, and connect with it at once."


class OriginNotNamed(ApiError):
    status = 403
    error = "errors.originNotAllowed"
    cause = "A page of another origin than those that the key names opened the stream with a token."
    fix = "Add the origin on the key's page in your dashboard: `https://` and the host, without a path."


class PresenceUnavailable(ApiError):
    """The presence is unknown: the feed is stale, or the platform does not answer."""

    status = 503
    error = "errors.presenceUnavailable"
    cause = "The connection to the chat platform is down, so the presence is unknown."
    fix = "Wait for the seconds of `Retry-After`. Do not show the person as offline."

    def __init__(self, *, retry_after: int = 5) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


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
