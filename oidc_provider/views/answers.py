"""The answers of the protocol's endpoints: their headers, and the JSON of their bodies.

Each is whole: Django's middleware finds the headers that it would add.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from accounts import api_view, content_security
from accounts.errors import NOTHING
from accounts.hot import Answer, Request
from oidc_provider.errors import ProtocolError

INTERNAL_ERROR = b'{"error": "errors.internal"}'
# Those of every page. Apps may open a sign-in in a popup and hear from it: its endpoints leave the popup its opener.
_HEADERS = {
    "Content-Type": "application/json",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": content_security.header(),
    "Cross-Origin-Opener-Policy": "unsafe-none",
}
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def compact(body: dict[str, Any]) -> bytes:
    """JSON without white space. Any: JSON's values."""
    return _ENCODER.encode(body).encode()


def answer(request: Request, body: bytes, status: int = 200, headers: Mapping[str, str] = NOTHING) -> Answer:
    """`body`, which is JSON or empty, with the headers of every answer."""
    merged = {**_HEADERS, "Content-Length": str(len(body)), **headers}
    if request.is_secure and (transport := api_view.strict_transport_security()):
        merged["Strict-Transport-Security"] = transport
    return Answer(status, merged, b"" if request.method == "HEAD" else body)


def error_answer(request: Request, error: ProtocolError) -> Answer:
    """RFC 6749 §5.2: `{"error", "error_description"}`, with the error's own headers."""
    body = {"error": error.error, "error_description": error.description}
    return answer(request, json.dumps(body).encode(), error.status, error.headers())


def too_many_requests(request: Request, seconds_left: int) -> Answer:
    """Document 1, "Errors"."""
    body = json.dumps({"message": "Too many requests. Please try again later."}).encode()
    return answer(request, body, 429, {"X-Retry-After": str(seconds_left), "Retry-After": str(seconds_left)})
