"""The ASGI application: event streams in a process of their own, where one costs no thread.

    granian --interface asgi config.asgi:application

Serves what reads presence and nothing else, without reading a body: `config.wsgi` serves everything.
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

from config import graceful_shutdown, start, stores

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
start.check_worker()
stores.bound_waits()
django.setup(set_prefix=False)
graceful_shutdown.end_with_parent()


Scope = dict[str, Any]  # ASGI's, whose values have no type
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

SERVED = ("/api/lookup/presence/", "/healthz", "/readyz", "/metrics")
NOT_FOUND = "/api"
SCHEME = urlsplit(settings.BASE_URL).scheme
_OF_BODIES = {b"content-type", b"content-length", b"transfer-encoding", b"expect"}


class Application(ASGIHandler):
    """Django's, which itself keeps a thread for each request until the answer has been sent: here until it is made."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self.handle(_cleaned(scope), _without_body(receive), send)
        else:
            await send({"type": "websocket.close"})

    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        async with ThreadSensitiveContext():
            response: HttpResponseBase = await super().run_get_response(request)
            await sync_to_async(connections.close_all)()  # those of the thread that ends here
        return response

    async def send_response(self, response: HttpResponseBase, send: Send) -> None:
        """Django closes what was sent, or cancelled, and not what could not be sent: `send` raises where the client is
        gone (ASGI 2.4)."""
        try:
            await super().send_response(response, send)
        except asyncio.CancelledError:
            raise
        except BaseException:
            await sync_to_async(response.close)()
            raise

    async def _live(self, receive: Receive, send: Send) -> None:
        """The server waits for its answers to end before it tells of its own: streams must hear of it themselves."""
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                graceful_shutdown.end_streams(has_handlers=True)
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return


def _cleaned(scope: Scope) -> Scope:
    """The scheme is that of BASE_URL; what else stands here is not found. No header speaks of a body, or looks like
    another one: Django reads `X_A` as `X-A`.
    """
    headers = [(name, value) for name, value in scope["headers"] if b"_" not in name and name.lower() not in _OF_BODIES]
    path = scope["path"] if scope["path"].startswith(SERVED) else NOT_FOUND
    return {**scope, "scheme": SCHEME, "path": path, "headers": headers}


def _without_body(receive: Receive) -> Receive:
    """Of a request that has none, whatever is sent. The server forgets the rest when the answer is out."""
    is_told = False

    async def receive_next() -> Message:
        nonlocal is_told
        if not is_told:
            is_told = True
            return {"type": "http.request", "body": b"", "more_body": False}
        while (message := await receive())["type"] == "http.request":
            pass
        return message

    return receive_next


application = Application()
