"""The errors of every endpoint under /api/ but the protocol's, with the words of documents 2 and 3.

Raise one anywhere below a view; `api_view` answers it. Rooms above subclass ApiError for their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

from django.core.exceptions import PermissionDenied, ValidationError

NOTHING: Mapping[str, Any] = MappingProxyType({})


class ApiError(Exception):
    """Answered with `status` and `{"error"}`, `{"error", "code"}` where there is a code, and the keys of `extra`.

    `extra`: further keys of the body, whose values are JSON.
    """

    status = 400
    error = "errors.badRequest"
    code = ""
    extra: Mapping[str, Any] = NOTHING

    def body(self) -> dict[str, Any]:
        """What the caller reads, whatever it is in JSON."""
        code = {"code": self.code} if self.code else {}
        return {"error": self.error, **code, **self.extra}

    def headers(self) -> dict[str, str]:
        """What the answer's head says beside the headers that every answer has."""
        return {}

    def with_status(self, status: int) -> Self:
        """The same words under another status: the earlier forms answer 404 where the current ones answer 401."""
        changed = type(self).__new__(type(self))
        vars(changed).update(vars(self))
        changed.status = status
        return changed


class Forbidden(ApiError):
    """The request went around the edge proxy."""

    status = 403
    error = "errors.forbidden"


class NotFound(ApiError):
    status = 404
    error = "errors.notFound"


class MethodNotAllowed(ApiError):
    """`allowed`: the endpoint's methods."""

    status = 405
    error = "errors.methodNotAllowed"

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(allowed)
        self.allowed = allowed

    def headers(self) -> dict[str, str]:
        return {"Allow": ", ".join(self.allowed)}


class Unavailable(ApiError):
    """Nothing was done; the same request may be sent again."""

    status = 503
    error = "errors.unavailable"

    def headers(self) -> dict[str, str]:
        return {"Retry-After": "1"}


class AddressRateLimited(ApiError):
    """More requests from one address than a window allows. `resets_at`: UNIX seconds at which the window ends."""

    status = 429
    error = "errors.rateLimitExceeded"

    def __init__(self, *, amount: int, seconds_left: int, resets_at: int) -> None:
        super().__init__(amount, seconds_left, resets_at)
        self.amount = amount
        self.seconds_left = seconds_left
        self.resets_at = resets_at

    def headers(self) -> dict[str, str]:
        return {
            "Retry-After": str(self.seconds_left),
            "X-RateLimit-Limit": str(self.amount),
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": str(self.resets_at),
        }


class KeyRefused(ApiError):
    """What is wrong with the key of a request."""

    status = 401


class MissingApiKey(KeyRefused):
    error = "Missing x-api-key header."
    code = "UNAUTHORIZED"


class MissingAccountKey(MissingApiKey):
    """Of the endpoints that take an account API key."""

    error = "Missing key parameter or Bearer token."


class InvalidApiKey(KeyRefused):
    """Malformed, or nobody's."""

    error = "Invalid API key."
    code = "INVALID_API_KEY"


class KeyNotFound(KeyRefused):
    """Revoked, its owner banned, or without the permission that the endpoint asks for."""

    error = "API Key not found"
    code = "KEY_NOT_FOUND"


class KeyDisabled(KeyRefused):
    status = 403
    error = "API Key is disabled"
    code = "KEY_DISABLED"


class KeyExpired(KeyRefused):
    error = "API Key has expired"
    code = "KEY_EXPIRED"


class UsageExceeded(KeyRefused):
    error = "API Key has reached its usage limit"
    code = "USAGE_EXCEEDED"


class KeyRateLimited(KeyRefused):
    """More requests with one key than a window allows."""

    status = 429
    error = "Rate limit exceeded."
    code = "RATE_LIMITED"

    def __init__(self, *, seconds_left: int) -> None:
        super().__init__(seconds_left)
        self.seconds_left = seconds_left

    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.seconds_left)}


def sentences(error: ValidationError | PermissionDenied) -> str:
    """Return the message of an operation's error, for a page."""
    if isinstance(error, ValidationError):
        return " ".join(error.messages)
    return str(error) or "You may not do this."
