"""Answers the busiest endpoints before Django's handler, by the function that their Django view calls.

Django answers the rest: another host, another method, an address that the edge proxy did not set, a large body.
tests/config/test_hot_lane.py sends requests both ways and compares the answers.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from django.conf import settings
from django.urls import URLResolver, get_resolver

from accounts import client_address, request_context
from accounts.databases import database_connections
from accounts.hot import Answer, Request
from accounts.kept_settings import from_settings
from accounts.request_context import RequestContext
from config.observability import observation
from config.observability.observation import AnsweredRequest
from config.web import compression, hosts, nul_bytes, request_body

METHODS = frozenset({"GET", "HEAD", "POST"})
_PARAMETER = re.compile(r"(.*)/(?:<str:(\w+)>|\(\?P<(\w+)>\[\^/\]\*\)\$)")  # a route whose last part is one
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")  # what a parameter holds that needs no decoding

logger = logging.getLogger("django.request")


class HotView(Protocol):
    """A view that can be answered here."""

    def respond(self, request: Request, **parameters: str) -> Answer: ...

    def failed(self, request: Request) -> Answer:
        """Return 500, where `respond` raised an unexpected exception."""


class Asked(NamedTuple):
    """A request that is answered here. `route`: of its URL, as metrics name it."""

    view: HotView
    request: Request
    parameters: dict[str, str]
    address: str
    route: str
    context: RequestContext

    @property
    def is_read(self) -> bool:
        """Whether the answer needs a few reads by key at most, or raises MustWait."""
        return self.request.method != "POST" and getattr(self.view, "is_read", False)

    def answer(self) -> Answer:
        """Return the answer. After MustWait, call it again: the request is counted once."""
        context, began_at = self.context, perf_counter()
        token = request_context.current.set(context)
        try:
            answer = self._answer()
        finally:
            request_context.current.reset(token)
        answer.headers[request_context.HEADER] = context.request_id
        answered = AnsweredRequest(
            context,
            route=self.route,
            method=self.request.method,
            path=self.request.meta["PATH_INFO"],
            status=answer.status,
            address=self.address,
            began_at=began_at,
        )
        answered.end(len(answer.body))
        return answer

    def _answer(self) -> Answer:
        current = client_address.current.set(self.address)
        try:
            return _compressed(_responded(self.view, self.request, self.parameters), self.request.meta)
        finally:
            client_address.current.reset(current)
            _let_go()


def answer(environ: Mapping[str, Any]) -> Answer | None:
    """Return the answer to the request of a WSGI environ; None where Django has to answer."""
    asked = find(environ)
    return None if asked is None else asked.answer()


def find(environ: Mapping[str, Any]) -> Asked | None:
    """Return the request of a WSGI environ with its view; None where Django has to answer."""
    path = environ.get("PATH_INFO", "")
    found = routes().find(path)
    if found is None or environ["REQUEST_METHOD"] not in METHODS:
        return None
    if environ.get("HTTP_HOST", "").lower() not in hosts.of_endpoints():
        return None
    if not path.startswith("/api/") and ("HTTP_COOKIE" in environ or nul_bytes.refusal(environ)):
        return None  # middleware of pages has a say there
    address = client_address.of(environ)
    if address is None or request_body.is_large(environ):
        return None
    (view, route), parameters = found
    request = Request(environ, is_secure=environ["wsgi.url_scheme"] == "https")
    context = observation.begin(environ)
    context.route = route
    return Asked(view, request, parameters, address, route, context)


def _let_go() -> None:
    """Release the thread's connection as Django does after a request."""
    held = database_connections.of_thread()
    if held.in_atomic_block:
        return
    if "pool" in held.settings_dict["OPTIONS"]:
        held.close()  # gives it back to the pool
    elif held.errors_occurred:
        held.close_if_unusable_or_obsolete()


def _responded(view: HotView, request: Request, parameters: dict[str, str]) -> Answer:
    try:
        return view.respond(request, **parameters)
    except Exception as error:  # as Django's handler, which no exception passes
        logger.error("Internal Server Error: %s", request.meta["PATH_INFO"], exc_info=error)
        return view.failed(request)


def _compressed(answer: Answer, environ: Mapping[str, Any]) -> Answer:
    path = environ.get("PATH_INFO", "")
    if len(answer.body) < compression.SMALLEST_JSON or compression.holds_secret(answer.headers, path):
        return answer
    headers = dict(answer.headers)
    body = compression.json_body(headers, answer.body, environ.get("HTTP_ACCEPT_ENCODING", ""))
    return Answer(answer.status, headers, body)


class Endpoint(NamedTuple):
    """A view that can be answered here. `route`: as metrics name it."""

    view: HotView
    route: str


class Routes:
    """The endpoints by path, and by all of the path but its last part, which is a parameter then."""

    def __init__(self, urlconf: str) -> None:
        self._exact: dict[str, Endpoint] = {}
        self._by_parent: dict[str, tuple[Endpoint, str]] = {}
        for route, view_class in _endpoints(get_resolver(urlconf)):
            endpoint = Endpoint(view_class(), observation.label_of(route))
            parameter = _PARAMETER.fullmatch(route)
            if parameter:
                self._by_parent[parameter[1]] = endpoint, parameter[2] or parameter[3]
            else:
                self._exact[route] = endpoint

    def __contains__(self, path: str) -> bool:
        return self.find(path) is not None

    def find(self, path: str) -> tuple[Endpoint, dict[str, str]] | None:
        """The endpoint of a path and the parameters of the path; None where there is none here."""
        endpoint = self._exact.get(path)
        if endpoint is not None:
            return endpoint, {}
        parent, _, last = path.rpartition("/")
        found = self._by_parent.get(parent)
        if found is None or not _PLAIN.fullmatch(last):
            return None
        return found[0], {found[1]: last}


@from_settings
def routes() -> Routes:
    """Return the routes of the service, read once."""
    return Routes(settings.ROOT_URLCONF)


def _endpoints(resolver: URLResolver, before: str = "/") -> Iterator[tuple[str, Any]]:
    """Yield every route whose view is a HotView, with its class."""
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern).lstrip("^")
        if isinstance(pattern, URLResolver):
            yield from _endpoints(pattern, route)
        else:
            view_class = getattr(pattern.callback, "view_class", None)
            if hasattr(view_class, "respond"):
                yield route, view_class
