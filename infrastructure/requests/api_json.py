"""JSON as every endpoint under /api/ but the protocol's answers it."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse

CONTENT_TYPE = "application/json"
# `value` (what `json` can write) without spaces. ValueError: NaN or an infinity, which JSON has not. `json.dumps` would
# make an encoder for each value.
json_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def json_bytes(value: Any) -> bytes:
    """`json_text` in UTF-8."""
    return utf8(json_text(value))


def utf8(text: str) -> bytes:
    """Half of a surrogate pair, which is no character, becomes a question mark."""
    return text.encode("utf-8", "replace")


def json_response(body: str | bytes, status: int = 200) -> HttpResponse:
    """An answer whose `body` is JSON already."""
    return HttpResponse(body, content_type=CONTENT_TYPE, status=status)
