"""What the endpoints of the protocol share: limits, JSON errors, no caching, no CORS."""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections.abc import Callable
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from accounts import client_address, limits
from accounts.limits import Limit, LimitsUnavailable
from oidc_provider import clients, parameters, request_log
from oidc_provider.clients import Credentials
from oidc_provider.errors import (
    InsufficientScope,
    InvalidClient,
    InvalidRequest,
    InvalidToken,
    MethodNotAllowed,
    MissingToken,
    ProtocolError,
    ServerError,
    TemporarilyUnavailable,
)
from oidc_provider.models import RequestKind
from oidc_provider.parameters import Parameters
from oidc_provider.request_log import Note
from oidc_provider.signing import SigningUnavailable

logger = logging.getLogger(__name__)

FORM = "application/x-www-form-urlencoded"
MAX_BODY = 65_536  # bytes
REQUEST_ID = "X-Request-Id"
_CLAIM = re.compile(r"client_id[\"'\s=:]+([0-9a-f]{32})\b")
_NOTHING = Parameters({}, frozenset(), is_malformed=False)


class JsonView(View):
    """Answers wrong methods in JSON, OPTIONS among them: no preflight is answered."""

    http_method_names = ["get", "head"]

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Callable[..., HttpResponseBase]:
        """No cookie decides anything here, so a POST to the wrong endpoint is 405 and not a CSRF failure."""
        return csrf_exempt(super().as_view(**initkwargs))

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        allowed = ", ".join(name.upper() for name in self.http_method_names if hasattr(self, name))
        response = error_response(MethodNotAllowed(f"Use {allowed}."))
        response.headers["Allow"] = allowed
        return response


class LimitedView(JsonView):
    """One endpoint under /api/auth/: a limit for each address, an id for each request, and by default no caching.

    `kind`: what is noted of a request, once it is known which app it is of.
    """

    endpoint: ClassVar[str]
    kind: ClassVar[RequestKind] = RequestKind.ASKED

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with request_log.noting(self.kind) as note:
            response = self.limited() or self.respond(request, note, *args, **kwargs)
            response.headers[REQUEST_ID] = note.request_id
            response.headers.setdefault("Cache-Control", "no-store")
            return response

    def respond(self, request: HttpRequest, note: Note, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return super().dispatch(request, *args, **kwargs)

    def limited(self) -> HttpResponse | None:
        """The answer to an address that asks too often; None for the others."""
        limit = Limit(f"{self.endpoint}:{client_address.current.get()}", settings.PROTOCOL_RATE_LIMIT)
        try:
            outcomes = limits.hit(limit)
        except LimitsUnavailable:
            logger.exception("The limit store does not answer.")
            return unavailable()
        for outcome in outcomes:
            if not outcome.is_allowed:
                return too_many_requests(outcome.seconds_left)
        return None


class ProtocolView(LimitedView):
    """An endpoint that apps call: raised errors become `{"error", "error_description"}`; nothing is cached."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = super().dispatch(request, *args, **kwargs)
        response.headers["Pragma"] = "no-cache"
        return response

    def respond(self, request: HttpRequest, note: Note, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().respond(request, note, *args, **kwargs)
        except ProtocolError as raised:
            error = raised
        except SigningUnavailable as unavailable:
            logger.error("%s", unavailable)
            error = ServerError("The service cannot sign id_tokens at the moment. Try again later.")
        note.client_id = note.client_id or claimed_client_id(request)
        note.fails(error.error, error.description)
        return error_response(error)


def credentials_of(request: HttpRequest, form: Parameters) -> Credentials:
    """`clients.credentials_of`, noted as what the request is about."""
    credentials = clients.credentials_of(request, form)
    request_log.about(client_id=clients.lookup_id(credentials.client_id))
    return credentials


def claimed_client_id(request: HttpRequest) -> str:
    """The app that a request names, however broken it is; for the log alone. Empty: none can be found."""
    with contextlib.suppress(ProtocolError):
        in_header = clients.lookup_id(clients.credentials_of(request, _NOTHING).client_id)
        if in_header:
            return in_header
    text = request.META.get("QUERY_STRING", "")
    with contextlib.suppress(RequestDataTooBig, UnreadablePostError):
        text += "\n" + request.body[:4096].decode("latin-1")
    found = _CLAIM.search(text)
    return found[1] if found else ""


def form_of(request: HttpRequest) -> Parameters:
    """The body's parameters. InvalidRequest: another type, too long, a broken or repeated one, a query string."""
    form = parsed_body(request)
    if request.META.get("QUERY_STRING"):
        raise InvalidRequest("Send the parameters in the body, none in the query string.")
    if form.is_malformed:
        raise InvalidRequest("The body cannot be decoded.")
    if form.repeated:
        raise InvalidRequest(f"The body repeats {form.repeated_names()}.")
    return form


def parsed_body(request: HttpRequest) -> Parameters:
    """What the body holds. InvalidRequest: it has another type, is too long, or does not come whole."""
    if request.content_type != FORM:
        raise InvalidRequest(f"Send the parameters as {FORM}.")
    try:
        return parameters.parse(_body_of(request).decode())
    except (ValueError, OSError):  # no UTF-8, no number as its length, a lost connection
        raise InvalidRequest("The body cannot be read.") from None


def _body_of(request: HttpRequest) -> bytes:
    """At most MAX_BODY bytes, with an announced length or in chunks, which Django reads as an empty body."""
    length = request.META.get("CONTENT_LENGTH")
    is_chunked = "HTTP_TRANSFER_ENCODING" in request.META and not length
    stream = request.META["wsgi.input"] if is_chunked else request
    body = b""
    try:
        while len(body) <= MAX_BODY and (piece := stream.read(MAX_BODY + 1 - len(body))):
            body += piece
    finally:
        request._body = body  # what `request.body` answers from now on
    if len(body) > MAX_BODY:
        raise InvalidRequest(f"The body is longer than {MAX_BODY} bytes.")
    if len(body) < int(length or 0):
        raise InvalidRequest("The body ends before its announced length.")
    return body


def error_response(error: ProtocolError) -> HttpResponse:
    """RFC 6749 §5.2; the challenges of RFC 7617 and RFC 6750 §3."""
    response = JsonResponse({"error": error.error, "error_description": error.description}, status=error.status)
    if isinstance(error, InvalidClient):
        response.headers["WWW-Authenticate"] = 'Basic realm="apps", charset="UTF-8"'
    elif isinstance(error, MissingToken):
        response.headers["WWW-Authenticate"] = "Bearer"
    elif isinstance(error, (InvalidToken, InsufficientScope)):
        scope = ', scope="openid"' if isinstance(error, InsufficientScope) else ""
        response.headers["WWW-Authenticate"] = (
            f'Bearer error="{error.error}", error_description="{error.description}"{scope}'
        )
    return response


def json_response(body: dict[str, Any]) -> HttpResponse:
    return HttpResponse(json.dumps(body, separators=(",", ":")), content_type="application/json")


def too_many_requests(seconds_left: int) -> HttpResponse:
    """Document 1, "Errors"."""
    response = JsonResponse({"message": "Too many requests. Please try again later."}, status=429)
    response.headers["X-Retry-After"] = response.headers["Retry-After"] = str(seconds_left)
    return response


def unavailable() -> HttpResponse:
    """Nothing was done; the same request may be sent again."""
    response = error_response(TemporarilyUnavailable("The service cannot count requests at the moment. Try again."))
    response.headers["Retry-After"] = "1"
    return response


def prefers_json(request: HttpRequest) -> bool:
    """A program asks; a browser, or who names no preference, gets a page."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"
