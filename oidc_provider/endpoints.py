"""The protocol's endpoints and pages: a limit for each address, request ids, errors in JSON, no CORS."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from accounts import api_view, rate_limits
from infrastructure import limits
from infrastructure.limits import LimitsUnavailable
from infrastructure.requests import content_security, request_context
from infrastructure.requests.errors import NOTHING
from infrastructure.requests.request_context import Answer, Request
from oidc_provider import client_requests, request_log
from oidc_provider.errors import (
    MethodNotAllowed,
    ProtocolError,
    ServerError,
    SigningUnavailable,
    TemporarilyUnavailable,
)
from oidc_provider.models import RequestKind
from oidc_provider.request_log import Note

logger = logging.getLogger(__name__)

REQUEST_ID = "X-Request-Id"
RETRY_HEADERS = frozenset({"Retry-After", "X-Retry-After"})
TOO_MANY_REQUESTS = 429


class _UncheckedView(View):
    """A view without a check of CSRF: it reads no cookie."""

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Callable[..., HttpResponseBase]:
        return csrf_exempt(super().as_view(**initkwargs))


class Endpoint(_UncheckedView):
    """An endpoint for programs: a handler for each method takes a `Request`, and returns an Answer or raises a
    ProtocolError. `config.web.lane` calls `respond`. OPTIONS is 405, so preflights fail.

    `endpoint`: its name in the limits. `kind`: in the log of requests. `is_for_apps`: no cache keeps answers; errors
    are logged for the app that the request claims. `is_answered_uncounted`: also while the limit store does not answer.
    """

    http_method_names = ["get", "head"]
    endpoint: ClassVar[str]
    kind: ClassVar[RequestKind] = RequestKind.ASKED
    is_for_apps: ClassVar[bool] = True
    is_answered_uncounted: ClassVar[bool] = False

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer where Django's own handler serves, without the lane."""
        return self.respond(Request.of(request)).to_django()

    def respond(self, request: Request) -> Answer:
        """Return the answer, also for errors: limit, handler, log, headers."""
        with request_log.Noting(self.kind) as note:
            answer = over_limit(request, self.endpoint, is_answered_uncounted=self.is_answered_uncounted)
            if answer is None:
                answer = self.handled(request, note if self.is_for_apps else None)
            answer.headers[REQUEST_ID] = note.request_id
            answer.headers.setdefault("Cache-Control", "no-store")
            if self.is_for_apps:
                answer.headers["Pragma"] = "no-cache"
            return answer

    def handled(self, request: Request, note: Note | None = None) -> Answer:
        """Return the answer of the handler of the request's method, or that to its error, which `note` then has."""
        method = request.method.lower()
        try:
            if method not in self.http_method_names:
                raise MethodNotAllowed(self.http_method_names)
            handler: Callable[[Request], Answer] = getattr(self, "get" if method == "head" else method)
            return handler(request)
        except ProtocolError as raised:
            error = raised
        except SigningUnavailable as unavailable:
            logger.error("%s", unavailable)
            error = ServerError("The service cannot sign id_tokens at the moment. Try again later.")
        except (OperationalError, InterfaceError):
            logger.exception("The database does not answer.")
            error = TemporarilyUnavailable("The service cannot reach its database at the moment. Try again.")
        if note is not None:
            note.client_id = note.client_id or client_requests.claimed_client_id(request)
            note.fails(error.error, error.description)
        return error_answer(request, error)


class LimitedPage(_UncheckedView):
    """A page under /api/auth/, answered by Django: limited, logged and not cached, as an Endpoint.

    Apps send people here from pages of their own, by POST too, so there is no CSRF check. OPTIONS is 405.
    """

    endpoint: ClassVar[str]
    kind: ClassVar[RequestKind] = RequestKind.ASKED

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with request_log.Noting(self.kind) as note:
            refused = over_limit(Request.of(request), self.endpoint)
            response = _refusal(request, refused) if refused else super().dispatch(request, *args, **kwargs)
            response.headers[REQUEST_ID] = note.request_id
            response.headers.setdefault("Cache-Control", "no-store")
            return response

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return error_answer(Request.of(request), MethodNotAllowed(self.http_method_names)).to_django()


def _refusal(request: HttpRequest, refused: Answer) -> HttpResponse:
    """Return `refused`, as a page for a client that names text/html before JSON. Reads no session."""
    if request.get_preferred_type(["application/json", "text/html"]) != "text/html":
        return refused.to_django()
    seconds = refused.headers.get("Retry-After", "")
    context = {"is_over_limit": refused.status == TOO_MANY_REQUESTS, "seconds": seconds, "status": refused.status}
    page = render(request, "oidc_provider/refused.html", context, status=refused.status)
    for name in RETRY_HEADERS & refused.headers.keys():
        page.headers[name] = refused.headers[name]
    return page


def over_limit(request: Request, endpoint: str, *, is_answered_uncounted: bool = False) -> Answer | None:
    """Return the answer for an address over its limit, or while requests cannot be counted; else None."""
    try:
        seconds_left = limits.hit(rate_limits.PROTOCOL.of(f"{endpoint}:{request_context.address()}"))
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        if is_answered_uncounted:
            return None
        error = TemporarilyUnavailable("The service cannot count requests at the moment. Try again.")
        return error_answer(request, error)
    if not seconds_left:
        return None
    body = b'{"message": "Too many requests. Please try again later."}'
    seconds = str(seconds_left)
    return answer(request, body, TOO_MANY_REQUESTS, {"X-Retry-After": seconds, "Retry-After": seconds})


def prefers_json(request: HttpRequest) -> bool:
    """Whether the client prefers JSON; without a preference it gets a page."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


# As on pages, except that a popup keeps its opener: apps may open a sign-in in a popup.
_HEADERS = {
    "Content-Type": "application/json",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": content_security.header(),
    "Cross-Origin-Opener-Policy": "unsafe-none",
}
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def compact(body: dict[str, Any]) -> bytes:
    """Encode JSON without white space."""
    return _ENCODER.encode(body).encode()


def answer(request: Request, body: bytes, status: int = 200, headers: Mapping[str, str] = NOTHING) -> Answer:
    """Return `body` (JSON or empty) with the headers of every answer."""
    merged = {**_HEADERS, "Content-Length": str(len(body)), **headers}
    if request.is_secure and (transport := api_view.strict_transport_security()):
        merged["Strict-Transport-Security"] = transport
    return Answer(status, merged, b"" if request.method == "HEAD" else body)


def error_answer(request: Request, error: ProtocolError) -> Answer:
    """Return `{"error", "error_description"}` (RFC 6749 §5.2) with the error's own headers."""
    body = {"error": error.error, "error_description": error.description}
    request_context.failed(error.error)
    return answer(request, json.dumps(body).encode(), error.status, error.headers())
