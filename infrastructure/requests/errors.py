"""The errors of every endpoint under /api/ but the protocol's (docs/spec/shared.md).

Raise one anywhere below a view; `api_view` answers it. Apps above subclass ApiError for theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

from django.core.exceptions import PermissionDenied, ValidationError

WAIT = "Wait for the seconds of `Retry-After`, and ask less often: a window lasts 60 seconds from its first request."
NOTHING: Mapping[str, Any] = MappingProxyType({})


class ApiError(Exception):
    """Answered with `status` and `{"error"}`, `{"error", "code"}` where there is a code, and the keys of `extra`.

    `extra`: further keys of the body, whose values are JSON. `cause` and `fix`: Markdown for the documentation, which
    puts the amounts of limits in place of `{api}`, `{key}` and `{premium_key}`.
    """

    status = 400
    error = "errors.badRequest"
    code = ""
    extra: Mapping[str, Any] = NOTHING
    retry_after: int | None = None  # seconds, after which the same request may be sent again
    cause = ""
    fix = ""

    def body(self) -> dict[str, Any]:
        """Return the JSON body."""
        code = {"code": self.code} if self.code else {}
        return {"error": self.error, **code, **self.extra}

    def headers(self) -> dict[str, str]:
        """Return the headers besides those of every answer."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}

    def with_status(self, status: int) -> Self:
        """Return the error under another status: the earlier forms answer 404 where the current ones answer 401."""
        changed = type(self).__new__(type(self))
        vars(changed).update(vars(self))
        changed.status = status
        return changed


class Forbidden(ApiError):
    status = 403
    error = "errors.forbidden"
    cause = "The request reached the service without passing its edge proxy."
    fix = "Call the public address of the service, never a server behind it."


class NotFound(ApiError):
    status = 404
    error = "errors.notFound"
    cause = "No endpoint has this path."
    fix = "Compare the path with these pages, slashes too."


class MethodNotAllowed(ApiError):
    """`allowed`: the endpoint's methods."""

    status = 405
    error = "errors.methodNotAllowed"
    cause = "The endpoint exists, with other methods."
    fix = "Use a method that the answer's header `Allow` names."

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(allowed)
        self.allowed = allowed

    def headers(self) -> dict[str, str]:
        return {"Allow": ", ".join(self.allowed)}


class Unavailable(ApiError):
    """Nothing was done; the same request may be sent again."""

    status = 503
    error = "errors.unavailable"
    cause = "A part of the service does not answer. Nothing was done."
    retry_after = 1
    fix = "Send the same request again after `Retry-After`."


class AddressRateLimited(ApiError):
    """More requests from one address than a window allows. `resets_at`: UNIX seconds at which the window ends."""

    status = 429
    error = "errors.rateLimitExceeded"
    cause = "More than {api} requests in a minute from one address, to any paths under `/api/`."
    fix = f"{WAIT} `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` tell the state."

    def __init__(self, *, amount: int, seconds_left: int, resets_at: int) -> None:
        super().__init__(amount, seconds_left, resets_at)
        self.amount = amount
        self.retry_after = seconds_left
        self.resets_at = resets_at

    def headers(self) -> dict[str, str]:
        return {
            **super().headers(),
            "X-RateLimit-Limit": str(self.amount),
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": str(self.resets_at),
        }


def sentences(error: ValidationError | PermissionDenied) -> str:
    """Return the message of an operation's error, for a page."""
    if isinstance(error, ValidationError):
        return " ".join(error.messages)
    return str(error) or "You may not do this."
