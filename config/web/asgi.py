"""The ASGI application: event streams in a process of their own, where one costs no thread.

    granian --interface asgi config.asgi:application

Serves event streams and probes (`SERVED`), and reads no body; `config.web.wsgi` serves everything else.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import django
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http import HttpRequest, HttpResponseBase

from config import serve
from config.web import request_headers, web_worker
from infrastructure.databases import waits

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
serve.check_worker()
waits.bound()
django.setup(set_prefix=False)
web_worker.end_with_parent()


Scope = dict[str, Any]  # ASGI's, whose values have no type
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

SERVED = ("/healthz", "/readyz", "/metrics")
PRESENCE, EVENTS = "/api/lookup/presence/", "/events"
NOT_FOUND = "/api"
STATIC_FILES = "whitenoise.middleware.WhiteNoiseMiddleware"
SCHEME = urlsplit(settings.BASE_URL).scheme


class Application(ASGIHandler):
    """Django's, which keeps a thread for each request until its answer is sent. This one frees it once it is made."""

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: FBT001, FBT002 - Django's signature
        """Load all but the middleware of static files: none is served here, and its table of 750 files takes 2 MB and
        a tenth of the start."""
        middleware = settings.MIDDLEWARE
        settings.MIDDLEWARE = [each for each in middleware if each != STATIC_FILES]
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = middleware

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._answer_lifespan(receive, send)
        elif scope["type"] == "http":
            headers = request_headers.without_body(scope["headers"])
            path = scope["path"]
            is_served = path.startswith(SERVED) or is_stream(path)
            cleaned = {**scope, "scheme": SCHEME, "path": path if is_served else NOT_FOUND, "headers": headers}
            await self.handle(cleaned, _without_body(receive), send)
        else:
            await send({"type": "websocket.close"})

    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        async with ThreadSensitiveContext():
            response: HttpResponseBase = await super().run_get_response(request)
            await sync_to_async(connections.close_all)()  # those of the thread that ends here
        return response

    async def send_response(self, response: HttpResponseBase, send: Send) -> None:
        """Close a response that cannot be sent, as Django does only for sent or cancelled ones: `send` raises where the
        client has gone (ASGI 2.4)."""
        try:
            await super().send_response(response, send)
        except asyncio.CancelledError:
            raise
        except BaseException:
            await sync_to_async(response.close)()
            raise

    async def _answer_lifespan(self, receive: Receive, send: Send) -> None:
        """Answer the lifespan messages. The server waits for open answers first, so streams watch for the shutdown."""
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                web_worker.end_streams(has_handlers=True)
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return


def is_stream(path: str) -> bool:
    """Return whether a path is an event stream's."""
    return path.startswith(PRESENCE) and path.endswith(EVENTS)


def _without_body(receive: Receive) -> Receive:
    """Return `receive` for a request whose body is ignored. The server drops the rest when the answer is sent."""
    is_received = False

    async def receive_next() -> Message:
        nonlocal is_received
        if not is_received:
            is_received = True
            return {"type": "http.request", "body": b"", "more_body": False}
        while (message := await receive())["type"] == "http.request":
            pass
        return message

    return receive_next


application = Application()
