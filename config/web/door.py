"""What every request passes, in the lane and in Django alike: its id, the client's address, refusals, its observation.

visit = door.Visit(environ)
with visit:
    refuse = visit.refusal()
    ...
answered = visit.answered(route=..., method=..., path=..., status=...)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.exception import response_for_exception
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse

from config import views
from config.observability import observation
from config.observability.observation import AnsweredRequest
from infrastructure.requests import request_context
from infrastructure.requests.errors import Forbidden
from infrastructure.settings_cache import from_settings

FILES = ("/media/", "/uploads/")  # uploaded ones, whose view answers a NUL byte itself
PRESENCE = "/api/lookup/presence/"  # its documented answer to a bad user id is 400

Refusal = Callable[[HttpRequest], HttpResponse]


class Visit:
    """A request from its arrival to its answer. `meta`: a WSGI environ, or the META of a request.

    As a context manager: the id and the address are those of the request that this thread serves.
    """

    __slots__ = ("_meta", "_token", "address", "began_at", "context")

    def __init__(self, meta: Mapping[str, Any]) -> None:
        self._meta = meta
        self.began_at = perf_counter()
        self.context = observation.begin(meta)
        self.address = request_context.address_of(meta)
        self.context.address = self.address or ""

    def __enter__(self) -> None:
        self._token = request_context.current.set(self.context)

    def __exit__(self, *raised: object) -> None:
        request_context.current.reset(self._token)

    def refusal(self) -> Refusal | None:
        """Return the view that refuses the request, in this order: it went around the edge proxy, or names a host that
        is not served, or has a NUL byte; None for a request to be answered."""
        meta = self._meta
        if self.address is None:
            return _forbidden
        host = host_of(meta)
        if host not in served_hosts():
            return _bad_host
        refuse = _refusal_of_nul_byte(meta)
        if refuse and (host not in hosts_of_endpoints() or meta["PATH_INFO"].startswith(FILES)):
            return None
        return refuse

    def answered(self, *, route: str, method: str, path: str, status: int) -> AnsweredRequest:
        """Count the request; call `end` of what this returns once the whole answer is sent."""
        return AnsweredRequest(
            self.context,
            route=route,
            method=method,
            path=path,
            status=status,
            began_at=self.began_at,
        )


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


def failed(environ: dict[str, Any], error: Exception) -> HttpResponse:
    """Return 500, or 503 in an outage, and log `error`, as Django does. Call it while the exception is handled."""
    return response_for_exception(WSGIRequest(environ), error)


def _refusal_of_nul_byte(meta: Mapping[str, Any]) -> Refusal | None:
    """Return the view that refuses a NUL byte in the path, or in the query of a page; None without one.

    PostgreSQL can neither store nor look up such a byte. Endpoints under /api/ answer one in a query or a body in the
    words of their own documents, by `infrastructure.text_rules.find_unstorable`.
    """
    path = meta.get("PATH_INFO", "")
    if "\x00" in path and not path.startswith(PRESENCE):
        return views.not_found
    if "%00" in meta.get("QUERY_STRING", "") and not path.startswith("/api/"):
        return views.bad_request
    return None


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
