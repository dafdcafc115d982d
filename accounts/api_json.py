"""JSON as every endpoint under /api/ but the protocol's answers it."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse

CONTENT_TYPE = "application/json"
# Made once: `json.dumps` makes one for each value.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def json_bytes(value: Any) -> bytes:
    """`value` (what `json` can write) without spaces, in UTF-8. ValueError: NaN or an infinity, which JSON has not.

    Half of a surrogate pair, which is no character, becomes a question mark.
    """
    return _ENCODER.encode(value).encode("utf-8", "replace")


def json_response(body: str | bytes, status: int = 200) -> HttpResponse:
    """An answer whose `body` is JSON already."""
    return HttpResponse(body, content_type=CONTENT_TYPE, status=status)
