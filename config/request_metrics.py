"""Counts and times requests by route, method and status. A route is a pattern of the URLs, never a path."""

from __future__ import annotations

import functools
import re

from accounts import metrics
from accounts.metrics import Histogram

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
UNMATCHED, OTHER = "unmatched", "other"
_GROUP = re.compile(r"\(\?P(<\w+>)(?:[^()\\]|\\.|\([^()]*\))*\)")  # a named group, with groups in it
_CONVERTER = re.compile(r"<\w+:(\w+)>")

REQUESTS = Histogram(
    "hearth_http_request_seconds",
    "Seconds until the answer to a request began.",
    ("route", "method", "status"),
    (0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10),
)


def note(route: str, method: str, status: int, seconds: float) -> None:
    """To be called where `metrics.is_on`. `route`: of `label_of`, or UNMATCHED. `method`: as it was sent."""
    labels = (route, method if method in METHODS else OTHER, str(status))
    metrics.buffer.note((REQUESTS, labels, seconds))


@functools.cache  # there are as many as URLs
def label_of(route: str) -> str:
    """A route as people read it: `/api/lookup/presence/<chat_id>`. The admin's pages are one."""
    label = "/" + _CONVERTER.sub(r"<\1>", _GROUP.sub(r"\1", route)).replace("^", "").replace("\\Z", "").lstrip("/")
    label = label.rstrip("$").replace("\\", "")
    return "/admin/" if label.startswith("/admin/") else label
