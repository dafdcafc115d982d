"""What the endpoints of the protocol share: a limit for each address, an id for each request, errors in JSON, no CORS.

An `Endpoint` is a function from a `hot.Request` to a `hot.Answer`, called by its Django view and, before Django, by
`config.hot_lane`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from accounts import api_view, client_address, content_security, limits, request_context
from accounts.errors import NOTHING
from accounts.hot import Answer, Request
from accounts.limits import LimitsUnavailable
from oidc_provider.applications import clients
from oidc_provider.errors import (
    MethodNotAllowed,
    ProtocolError,
    ServerError,
    SigningUnavailable,
    TemporarilyUnavailable,
)
from oidc_provider.log import request_log
from oidc_provider.log.request_log import Note
from oidc_provider.models import RequestKind

logger = logging.getLogger(__name__)

REQUEST_ID = "X-Request-Id"
FAILURES = (ProtocolError, SigningUnavailable, OperationalError, InterfaceError)


class JsonView(View):
    """Refuses wrong methods, OPTIONS among them: no preflight is answered.

    No cookie decides anything here, so a POST to the wrong endpoint is 405 and not a CSRF failure.
    """

    http_method_names = ["get", "head"]

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Callable[..., HttpResponseBase]:
        return csrf_exempt(super().as_view(**initkwargs))

    def not_allowed(self) -> MethodNotAllowed:
        return MethodNotAllowed(", ".join(name.upper() for name in self.http_method_names))


class Endpoint(JsonView):
    """One URL that programs ask. A handler takes a `hot.Request` and returns an Answer, or raises a ProtocolError."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.respond(Request.of(request)).to_django()

    def respond(self, request: Request) -> Answer:
        """The whole answer."""
        try:
            return self.handled(request)
        except FAILURES as failure:
            return error_answer(request, _protocol_error(failure))

    def handled(self, request: Request) -> Answer:
        """What the handler of the request's method  MethodNotAllowed, and what the handler raises."""
        method = request.method.lower()
        if method not in self.http_method_names:
            raise self.not_allowed()
        handler: Callable[[Request], Answer] = getattr(self, "get" if method == "head" else method)
        return handler(request)

    def failed(self, request: Request) -> Answer:
        """500, where `respond` raised what it should not, with the body that Django's handler gives it."""
        return answer(request, INTERNAL_ERROR, 500)


class LimitedEndpoint(Endpoint):
    """An endpoint under /api/auth/.

    `kind`: what is noted of a request, once it is known which app it is of. `is_answered_uncounted`: also while the
    limit store is away.
    """

    endpoint: ClassVar[str]
    is_answered_uncounted: ClassVar[bool] = False
    kind: ClassVar[RequestKind] = RequestKind.ASKED

    def respond(self, request: Request) -> Answer:
        with request_log.noting(self.kind) as note:
            refusal = over_limit(request, self.endpoint, is_answered_uncounted=self.is_answered_uncounted)
            answer = refusal or self.noted(request, note)
            answer.headers[REQUEST_ID] = note.request_id
            answer.headers.setdefault("Cache-Control", "no-store")
            return answer

    def noted(self, request: Request, note: Note) -> Answer:
        """The answer to a request within its limit."""
        return super().respond(request)


class ProtocolEndpoint(LimitedEndpoint):
    """An endpoint that apps call: no answer is cached, and each error is noted."""

    def respond(self, request: Request) -> Answer:
        answer = super().respond(request)
        answer.headers["Pragma"] = "no-cache"
        return answer

    def noted(self, request: Request, note: Note) -> Answer:
        try:
            return self.handled(request)
        except FAILURES as failure:
            error = _protocol_error(failure)
        note.client_id = note.client_id or clients.claimed_client_id(request)
        note.fails(error.error, error.description)
        return error_answer(request, error)


class LimitedPage(JsonView):
    """A page under /api/auth/, which only Django answers: limited, noted and not cached, as a LimitedEndpoint."""

    endpoint: ClassVar[str]
    kind: ClassVar[RequestKind] = RequestKind.ASKED

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with request_log.noting(self.kind) as note:
            refused = over_limit(Request.of(request), self.endpoint)
            response = refused.to_django() if refused else super().dispatch(request, *args, **kwargs)
            response.headers[REQUEST_ID] = note.request_id
            response.headers.setdefault("Cache-Control", "no-store")
            return response

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return error_answer(Request.of(request), self.not_allowed()).to_django()


def over_limit(request: Request, endpoint: str, *, is_answered_uncounted: bool = False) -> Answer | None:
    """The answer to an address that asks `endpoint` too often, or while requests cannot be counted; else None."""
    try:
        seconds_left = limits.hit(limits.PROTOCOL.of(f"{endpoint}:{client_address.current.get()}"))
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        if is_answered_uncounted:
            return None
        error = TemporarilyUnavailable("The service cannot count requests at the moment. Try again.")
        return error_answer(request, error)
    return too_many_requests(request, seconds_left) if seconds_left else None


def _protocol_error(failure: Exception) -> ProtocolError:
    """What one of FAILURES is answered with."""
    if isinstance(failure, ProtocolError):
        return failure
    if isinstance(failure, SigningUnavailable):
        logger.error("%s", failure)
        return ServerError("The service cannot sign id_tokens at the moment. Try again later.")
    logger.error("The database does not answer.", exc_info=failure)
    return TemporarilyUnavailable("The service cannot reach its database at the moment. Try again.")


def prefers_json(request: HttpRequest) -> bool:
    """A program asks; a browser, or who names no preference, gets a page."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


INTERNAL_ERROR = b'{"error": "errors.internal"}'
# Those of every page. Apps may open a sign-in in a popup and hear from it: its endpoints leave the popup its opener.
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
    """JSON without white space. Any: JSON's values."""
    return _ENCODER.encode(body).encode()


def answer(request: Request, body: bytes, status: int = 200, headers: Mapping[str, str] = NOTHING) -> Answer:
    """`body`, which is JSON or empty, with the headers of every answer."""
    merged = {**_HEADERS, "Content-Length": str(len(body)), **headers}
    if request.is_secure and (transport := api_view.strict_transport_security()):
        merged["Strict-Transport-Security"] = transport
    return Answer(status, merged, b"" if request.method == "HEAD" else body)


def error_answer(request: Request, error: ProtocolError) -> Answer:
    """RFC 6749 §5.2: `{"error", "error_description"}`, with the error's own headers."""
    body = {"error": error.error, "error_description": error.description}
    request_context.failed(error.error)
    return answer(request, json.dumps(body).encode(), error.status, error.headers())


def too_many_requests(request: Request, seconds_left: int) -> Answer:
    """Document 1, "Errors"."""
    body = json.dumps({"message": "Too many requests. Please try again later."}).encode()
    return answer(request, body, 429, {"X-Retry-After": str(seconds_left), "Retry-After": str(seconds_left)})
