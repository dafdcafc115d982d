"""What the OpenAPI document says of every endpoint under /api/: errors with their words, and where the key goes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework import serializers

from accounts import authentication, rate_limits
from accounts.api_view import ApiView
from accounts.errors import (
    InvalidApiKey,
    KeyDisabled,
    KeyExpired,
    KeyNotFound,
    KeyRateLimited,
    MissingAccountKey,
    MissingApiKey,
    UsageExceeded,
)
from infrastructure.requests.errors import AddressRateLimited, ApiError, Forbidden, Unavailable

_REFUSED_KEYS: tuple[type[ApiError] | ApiError, ...] = (
    *(InvalidApiKey, KeyNotFound, KeyExpired, UsageExceeded, KeyDisabled),
    KeyRateLimited(seconds_left=42),
)
KEY_ERRORS = (MissingApiKey, *_REFUSED_KEYS)
ACCOUNT_KEY_ERRORS = (MissingAccountKey, *_REFUSED_KEYS)
COMMON_ERRORS: tuple[type[ApiError] | ApiError, ...] = (
    Forbidden,
    AddressRateLimited(amount=rate_limits.API_ADDRESS.amount, seconds_left=42, resets_at=1780000000),
    Unavailable,
)

# Where a view's credential is, in the names of config/settings.py.
_HEADER: list[dict[str, list[str]]] = [{"apiKey": []}]
_EARLIER: list[dict[str, list[str]]] = [{"accountKeyQuery": []}, {"accountKeyBearer": []}]

_WORDS = {
    400: "The request cannot be understood.",
    401: "The key is missing, unknown, dead, used up, or lacks the permission.",
    403: "The key is disabled, or the request went around the edge proxy.",
    404: "There is nothing to show.",
    429: "A limit is used up; `Retry-After` says for how many seconds.",
    503: "The service cannot answer at the moment; the same request may be sent again.",
}


class ApiSchema(AutoSchema):
    """Describes an ApiView: its key, from its class attributes."""

    def get_auth(self) -> list[dict[str, list[str]]]:
        view = type(self.view)
        if not issubclass(view, ApiView) or view.permission is None:
            return []
        return _EARLIER if view.credential is authentication.earlier_credential else _HEADER


class ErrorSerializer(serializers.Serializer[Any]):
    """Only errors of keys have a `code`."""

    error = serializers.CharField()
    code = serializers.CharField(required=False)


def error_responses(*errors: type[ApiError] | ApiError) -> dict[int, OpenApiResponse]:
    """Return the answers to `errors`, by status, each error an example."""
    by_status: dict[int, list[OpenApiExample]] = defaultdict(list)
    for given in errors:
        error = given() if isinstance(given, type) else given
        by_status[error.status].append(OpenApiExample(type(error).__name__, value=error.body()))
    return {
        status: OpenApiResponse(ErrorSerializer, description=_WORDS[status], examples=examples)
        for status, examples in sorted(by_status.items())
    }
