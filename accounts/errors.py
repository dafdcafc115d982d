"""The errors of API keys (docs/spec/shared.md)."""

from __future__ import annotations

from infrastructure.requests.errors import WAIT, ApiError


class KeyRefused(ApiError):
    """The key of a request is refused."""

    status = 401


class MissingApiKey(KeyRefused):
    error = "Missing x-api-key header."
    code = "UNAUTHORIZED"
    cause = "The request brings no key."
    fix = "Send the key as the page of the endpoint says."


class MissingAccountKey(MissingApiKey):
    """Of the endpoints that take an account API key."""

    error = "Missing key parameter or Bearer token."


class InvalidApiKey(KeyRefused):
    error = "Invalid API key."
    code = "INVALID_API_KEY"
    cause = "The key is malformed or unknown."
    fix = "Look the key up in your dashboard. Copy it whole, without spaces or line breaks."


class KeyNotFound(KeyRefused):
    error = "API Key not found"
    code = "KEY_NOT_FOUND"
    cause = "The key was revoked, its owner is banned, or it lacks the permission."
    fix = (
        "Look in your dashboard: use a key that is not revoked, and that has the permission which the "
        "endpoint names. You can ask for a permission there."
    )


class KeyDisabled(KeyRefused):
    status = 403
    error = "API Key is disabled"
    code = "KEY_DISABLED"
    cause = "You or staff have disabled the key."
    fix = "Enable it again on its page in your dashboard. If staff disabled it, only they can."


class KeyExpired(KeyRefused):
    error = "API Key has expired"
    code = "KEY_EXPIRED"
    cause = "The key has expired; if it was replaced, its hours of overlap have passed."
    fix = "Use the key that replaced it. Otherwise choose a later expiry on its dashboard page, or create a key."


class UsageExceeded(KeyRefused):
    error = "API Key has reached its usage limit"
    code = "USAGE_EXCEEDED"
    cause = "The key's quota of requests is used up."
    fix = "Wait for the refill that the key's page shows, or use another key."


class KeyRateLimited(KeyRefused):
    status = 429
    error = "Rate limit exceeded."
    code = "RATE_LIMITED"
    cause = "More than {key} requests in a minute with one key; more than {premium_key} where its owner has premium."
    fix = WAIT

    def __init__(self, *, seconds_left: int) -> None:
        super().__init__(seconds_left)
        self.retry_after = seconds_left
