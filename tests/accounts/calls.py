"""Calls of the little API in `api_urls`, and what they answer whole."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

SECRET = "the-secret-of-a-key"
ADDRESS = "203.0.113.7"
ALWAYS = {
    "Content-Type": "application/json",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
}


def call(path: str = "/api/keyed", secret: str | None = SECRET, address: str = ADDRESS) -> Any:
    """The test client's response to a GET; it has no public type."""
    headers = {} if secret is None else {"X-API-Key": secret}
    return Client(REMOTE_ADDR=address).get(path, headers=headers)


def without_budget(headers: Any) -> dict[str, str]:
    """The headers (Any: of a client's response) but those that name what the limits have left: both or neither."""
    fields = dict(headers)
    assert (fields.pop("RateLimit", None) is None) is (fields.pop("RateLimit-Policy", None) is None)
    return fields


def whole(response: Any) -> tuple[int, Any, dict[str, str]]:
    """Status, body and every header; the length and the id of the request are checked and left out, and so is the
    budget, which `test_budget` compares."""
    headers = without_budget(response.headers)
    assert len(headers.pop("X-Request-Id")) == 16
    assert headers.pop("Content-Length") == str(len(response.content))
    return response.status_code, json.loads(response.content), headers
