"""Answers the busiest endpoints without Django's handler: one function from a small request value to the bytes.

It answers every method and every host of these paths, refusals included (`config.web.door`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from django.conf import settings
from django.core.handlers.exception import response_for_exception
from django.core.handlers.wsgi import WSGIRequest, get_path_info
from django.http import HttpResponse
from django.urls import URLResolver, get_resolver

from config import views
from config.web import door, request_body
from config.web.door import ObservedRequest
from infrastructure.databases import statements
from infrastructure.requests import request_context
from infrastructure.requests.entity_tags import SMALLEST_COMPRESSED
from infrastructure.requests.request_context import Answer, Request
from infrastructure.settings_cache import from_settings

_PARAMETER = re.compile(r"(.*)/(?:<str:(\w+)>|\(\?P<(\w+)>\[\^/\]\*\)\$)")  # a route whose last part is one


class BusyView(Protocol):
    """A view that is answered here."""

    def respond(self, request: Request, **parameters: str) -> Answer: ...


class BusyRequest:
    """A request that is answered here. `route`: of its URL, as metrics name it."""

    __slots__ = ("_environ", "_observed", "_parameters", "_path", "_request", "_view")

    def __init__(self, endpoint: Endpoint, parameters: dict[str, str], environ: dict[str, Any], path: str) -> None:
        self._view = endpoint.view
        self._path = path
        self._parameters = parameters
        self._environ = environ
        self._observed = ObservedRequest(environ)
        self._observed.route = endpoint.route
        self._request = Request(environ, is_secure=environ["wsgi.url_scheme"] == "https")

    @property
    def is_read(self) -> bool:
        """Whether the answer needs a few reads by key at most, or raises MustWait."""
        return self._environ["REQUEST_METHOD"] != "POST" and getattr(self._view, "is_read", False)

    def answer(self) -> Answer:
        """Return the answer. After MustWait, call it again: the request is counted once."""
        observed = self._observed
        with observed:
            try:
                answer = self._answer()
            finally:
                _let_go()
        answer.headers[request_context.HEADER] = observed.request_id
        observed.answered(route=observed.route, method=self._request.method, path=self._path, status=answer.status)
        observed.end(len(answer.body))
        return answer

    def _answer(self) -> Answer:
        environ = self._environ
        try:
            if (refuse := self._observed.refusal(environ)) is not None:
                return _answer_of(refuse(WSGIRequest(environ)))
            if request_body.HAS_NO_PLACE in environ:
                return _answer_of(views.too_many_uploads(WSGIRequest(environ)))
            answer = self._view.respond(self._request, **self._parameters)
        except Exception as error:  # as Django's handler, which no exception passes
            return _answer_of(response_for_exception(WSGIRequest(environ), error))
        if len(answer.body) >= SMALLEST_COMPRESSED and not door.holds_secret(answer.headers, environ["PATH_INFO"]):
            headers = dict(answer.headers)
            body = door.compressed_json(headers, answer.body, environ.get("HTTP_ACCEPT_ENCODING", ""))
            answer = Answer(answer.status, headers, body)
        return answer._replace(body=b"") if environ["REQUEST_METHOD"] == "HEAD" else answer


def find(environ: dict[str, Any]) -> BusyRequest | None:
    """Return the busy request of a WSGI environ; None where Django has to answer: other paths, the host that only
    serves files, and a document outside /api/ that Django's middleware refuses with a page."""
    path: str = environ.get("PATH_INFO", "")
    if not path.isascii():
        path = get_path_info(environ)
    found = routes().find(path)
    if found is None:
        return None
    if not path.startswith("/api/") and (
        environ["REQUEST_METHOD"].upper() == "TRACE"
        or request_body.HAS_NO_PLACE in environ
        or request_body.is_too_large_for_its_page(environ)
    ):
        return None
    host = door.host_of(environ)
    if host not in door.hosts_of_endpoints() and host in door.served_hosts():
        return None
    return BusyRequest(*found, environ, path)


def answer(environ: dict[str, Any]) -> Answer | None:
    """Return the answer to the request of a WSGI environ; None where Django has to answer."""
    found = find(environ)
    return None if found is None else found.answer()


def _answer_of(response: HttpResponse) -> Answer:
    return Answer(response.status_code, dict(response.headers), response.content)


def _let_go() -> None:
    """Release the thread's connection as Django does after a request."""
    held = statements.thread_connection()
    if held.in_atomic_block:
        return
    if "pool" in held.settings_dict["OPTIONS"]:
        held.close()  # gives it back to the pool
    elif held.errors_occurred:
        held.close_if_unusable_or_obsolete()


class Endpoint(NamedTuple):
    """A view that is answered here. `route`: as metrics name it."""

    view: BusyView
    route: str


class Routes:
    """The endpoints by path, and by all of the path but its last part, which is a parameter then."""

    def __init__(self, urlconf: str) -> None:
        self._exact: dict[str, Endpoint] = {}
        self._by_parent: dict[str, tuple[Endpoint, str, bool]] = {}  # by name, and whether it may be empty
        self._of_django: set[str] = set()  # paths without parameters, which a parameter here would take
        for route, view_class in _endpoints(get_resolver(urlconf)):
            if not hasattr(view_class, "respond"):
                self._of_django.add(route)
                continue
            endpoint = Endpoint(view_class(), door.label_of(route))
            parameter = _PARAMETER.fullmatch(route)
            if parameter:
                self._by_parent[parameter[1]] = endpoint, parameter[2] or parameter[3], parameter[3] is not None
            else:
                self._exact[route] = endpoint

    def __contains__(self, path: str) -> bool:
        return self.find(path) is not None

    def find(self, path: str) -> tuple[Endpoint, dict[str, str]] | None:
        """Return the endpoint of a path and the parameters of the path; None where there is none here."""
        endpoint = self._exact.get(path)
        if endpoint is not None:
            return endpoint, {}
        parent, _, last = path.rpartition("/")
        found = self._by_parent.get(parent)
        if found is None or not (last or found[2]) or path in self._of_django:
            return None
        return found[0], {found[1]: last}


@from_settings
def routes() -> Routes:
    """Return the routes of the service, read once."""
    return _routes(settings.ROOT_URLCONF)


_routes = functools.lru_cache(Routes)  # tests have further URLconfs


def _endpoints(resolver: URLResolver, before: str = "/") -> Iterator[tuple[str, Any]]:
    """Yield every route whose view is a class, with it."""
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern).lstrip("^")
        if isinstance(pattern, URLResolver):
            yield from _endpoints(pattern, route)
        else:
            view_class = getattr(pattern.callback, "view_class", None)
            if view_class is not None:
                yield route, view_class
