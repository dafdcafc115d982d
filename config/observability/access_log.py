"""One line of JSON for each request, where ACCESS_LOG is on.

A request appends a tuple to a list; a thread makes lines of them and writes them, within half a second, and at the end
of the process. A process that is killed loses that half second.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

from django.conf import settings

from config.observability import redaction
from config.observability.logs import timestamp
from infrastructure.requests import request_context
from infrastructure.requests.request_context import RequestContext
from infrastructure.settings_cache import from_settings
from infrastructure.write_behind import WriteBehindBuffer

INTERVAL = 0.5  # seconds
MOST_LINES = 100_000  # in memory
AT_ONCE = 4_000  # bytes: what a pipe takes as one piece (PIPE_BUF), so that lines of several processes do not mix
LONGEST_PATH, LONGEST_NAME = 1_000, 64  # characters

# Context, method, route, path, status, seconds, bytes.
Line = tuple[RequestContext, str, str, str, int, float, int]
_encode = json.JSONEncoder(separators=(",", ":")).encode

logger = logging.getLogger("access")


@from_settings
def is_on() -> bool:
    return bool(settings.ACCESS_LOG)


def write(noted: list[tuple[float, Line]]) -> None:
    """Write the lines, several in one log record."""
    for text in _joined(_text(ended_at, line) for ended_at, line in noted):
        logger.info("%s", text)


def _joined(texts: Iterator[str]) -> Iterator[str]:
    lines: list[str] = []
    size = 0
    for text in texts:
        if lines and size + len(text) > AT_ONCE:
            yield "\n".join(lines)
            lines, size = [], 0
        lines.append(text)
        size += len(text) + 1
    if lines:
        yield "\n".join(lines)


def _text(ended_at: float, line: Line) -> str:
    context, method, route, path, status, seconds, size = line
    entry: dict[str, Any] = {
        "time": timestamp(ended_at),
        "level": "INFO",
        "logger": "access",
        "method": method[:16],
        "route": route,
        "path": redaction.redacted_path(path[:LONGEST_PATH]),
        "status": status,
        "ms": round(seconds * 1000, 2),
        "bytes": size,
        "client": request_context.network_of(context.address),
        "request_id": context.request_id,
    }
    if context.key_id is not None:
        entry["key_id"] = context.key_id
    for name, value in (("client_id", context.client_id), ("user_id", context.user_id), ("error", context.error)):
        if value:
            entry[name] = redaction.redacted_path(value[:LONGEST_NAME])
    return _encode(entry)


buffer: WriteBehindBuffer[tuple[float, Line]] = WriteBehindBuffer(
    "access-log", write, limit=MOST_LINES, interval=INTERVAL
)
