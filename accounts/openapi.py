"""What the OpenAPI document says of every endpoint under /api/: errors with their words, and where the key goes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
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
    413: "The body is too large.",
    429: "A limit is used up; `Retry-After` says for how many seconds.",
    503: "The service cannot answer at the moment; the same request may be sent again.",
}


# Of every answer to a request that was counted: docs/spec/shared.md, "Budget". Named where a client looks at them.
_COUNTED = [200, 201, 302, 304, 429]
_BUDGET = [
    OpenApiParameter(
        "RateLimit-Policy",
        {"type": "string", "example": '"key";q=30;w=60, "address";q=60;w=60'},
        OpenApiParameter.HEADER,
        description="How many requests (`q`) a window of `w` seconds takes, of the accepted key and of the address.",
        response=_COUNTED,
    ),
    OpenApiParameter(
        "RateLimit",
        {"type": "string", "example": '"key";r=29;t=41, "address";r=57;t=41'},
        OpenApiParameter.HEADER,
        description="How many requests are left (`r`) for the `t` seconds until the window ends.",
        response=_COUNTED,
    ),
]
_CONDITION = [
    OpenApiParameter(
        "If-None-Match", str, OpenApiParameter.HEADER, description="The `ETag` of an answer that the client still has."
    ),
    OpenApiParameter(
        "ETag",
        {"type": "string", "example": '"9f86d081884c7d659a2feaa0c55ad015"'},
        OpenApiParameter.HEADER,
        description="It changes if and only if the body changes, and is the same for every key.",
        response=[200, 304],
    ),
]
NOT_MODIFIED = {304: OpenApiResponse(description="The body is that of the `If-None-Match`. It counts as a request.")}


class ApiSchema(AutoSchema):
    """Describes an ApiView: its key, from its class attributes, and the headers that its answers share."""

    def get_override_parameters(self) -> list[Any]:
        """Any: parameters, as the library types them."""
        is_conditional = getattr(self.view, "is_conditional", False) and self.method == "GET"
        return [*super().get_override_parameters(), *_BUDGET, *(_CONDITION if is_conditional else ())]

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
