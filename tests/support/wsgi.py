"""Requests to the WSGI application, as a server makes them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from wsgiref.util import setup_testing_defaults

Sent = tuple[str, dict[str, str], bytes]  # status line, headers, body


def send(
    path: str, query: str = "", method: str = "GET", body: bytes = b"", headers: dict[str, str] | None = None
) -> Sent:
    """`headers`: by their names in WSGI, without HTTP_."""
    from config.web import wsgi  # loads Django

    environ: dict[str, Any] = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "HTTP_HOST": "127.0.0.1:8000",
        "REMOTE_ADDR": "203.0.113.7", "wsgi.input": io.BytesIO(body),
        **({"CONTENT_LENGTH": str(len(body))} if body else {}),
        **{name if name.startswith("CONTENT") else f"HTTP_{name}": value for name, value in (headers or {}).items()},
    }  # fmt: skip
    setup_testing_defaults(environ)
    begun: list[Any] = []
    with _connections_stay():
        response: Any = wsgi.application(environ, lambda status, headers: begun.extend([status, dict(headers)]))
        content = b"".join(response)
        getattr(response, "close", lambda: None)()
    return begun[0], begun[1], content


@contextmanager
def _connections_stay() -> Iterator[None]:
    """Django closes connections around a request, with them the transaction of a test; its test client prevents it."""
    from django.core.signals import request_finished, request_started
    from django.db import close_old_connections

    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)
