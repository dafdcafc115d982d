"""What every endpoint under /api/ but the protocol's stands on: limits, the key, JSON errors, headers.

    class Presence(ApiView):
        permission = Permission.LOOKUP_PRESENCE

        def get(self, request: ApiRequest, chat_id: str) -> HttpResponse:
            return json_response(json_bytes(members.presence_of(chat_id, request.caller)))

A handler returns bytes of JSON and raises an ApiError for everything else.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ClassVar, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from rest_framework.views import APIView

from accounts import authentication, throttling
from accounts.api_json import json_bytes, json_response
from accounts.authentication import ApiRequest
from accounts.errors import ApiError, MethodNotAllowed, Unavailable
from accounts.limits import LimitsUnavailable

__all__ = ["ApiRequest", "ApiView", "error_response", "finished", "json_bytes", "json_response"]

logger = logging.getLogger(__name__)

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


class ApiView(APIView):
    """One URL. Django REST framework describes it; its own way of answering takes longer than all of this.

    `permission`: what the key must have (a `Permission`); None: the address is counted, and no key is looked at.
    `credential`: where the request carries its key. `unavailable`: the error while the database or the limit store is
    away.
    """

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]  # OPTIONS is 405: no preflight is answered
    permission: ClassVar[str | None] = None
    credential: ClassVar[Callable[[HttpRequest], str | None]] = authentication.header_credential

    unavailable: ClassVar[type[Unavailable]] = Unavailable

    def refusal(self, error: ApiError) -> ApiError:
        """What to answer where the address or the key is refused with `error`: the same, unless a view says other."""
        return error

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Whatever else is raised, Django logs and `config.views` answers."""
        try:
            response = self.answer(request, *args, **kwargs)
        except ApiError as error:
            response = error_response(error)
        except SuspiciousOperation:  # more parameters than anybody needs
            response = error_response(ApiError())
        except LimitsUnavailable:
            logger.exception("The limit store does not answer.")
            response = error_response(self.unavailable())
        except (OperationalError, InterfaceError):
            logger.exception("The database does not answer.")
            response = error_response(self.unavailable())
        if self.permission is not None and "Cache-Control" in response.headers:
            patch_vary_headers(response, ["X-API-Key", "Authorization"])
        return finished(request, response)

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The handler's answer, once limits, method and key allow it."""
        method = str(request.method).lower()
        handler = getattr(self, method, None) if method in self.http_method_names else None
        try:
            if handler is None or self.permission is None:
                throttling.count()
            else:
                secret = type(self).credential(request)
                caller = authentication.check(secret, permission=self.permission, now=timezone.now())
                cast("ApiRequest", request).caller = caller
        except ApiError as error:
            raise self.refusal(error) from error
        if handler is None:
            raise MethodNotAllowed(self.allowed_methods)
        return cast("HttpResponse", handler(request, *args, **kwargs))


def error_response(error: ApiError) -> HttpResponse:
    """The documented body, and the error's own headers."""
    response = json_response(json_bytes(error.body()), status=error.status)
    for name, value in error.headers().items():
        response.headers[name] = value
    return response


def finished(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """`response` with what every answer has: strict headers, no caching unless it says how, no body for HEAD."""
    headers = response.headers
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Cache-Control", "private, no-store")
    if settings.SECURE_HSTS_SECONDS and request.is_secure():
        headers.setdefault("Strict-Transport-Security", _strict_transport_security())
    if not response.streaming:
        headers.setdefault("Content-Length", str(len(response.content)))
        if request.method == "HEAD":
            response.content = b""
    return response


def _strict_transport_security() -> str:
    parts = [f"max-age={settings.SECURE_HSTS_SECONDS}"]
    if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS:
        parts.append("includeSubDomains")
    if settings.SECURE_HSTS_PRELOAD:
        parts.append("preload")
    return "; ".join(parts)
