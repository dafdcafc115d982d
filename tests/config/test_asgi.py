"""What the process for event streams hands to Django is put right first, and nothing of a body reaches it."""

from __future__ import annotations

import asyncio
import faulthandler
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIHandler

from config.web import asgi
from presence.streaming import watching

Message = Mapping[str, Any]  # ASGI's, whose values have no type
SCOPE: Message = {
    "type": "http",
    "method": "GET",
    "path": "/readyz",
    "scheme": "ftp",
    "headers": [],
    "query_string": b"",
}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Message, list[Message]]]:
    """The scopes that reach Django, and the first two messages that it receives."""
    seen: list[tuple[Message, list[Message]]] = []

    async def handle(
        self: ASGIHandler, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Any]
    ) -> None:
        seen.append((scope, [await receive(), await receive()]))

    monkeypatch.setattr(ASGIHandler, "handle", handle)
    return seen


def _call(scope: Message, *messages: Message) -> list[Message]:
    """What the application sends."""
    waiting, sent = iter(messages), list[Message]()

    async def receive() -> Message:
        return next(waiting)

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(asgi.application(dict(scope), receive, send))
    return sent


def test_no_body_and_no_word_of_one_reaches_django(seen: list[tuple[Message, list[Message]]]) -> None:
    headers = [
        *((b"content-type", b"text/plain; charset=hex"), (b"content-length", b"6"), (b"transfer-encoding", b"chunked")),
        *((b"expect", b"100-continue"), (b"x-client_address", b"203.0.113.7"), (b"x-api-key", b"k")),
    ]
    sent = ({"type": "http.request", "body": b"abc", "more_body": more} for more in (True, False))
    _call({**SCOPE, "headers": headers}, *sent, {"type": "http.disconnect"})
    scope, received = seen[0]
    assert (scope["headers"], scope["scheme"]) == ([(b"x-api-key", b"k")], "http")
    assert received == [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/api/lookup/presence/268473310986240001/events", "/api/lookup/presence/268473310986240001/events"),
        ("/healthz", "/healthz"),
        ("/api/lookup/presence/268473310986240001", "/api"),
        ("/", "/api"),
        ("/api/lookup/user", "/api"),
    ],
)
def test_only_what_reads_presence_is_served(seen: list[tuple[Message, list[Message]]], path: str, served: str) -> None:
    _call({**SCOPE, "path": path}, {"type": "http.disconnect"})
    assert seen[0][0]["path"] == served


def test_a_web_socket_is_refused() -> None:
    assert _call({"type": "websocket"}) == [{"type": "websocket.close"}]


@pytest.fixture
def _signals_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(watching.hub, "is_leaving", watching.hub.is_leaving)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    faulthandler.cancel_dump_traceback_later()  # it would end this process
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_signals_as_before")
def test_streams_hear_of_the_servers_end_and_so_does_the_server() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    sent = _call({"type": "lifespan"}, {"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    assert [message["type"] for message in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert not watching.hub.is_leaving()
    signal.raise_signal(signal.SIGTERM)
    assert watching.hub.is_leaving()
    assert heard == [signal.SIGTERM]


def test_a_worker_that_its_server_keeps_ends_itself_and_says_what_it_waits_for() -> None:
    program = """
import signal, time
from config.web import web_worker
web_worker.PATIENCE = 0.2
signal.signal(signal.SIGTERM, lambda number, frame: None)
web_worker.ShutdownFlag().wrap_handlers()
signal.raise_signal(signal.SIGTERM)
time.sleep(30)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode == 1
    assert "Timeout (0:00:00.200000)!" in ended.stderr
    assert "line 8 in <module>" in ended.stderr
