"""The observation of each request: its id, its metrics, its line in the access log, its span.

`config.web.lane` and the first middleware call this once for each request.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from time import perf_counter
from typing import Any

from prometheus_client import Histogram

from config.observability import access_log, tracing
from infrastructure import metrics
from infrastructure.requests import request_context
from infrastructure.requests.request_context import RequestContext

_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")  # W3C Trace Context
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
UNMATCHED, _OTHER = "unmatched", "other"
_GROUP = re.compile(r"\(\?P(<\w+>)(?:[^()\\]|\\.|\([^()]*\))*\)")  # a named group, with groups in it
_CONVERTER = re.compile(r"<\w+:(\w+)>")

REQUESTS = Histogram(
    "hearth_http_request_seconds",
    "Seconds until the answer to a request began.",
    ("route", "method", "status"),
    buckets=(0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
_series = functools.cache(REQUESTS.labels)  # the library takes as long to find one as to count


def begin(meta: Mapping[str, Any]) -> RequestContext:
    """Return the context of a request, with the id that the edge proxy sends in `X-Request-Id` or `traceparent`.

    The id is a new one where they are malformed, and without an edge proxy, since clients may send any.
    `meta`: a WSGI environ, or the META of a request.
    """
    sent = traceparent = ""
    if request_context.has_edge_proxy():
        sent, traceparent = meta.get("HTTP_X_REQUEST_ID", ""), meta.get("HTTP_TRACEPARENT", "")
        trace = _TRACEPARENT.fullmatch(traceparent) if traceparent else None
        traceparent = trace[0] if trace else ""
        if not _ID.fullmatch(sent):
            sent = trace[1] if trace else ""
    context = RequestContext(sent)
    if tracing.is_on():
        tracing.begin(context, traceparent)
    return context


class AnsweredRequest:
    """A request whose answer has begun."""

    __slots__ = ("began_at", "context", "method", "path", "route", "status")

    def __init__(
        self, context: RequestContext, *, route: str, method: str, path: str, status: int, began_at: float
    ) -> None:
        """`began_at`: of `perf_counter`. Metrics count the time from then until now, when the answer begins."""
        self.context, self.route, self.method, self.path = context, route, method, path
        self.status, self.began_at = status, began_at
        if metrics.is_on():
            _count(route, method, status, perf_counter() - began_at)

    def end(self, size: int) -> None:
        """Log and trace it: the whole answer is sent, or the client has disconnected. `size`: bytes of the body."""
        if access_log.is_on():
            seconds = perf_counter() - self.began_at
            line = (self.context, self.method, self.route, self.path, self.status, seconds, size)
            access_log.buffer.note((time.time(), line))
        if self.context.span is not None:
            tracing.end(self.context, self.method, self.route, self.status)


class Counted:
    """The pieces of a streamed answer. They count their bytes, and end the request when they are closed.

    Log lines written during it have the request's id.
    """

    def __init__(self, pieces: Any, request: AnsweredRequest) -> None:
        """`pieces`: an iterator of bytes, asynchronous or not."""
        self._pieces, self._request = pieces, request
        self._size = 0
        self._has_ended = False

    def close(self) -> None:
        """End the request. Idempotent."""
        if not self._has_ended:
            self._has_ended = True
            self._request.end(self._size)

    def _count(self, piece: bytes) -> bytes:
        self._size += len(piece)
        return piece


class CountedIterator(Counted):
    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        token = request_context.current.set(self._request.context)
        try:
            return self._count(next(self._pieces))
        finally:
            request_context.current.reset(token)


class CountedAsyncIterator(Counted):
    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        token = request_context.current.set(self._request.context)
        try:
            return self._count(await anext(self._pieces))
        finally:
            request_context.current.reset(token)


def has_end() -> bool:
    """Return whether the end of an answer is logged or traced."""
    return access_log.is_on() or tracing.is_on()


def _count(route: str, method: str, status: int, seconds: float) -> None:
    _series(route, method if method in _METHODS else _OTHER, status).observe(seconds)


@functools.cache  # there are as many as URLs
def label_of(route: str) -> str:
    """Return a URL pattern as documented: `/api/lookup/presence/<chat_id>`. The pages of the admin are one route."""
    label = "/" + _CONVERTER.sub(r"<\1>", _GROUP.sub(r"\1", route)).replace("^", "").replace("\\Z", "").lstrip("/")
    label = label.rstrip("$").replace("\\", "")
    return "/admin/" if label.startswith("/admin/") else label
