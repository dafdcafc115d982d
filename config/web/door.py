"""What every request passes, in the lane and in Django alike: id, client address, refusals, observation, compression.

observed = door.ObservedRequest(environ)
with observed:
    refuse = observed.refusal()
    ...
observed.answered(route=..., method=..., path=..., status=...)
observed.end(size)

The observation is metrics, a line in the access log and a span.
"""

from __future__ import annotations

import functools
import gzip
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, MutableMapping
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.exception import response_for_exception
from django.http import HttpRequest, HttpResponse, JsonResponse
from prometheus_client import Histogram

from accounts import api_view
from config import views
from config.observability import access_log, tracing
from infrastructure import metrics
from infrastructure.requests import request_context
from infrastructure.requests.entity_tags import OF_GZIP, SMALLEST_COMPRESSED
from infrastructure.requests.errors import Forbidden
from infrastructure.requests.kept_html import accepts_gzip
from infrastructure.requests.request_context import RequestContext
from infrastructure.settings_cache import from_settings

FILES = ("/media/", "/uploads/")  # uploaded ones, whose view answers a NUL byte itself
PRESENCE = "/api/lookup/presence/"  # its documented answer to a bad user id is 400

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

LEVEL = 1  # a quarter of the time of the usual level, and an eighth more bytes
KEPT_LENGTHS = range(2**16, 2**20)  # of bodies, such as leaderboards, that are likely to be sent again
MOST_KEPT = 6

Refusal = Callable[[HttpRequest], HttpResponse]


class ObservedRequest(RequestContext):
    """A request from its arrival to the end of its answer. `meta`: a WSGI environ, or the META of a request.

    As a context manager: it is the context of the request that this thread serves. The id is the one that the edge
    proxy sends in `X-Request-Id` or `traceparent`; a new one where they are malformed, and without an edge proxy, since
    clients may send any. `address` is empty where the edge proxy's header is required and is missing.
    """

    method = path = ""
    status = 0

    def __init__(self, meta: Mapping[str, Any]) -> None:
        self.began_at = perf_counter()
        sent = traceparent = ""
        if request_context.has_edge_proxy():
            sent, traceparent = _sent_ids(meta)
        super().__init__(sent, address=request_context.address_of(meta) or "")
        if tracing.is_on():
            tracing.begin(self, traceparent)

    def __enter__(self) -> None:
        self._token = request_context.current.set(self)

    def __exit__(self, *raised: object) -> None:
        request_context.current.reset(self._token)

    def refusal(self, meta: Mapping[str, Any]) -> Refusal | None:
        """Return the view that refuses the request, in this order: it went around the edge proxy, or names a host that
        is not served, or has a NUL byte in its path, or in the query of a page; None for a request to be answered.

        PostgreSQL can neither store nor look up a NUL byte. Endpoints under /api/ answer one in a query or a body in
        the words of their own documents, by `infrastructure.text_rules.find_unstorable`.
        """
        if not self.address:
            return _forbidden
        host, path = host_of(meta), meta.get("PATH_INFO", "")
        if host not in served_hosts():
            return _bad_host
        refuse: Refusal | None = None
        if "\x00" in path and not path.startswith(PRESENCE):
            refuse = views.not_found
        elif "%00" in meta.get("QUERY_STRING", "") and not path.startswith("/api/"):
            refuse = views.bad_request
        if refuse and (host not in hosts_of_endpoints() or path.startswith(FILES)):
            return None
        return refuse

    def answered(self, *, route: str, method: str, path: str, status: int) -> None:
        """Count the request, whose answer begins now; call `end` once the whole answer is sent."""
        self.route, self.method, self.path, self.status = route, method, path, status
        if metrics.is_on():
            known_method = method if method in _METHODS else _OTHER
            _series(route, known_method, status).observe(perf_counter() - self.began_at)

    def end(self, size: int) -> None:
        """Log and trace it: the whole answer is sent, or the client has disconnected. `size`: bytes of the body."""
        if access_log.is_on():
            seconds = perf_counter() - self.began_at
            access_log.buffer.note(
                (time.time(), (self, self.method, self.route, self.path, self.status, seconds, size))
            )
        if self.span is not None:
            tracing.end(self, self.method, self.route, self.status)


class _Counted:
    """The pieces of a streamed answer. They count their bytes, and end the request when they are closed.

    Log lines written during it have the request's id. `pieces`: an iterator of bytes, asynchronous or not.
    """

    def __init__(self, pieces: Any, request: ObservedRequest) -> None:
        self._pieces, self._request = pieces, request
        self._size = 0
        self._has_ended = False

    def close(self) -> None:
        """End the request. Idempotent."""
        if not self._has_ended:
            self._has_ended = True
            self._request.end(self._size)


class CountedIterator(_Counted):
    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        with self._request:
            piece: bytes = next(self._pieces)
        self._size += len(piece)
        return piece


class CountedAsyncIterator(_Counted):
    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        with self._request:
            piece: bytes = await anext(self._pieces)
        self._size += len(piece)
        return piece


def _sent_ids(meta: Mapping[str, Any]) -> tuple[str, str]:
    """Return the request's id and the `traceparent` that the edge proxy sent; "" for what it did not, or malformed."""
    sent, traceparent = meta.get("HTTP_X_REQUEST_ID", ""), meta.get("HTTP_TRACEPARENT", "")
    if not (sent or traceparent):
        return "", ""
    trace = _TRACEPARENT.fullmatch(traceparent) if traceparent else None
    if not (sent and _ID.fullmatch(sent)):
        sent = trace[1] if trace else ""
    return sent, trace[0] if trace else ""


def host_of(meta: Mapping[str, Any]) -> str:
    """Return the host that a request names, in lower case; without the header that of the server, with its port."""
    host: str | None = meta.get("HTTP_HOST")
    return f"{meta['SERVER_NAME']}:{meta['SERVER_PORT']}".lower() if host is None else host.lower()


@from_settings
def served_hosts() -> frozenset[str]:
    """Return HOSTS, those without a port also with the default port of the scheme.

    ALLOWED_HOSTS of Django does not look at ports.
    """
    return _with_default_port(settings.HOSTS)


@from_settings
def hosts_of_endpoints() -> frozenset[str]:
    """Return the served hosts without the one that only serves files."""
    content, base = urlsplit(settings.IMAGE_CDN_URL).netloc.lower(), urlsplit(settings.BASE_URL).netloc.lower()
    return served_hosts() if content == base else served_hosts() - _with_default_port([content])


def _with_default_port(hosts: list[str]) -> frozenset[str]:
    port = 443 if settings.HTTPS else 80
    return frozenset([*hosts, *(f"{host}:{port}" for host in hosts if urlsplit(f"//{host}").port is None)])


def _forbidden(request: HttpRequest) -> HttpResponse:
    request_context.failed(Forbidden.error)
    return JsonResponse(Forbidden().body(), status=Forbidden.status)


def _bad_host(request: HttpRequest) -> HttpResponse:
    """Return 400, and log the host as Django does."""
    try:
        error = DisallowedHost(f"Invalid HTTP_HOST header: {request.get_host()!r}.")
    except DisallowedHost as found:
        error = found
    return response_for_exception(request, error)


@functools.cache  # there are as many as URLs
def label_of(route: str) -> str:
    """Return a URL pattern as documented: `/api/lookup/presence/<chat_id>`. The pages of the admin are one route."""
    label = "/" + _CONVERTER.sub(r"<\1>", _GROUP.sub(r"\1", route)).replace("^", "").replace("\\Z", "").lstrip("/")
    label = label.rstrip("$").replace("\\", "")
    return "/admin/" if label.startswith("/admin/") else label


# --- Compression, of JSON by gzip ---


def holds_secret(headers: Mapping[str, str], path: str) -> bool:
    """Return whether the compressed length of a response would give a secret away (BREACH).

    `no-store` marks those with a secret, a form's token among them. Under /api/ every answer to a key has it, and none
    that is long enough to be compressed holds a secret; those of the protocol do.
    """
    return "no-store" in headers.get("Cache-Control", "") and not api_view.serves(path)


def compressed_json(headers: MutableMapping[str, str], body: bytes, accept_encoding: str) -> bytes:
    """Return the body to send for a body of JSON, and set the headers that it needs. A strong entity tag that is not of
    the gzip coding becomes a weak one."""
    if len(body) < SMALLEST_COMPRESSED or "Content-Encoding" in headers:
        return body
    vary = headers.get("Vary")
    headers["Vary"] = f"{vary}, Accept-Encoding" if vary else "Accept-Encoding"
    if not accepts_gzip(accept_encoding):
        return body
    compressed = _kept(body) if len(body) in KEPT_LENGTHS else _compressed(body)
    headers["Content-Encoding"], headers["Content-Length"] = "gzip", str(len(compressed))
    if (etag := headers.get("ETag", "")).startswith('"') and not etag.endswith(OF_GZIP):
        headers["ETag"] = f"W/{etag}"
    return compressed


def _compressed(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)


_kept = functools.lru_cache(maxsize=MOST_KEPT)(_compressed)
