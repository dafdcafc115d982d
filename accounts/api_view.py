"""The base of every endpoint under /api/ but the protocol's: limits, the key, JSON errors, headers.

    class Presence(ApiView):
        permission = Permission.LOOKUP_PRESENCE

        def get(self, request: ApiRequest, chat_id: str) -> HttpResponse:
            return json_response(json_bytes(members.presence_of(chat_id)))

A handler returns a response and raises an ApiError for everything else. One of a BusyView takes a
`request_context.Request` and returns the bytes of the body.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from rest_framework.views import APIView

from accounts import authentication
from accounts.authentication import ApiRequest
from infrastructure.limits import LimitsUnavailable
from infrastructure.requests import entity_tags, request_context
from infrastructure.requests.api_json import CONTENT_TYPE, json_bytes, json_response
from infrastructure.requests.errors import NOTHING, ApiError, MethodNotAllowed, Unavailable
from infrastructure.requests.request_context import Answer, Caller, Prefetch
from infrastructure.settings_cache import from_settings

__all__ = ["ApiRequest", "ApiView", "BusyView", "error_response", "finished", "json_bytes", "json_response"]

logger = logging.getLogger(__name__)

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
}
# The client keeps the answer, and asks each time whether it is still the same. Every key gets the same, so it does
# not vary by key; one that is refused is not told 304.
REVALIDATED = "private, no-cache"

FAILURES = (ApiError, SuspiciousOperation, LimitsUnavailable, OperationalError, InterfaceError)
Handler = Callable[..., Any]  # of a view for one method


class ApiView(APIView):
    """One URL. Django REST framework describes it; its own way of answering takes longer than all of this.

    `permission`: what the key must have (a `Permission`); None: the address is counted, and no key is looked at.
    `credential`: where the request carries its key. `unavailable`: the error while the database or the limit store is
    away.
    """

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]  # OPTIONS is 405: no preflight is answered
    permission: ClassVar[str | None] = None
    credential: ClassVar[Callable[[request_context.Request], str | None]] = authentication.header_credential

    unavailable: ClassVar[type[Unavailable]] = Unavailable

    def refusal(self, error: ApiError) -> ApiError:
        """Return the answer to a refusal with `error` of address or key: by default `error`."""
        return error

    def cost(self, request: request_context.Request) -> int:
        """Return how many requests this one counts as for its key, at least 1. Raises nothing.

        It is called before the key is checked, so it reads a bounded part of the request, and neither rows nor caches.
        """
        return 1

    def caller_of(self, request: request_context.Request) -> Caller:
        """Count the request and return its caller. Raises what `authentication.check` raises."""
        return authentication.check(
            type(self).credential(request),
            permission=cast("str", self.permission),
            now=request.now,
            prefetch=request.prefetch,
            cost=self.cost(request),
        )

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the request. Django logs errors other than FAILURES, and `config.views` answers them."""
        try:
            response = self.answer(request, *args, **kwargs)
        except FAILURES as error:
            response = error_response(self.api_error(error))
        if self.permission is not None and "Cache-Control" in response.headers:
            patch_vary_headers(response, ["X-API-Key", "Authorization"])
        return finished(request, response)

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return the handler's answer, once limits, method and key allow it."""
        value = request_context.Request.of(request)
        handler = self.allowed_handler(value)
        if value.caller is not None:
            cast("ApiRequest", request).caller = value.caller
        return cast("HttpResponse", handler(request, *args, **kwargs))

    def allowed_handler(self, request: request_context.Request) -> Handler:
        """Return the handler of the request's method, once limits and key allow the request, which then has its caller.

        Raises MethodNotAllowed, and what `authentication.count_address` and `authentication.check` raise.
        """
        method = request.method.lower()
        handler = getattr(self, method, None) if method in self.http_method_names else None
        if handler is None and method == "head":
            handler = getattr(self, "get", None)
        try:
            if handler is None or self.permission is None:
                authentication.count_address()
            elif request.caller is None:  # otherwise it was counted before its answer had to wait
                request.caller = self.caller_of(request)
        except ApiError as error:
            raise self.refusal(error) from error
        if handler is None:
            allowed = set(self.allowed_methods) | ({"HEAD"} if hasattr(self, "get") else set())
            raise MethodNotAllowed([name.upper() for name in self.http_method_names if name.upper() in allowed])
        return cast("Handler", handler)

    def api_error(self, error: Exception) -> ApiError:
        """Return the answer to one of FAILURES."""
        if isinstance(error, ApiError):
            return error
        if isinstance(error, SuspiciousOperation):  # more parameters than a query may have
            return ApiError()
        if isinstance(error, LimitsUnavailable):
            logger.error("The limit store does not answer.", exc_info=error)
        else:
            logger.error("The database does not answer.", exc_info=error)
        return self.unavailable()


class BusyView(ApiView):
    """A view whose answer is a function of a `request_context.Request`, which `config.web.lane` calls.

    Its handlers take that and the parameters of the path, and return a body of JSON. `is_read`: GET reads a few rows by
    their keys and calls `request_context.before_waiting` before anything that takes longer; it has a `permission`.
    `is_conditional`: answers have a strong entity tag, and clients ask again with `If-None-Match`.
    """

    is_read: ClassVar[bool] = False
    is_conditional: ClassVar[bool] = False

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer where Django's own handler serves, without the lane: to the explorer of the documentation."""
        answer = self.respond(request_context.Request.of(request), **kwargs)
        return (answer._replace(body=b"") if request.method == "HEAD" else answer).to_django()

    def respond(self, request: request_context.Request, **parameters: str) -> Answer:
        """Return the whole answer. Raises what no endpoint answers by itself."""
        prefetch = request.prefetch = self.prefetch(request, **parameters)
        try:
            handler = self.allowed_handler(request)
            body = handler(request, **parameters)
            return tagged_answer(request, body) if self.is_conditional else json_answer(request, body)
        except FAILURES as error:
            return error_answer(request, self.api_error(error))
        finally:
            if prefetch is not None:
                prefetch.drop()

    def prefetch(self, request: request_context.Request, **parameters: str) -> Prefetch | None:
        """Return what the handler reads first, to be sent along with the check of the key. Raises nothing."""
        return None


def json_answer(
    request: request_context.Request, body: bytes, status: int = 200, headers: Mapping[str, str] = NOTHING
) -> Answer:
    """Return an answer of `body`, which is JSON, with the standard headers and `headers`."""
    standard = _standard_headers(is_secure=request.is_secure)
    fields = {"Content-Type": CONTENT_TYPE, **standard, **request_context.budget(), **headers}
    fields["Content-Length"] = str(len(body))
    return Answer(status, fields, body)


def tagged_answer(request: request_context.Request, body: bytes) -> Answer:
    """Return 200 with `body`, which is JSON, and its entity tag; 304 where `If-None-Match` names that."""
    meta = request.meta
    accept_encoding = meta.get("HTTP_ACCEPT_ENCODING", "")
    tag = entity_tags.tag_of(body, accept_encoding)
    condition = meta.get("HTTP_IF_NONE_MATCH")
    if not condition or not entity_tags.is_match(condition, tag):
        return json_answer(request, body, headers={"Cache-Control": REVALIDATED, "ETag": tag})
    standard = _standard_headers(is_secure=request.is_secure)
    fields = {**standard, **request_context.budget(), "Cache-Control": REVALIDATED, "ETag": tag}
    if len(body) >= entity_tags.SMALLEST_COMPRESSED:  # as 200 has it, once it is compressed or could be
        fields["Vary"] = "Accept-Encoding"
    return Answer(HTTPStatus.NOT_MODIFIED, fields, b"")


def error_answer(request: request_context.Request, error: ApiError) -> Answer:
    """Return the documented body, and the error's own headers."""
    request_context.failed(error.code or error.error)
    return json_answer(request, json_bytes(error.body()), error.status, error.headers())


def error_response(error: ApiError) -> HttpResponse:
    """Return the documented body, and the error's own headers."""
    request_context.failed(error.code or error.error)
    response = json_response(json_bytes(error.body()), status=error.status)
    for name, value in error.headers().items():
        response.headers[name] = value
    return response


def serves(path: str) -> bool:
    """Return whether a path, in any case, is of the API: under /api/, but no endpoint of the protocol."""
    path = path.lower()
    return (path.startswith("/api/") or path == "/api") and not path.startswith("/api/auth/")


def finished(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return `response` with strict headers, what limits have left, no caching unless it says how, no body for HEAD."""
    headers = response.headers
    for name, value in {**_standard_headers(is_secure=request.is_secure()), **request_context.budget()}.items():
        headers.setdefault(name, value)
    if not response.streaming:
        headers.setdefault("Content-Length", str(len(response.content)))
        if request.method == "HEAD":
            response.content = b""
    return response


@from_settings
def _standard_headers(*, is_secure: bool) -> Mapping[str, str]:
    """Return the headers of every answer that sets none of them."""
    transport = strict_transport_security() if is_secure else ""
    return {**HEADERS, "Strict-Transport-Security": transport} if transport else HEADERS


@from_settings
def strict_transport_security() -> str:
    """Return the value of that header, for answers over https; "" where there is none."""
    if not settings.SECURE_HSTS_SECONDS:
        return ""
    parts = [f"max-age={settings.SECURE_HSTS_SECONDS}"]
    if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS:
        parts.append("includeSubDomains")
    if settings.SECURE_HSTS_PRELOAD:
        parts.append("preload")
    return "; ".join(parts)
