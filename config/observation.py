"""What is told of each request to the outside: its id, its metrics, its line in the access log, its span.

`config.hot_lane` and the first middleware call this, so every request is told of once, and alike.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from time import perf_counter
from typing import Any

from accounts import client_address, metrics, request_context
from accounts.request_context import RequestContext
from config import access_log, request_metrics, tracing

_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")  # W3C Trace Context


def begin(meta: Mapping[str, Any]) -> RequestContext:
    """The context of a request. Its id is the edge proxy's, of `X-Request-Id` or of `traceparent`, where one is well
    formed, else a new one: what clients send without an edge proxy is not believed.

    `meta`: a WSGI environ, or the META of a request. Any: WSGI's values.
    """
    sent = traceparent = ""
    if client_address.has_edge_proxy():
        sent, traceparent = meta.get("HTTP_X_REQUEST_ID", ""), meta.get("HTTP_TRACEPARENT", "")
        trace = _TRACEPARENT.fullmatch(traceparent) if traceparent else None
        traceparent = trace[0] if trace else ""
        if not _ID.fullmatch(sent):
            sent = trace[1] if trace else ""
    context = RequestContext(sent)
    if tracing.is_on():
        tracing.begin(context, traceparent)
    return context


class Told:
    """A request that has been answered, and what is told of it at its end."""

    __slots__ = ("address", "began_at", "context", "method", "path", "route", "status")

    def __init__(
        self, context: RequestContext, *, route: str, method: str, path: str, status: int, address: str, began_at: float
    ) -> None:
        """`began_at`: as `perf_counter` said it. The answer begins now, as metrics count it."""
        self.context, self.route, self.method, self.path = context, route, method, path
        self.status, self.address, self.began_at = status, address, began_at
        if metrics.is_on():
            request_metrics.note(route, method, status, perf_counter() - began_at)

    def end(self, size: int) -> None:
        """The whole answer is out, or its client is gone. `size`: bytes of the body."""
        if access_log.is_on():
            seconds = perf_counter() - self.began_at
            line = (self.context, self.method, self.route, self.path, self.status, seconds, size, self.address)
            access_log.note(line)
        if self.context.span is not None:
            tracing.end(self.context, self.method, self.route, self.status)


class Counted:
    """The pieces of a streamed answer, which count their bytes and tell of the request when they are closed.

    Log lines on the way have the request's id.
    """

    def __init__(self, pieces: Any, told: Told) -> None:
        """`pieces`: an iterator of bytes, asynchronous or not, hence Any."""
        self._pieces, self._told = pieces, told
        self._size = 0
        self._has_ended = False

    def close(self) -> None:
        """May be called again."""
        if not self._has_ended:
            self._has_ended = True
            self._told.end(self._size)

    def _count(self, piece: bytes) -> bytes:
        self._size += len(piece)
        return piece


class CountedIterator(Counted):
    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        token = request_context.current.set(self._told.context)
        try:
            return self._count(next(self._pieces))
        finally:
            request_context.current.reset(token)


class CountedAsyncIterator(Counted):
    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        token = request_context.current.set(self._told.context)
        try:
            return self._count(await anext(self._pieces))
        finally:
            request_context.current.reset(token)


def has_end() -> bool:
    """Whether anything is told at the end of an answer."""
    return access_log.is_on() or tracing.is_on()
