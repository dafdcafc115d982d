"""The WSGI application that the server loads."""

import gc
import os
from collections.abc import Iterable
from http.client import responses
from typing import Any
from urllib.parse import urlsplit
from wsgiref.types import WSGIApplication

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.serve import check_worker
from config.web import request_body, request_headers, web_worker
from config.web.request_body import RequestBody
from infrastructure.databases import waits

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
check_worker()
waits.bound()
django_application = get_wsgi_application()
from config.web import lane  # noqa: E402 - it needs the apps that the line above loads

SCHEME = urlsplit(settings.BASE_URL).scheme
web_worker.end_streams()
web_worker.end_with_parent()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """`serve`, for a server whose thread also reads what is left of the body. `start_response`: WSGI's, untyped."""
    if environ.get("CONTENT_LENGTH", "0") == "0" and "HTTP_TRANSFER_ENCODING" not in environ:
        return serve(environ, start_response)
    body = environ["wsgi.input"] = RequestBody(environ)
    try:
        return serve(environ, start_response)
    finally:
        body.drain()


def serve(environ: dict[str, Any], start_response: Any, django: WSGIApplication | None = None) -> Iterable[bytes]:
    """Answer by the lane (`config.web.lane`), or else by `django`, which tests replace. The scheme is that of BASE_URL.

    A large body takes a place (`config.web.request_body`).
    """
    environ["wsgi.url_scheme"] = SCHEME
    request_headers.clean(environ)
    if not _may_wait_for_body(environ):
        return _answer(environ, start_response, django or django_application)
    with request_body.place(environ):
        return _answer(environ, start_response, django or django_application)


def _answer(environ: dict[str, Any], start_response: Any, django: WSGIApplication) -> Iterable[bytes]:
    found = lane.answer(environ)
    if found is None:
        return django(environ, start_response)
    status = _STATUS_LINES.get(found.status) or f"{found.status} Unknown Status Code"
    start_response(status, list(found.headers.items()))
    return [found.body]


_STATUS_LINES = {int(status): f"{status:d} {phrase}" for status, phrase in responses.items()}


def _may_wait_for_body(environ: dict[str, Any]) -> bool:
    """Return whether the body is large, or the client has yet to send it. A chunked body does not say its length."""
    if "HTTP_EXPECT" in environ:
        return True
    length = environ.get("CONTENT_LENGTH")
    if length and length.isascii() and length.isdigit():
        return int(length) > request_body.LARGE
    return "HTTP_TRANSFER_ENCODING" in environ


get_resolver().url_patterns  # noqa: B018 - loads every view, so that the first request need not
gc.freeze()  # what is loaded stays: collections need not look at it again
