"""The server of the embedded default: what reaches WSGI, and which clients it waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from pytest_django import Settings

from config.web import asgi, embedded, lane, request_body, wsgi
from config.web.asgi import Message, Scope
from config.web.received_body import CutOff
from infrastructure.requests import request_context

pytestmark = pytest.mark.once

SCOPE: Scope = {
    "type": "http",
    "method": "POST",
    "http_version": "1.1",
    "path": "/a/é",
    "raw_path": b"/a/%C3%A9",
    "query_string": b"b=%20",
    "server": ("127.0.0.1", "8000"),
    "client": ("203.0.113.7", "40000"),
    "headers": [],
}
LARGE = request_body.LARGE + 1
SLOW = (b"", True)  # a piece that never comes
Answer = Callable[[dict[str, Any]], bytes]


class Sent:
    """An answer, as Django makes it."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.pieces)

    def close(self) -> None:
        self.is_closed = True


class Client:
    """The other end of a connection. `pieces`: of the body; `takes`: how many messages it takes, None for all."""

    def __init__(self, *pieces: tuple[bytes, bool], takes: int | None = None, leaves: bool = False) -> None:
        self.sent: list[Message] = []
        self._pieces = list(pieces)
        self._takes = takes
        self._leaves = leaves

    def call(self, *headers: tuple[bytes, bytes], **scope: Any) -> None:
        """Any: values of the scope."""
        asyncio.run(self.serve(*headers, **scope))

    async def serve(self, *headers: tuple[bytes, bytes], **scope: Any) -> None:
        """`call`, on the running loop. Any: as above."""
        await embedded.application({**SCOPE, "headers": headers, **scope}, self._receive, self._send)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    @property
    def left(self) -> int:
        """Pieces that are not received yet."""
        return len(self._pieces)

    async def _receive(self) -> Message:
        if self._pieces and self._pieces[0] != SLOW:
            piece, is_more = self._pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": is_more}
        if self._leaves:
            return {"type": "http.disconnect"}
        await self._never()
        return {}

    async def _send(self, message: Message) -> None:
        if self._takes is not None and len(self.sent) >= self._takes:
            await self._never()
        self.sent.append(message)

    async def _never(self) -> None:
        await asyncio.get_running_loop().create_future()


@pytest.fixture(autouse=True)
def _little_patience(settings: Settings) -> None:
    settings.SLOW_CLIENT_SECONDS = 0.2


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[dict[str, Any]], Any]], list[dict[str, Any]]]:
    """Puts a function in the place of the WSGI application; the environments that it gets."""
    environs: list[dict[str, Any]] = []

    def serve_with(answer: Callable[[dict[str, Any]], Any]) -> list[dict[str, Any]]:
        def serve(environ: dict[str, Any], start_response: Any) -> Any:
            environs.append(environ)
            start_response("201 Created", [("X-Name", "value")])
            answered = answer(environ)
            return Sent(answered) if isinstance(answered, bytes) else answered

        monkeypatch.setattr(wsgi, "serve", serve)
        return environs

    return serve_with


def test_a_request_reaches_wsgi_as_it_was_sent(serving: Any) -> None:
    environs = serving(lambda environ: environ["wsgi.input"].read())
    client = Client((b"ab", True), (b"cd", False))
    headers = [(b"content-type", b"text/plain"), (b"transfer-encoding", b"chunked"), (b"x-one", b"1"), (b"x-one", b"2")]
    client.call(*headers, (b"cookie", b"a=1"), (b"cookie", b"b=2"), (b"x_client-address", b"forged"))
    environ = environs[-1]
    assert (client.status, client.body) == (201, b"abcd")
    assert client.sent[0]["headers"] == [(b"X-Name", b"value")]
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/a/é"
    assert (environ["QUERY_STRING"], environ["REMOTE_ADDR"]) == ("b=%20", "203.0.113.7")
    assert (environ["CONTENT_LENGTH"], environ["CONTENT_TYPE"]) == ("4", "text/plain")
    assert (environ["HTTP_COOKIE"], environ["HTTP_X_ONE"]) == ("a=1; b=2", "1,2")
    assert not {"HTTP_TRANSFER_ENCODING", "HTTP_X_CLIENT_ADDRESS", "HTTP_CONTENT_LENGTH"} & environ.keys()


def test_an_answer_that_is_a_list_has_nothing_to_close(serving: Any) -> None:
    """As `config.web.lane` answers."""
    serving(lambda environ: [environ["wsgi.input"].read(), b"more"])
    client = Client((b"ab", False))
    client.call((b"content-length", b"2"))
    assert (client.status, client.body) == (201, b"abmore")


def test_a_small_body_that_does_not_come_starts_no_thread(serving: Any) -> None:
    environs = serving(lambda environ: b"")
    client = Client((b"a=1", True), SLOW)
    client.call((b"content-length", b"4"))
    assert (client.status, client.body, environs) == (408, embedded.TIMEOUT, [])
    assert (b"connection", b"close") in client.sent[0]["headers"]


def test_what_reads_a_small_body_that_breaks_off_answers(serving: Any) -> None:
    """A bad chunk looks as if the client had gone."""

    def read(environ: dict[str, Any]) -> bytes:
        with pytest.raises(CutOff):
            environ["wsgi.input"].read(LARGE)
        return b"cut off"

    serving(read)
    client = Client((b"a=1", True), SLOW, leaves=True)
    client.call((b"transfer-encoding", b"chunked"))
    assert (client.status, client.body) == (201, b"cut off")
    assert (b"connection", b"close") in client.sent[0]["headers"]


def test_a_large_body_is_read_by_its_thread(serving: Any) -> None:
    pieces = [(b"x" * 50_000, True)] * 5 + [(b"yz", False)]
    serving(lambda environ: str(len(environ["wsgi.input"].read(250_001))).encode() + environ["wsgi.input"].read())
    client = Client(*pieces)
    client.call((b"content-length", b"250002"))
    assert client.body == b"250001z"


@pytest.mark.parametrize("leaves", [False, True])
def test_a_large_body_that_does_not_come_ends_the_wait_of_its_thread(serving: Any, *, leaves: bool) -> None:
    def read(environ: dict[str, Any]) -> bytes:
        with pytest.raises(CutOff):
            environ["wsgi.input"].read(LARGE + 1)
        return b"cut off"

    serving(read)
    client = Client((b"x" * LARGE, True), SLOW, leaves=leaves)
    client.call((b"content-length", b"100000"))
    assert client.body == b"cut off"
    assert (b"connection", b"close") in client.sent[0]["headers"]


@pytest.mark.parametrize(
    ("headers", "left"),
    [
        ([(b"content-length", b"300000")], 0),
        ([(b"content-length", b"300000"), (b"expect", b"100-continue")], 3),  # the client has not sent it
        ([(b"content-length", b"3"), (b"expect", b"100-continue")], 3),
    ],
)
def test_what_is_left_of_a_body_is_received_after_the_answer(serving: Any, headers: Any, left: int) -> None:
    serving(lambda environ: b"refused")
    client = Client((b"x" * 100_000, True), (b"x" * 100_000, True), (b"x" * 100_000, False))
    client.call(*headers)
    assert (client.body, client.left) == (b"refused", left)


def test_nothing_of_a_request_is_left_when_it_fails(serving: Any) -> None:
    """Its thread has read a part of the body, and the loop waits for the rest."""

    def read(environ: dict[str, Any]) -> bytes:
        environ["wsgi.input"].read(1)
        raise RuntimeError

    async def go() -> set[asyncio.Task[Any]]:
        client = Client((b"x" * LARGE, True), SLOW)
        with pytest.raises(RuntimeError):
            await client.serve((b"content-length", b"100000"))
        await asyncio.sleep(0)
        return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}

    serving(read)
    assert asyncio.run(go()) == set()


def test_an_answer_is_sent_in_pieces(serving: Any) -> None:
    pieces = (b"a" * embedded.PIECE, b"b", b"c" * embedded.PIECE, b"d")
    answer = Sent(*pieces)
    serving(lambda environ: answer)
    client = Client()
    client.call()
    assert (client.body, answer.is_closed) == (b"".join(pieces), True)
    assert [len(message.get("body", b"")) for message in client.sent[1:]] == [embedded.PIECE, embedded.PIECE + 1, 1]


@pytest.mark.parametrize("client", [Client(takes=2), Client((b"", False), leaves=True)], ids=["is slow", "is gone"])
def test_the_answer_to_a_client_that_does_not_take_it_is_closed(serving: Any, client: Client) -> None:
    answer = Sent(*[b"a" * embedded.PIECE] * 10)
    serving(lambda environ: answer)
    client.call()
    assert answer.is_closed
    assert len(client.sent) < 10


@pytest.mark.parametrize(
    ("path", "is_stream"),
    [
        ("/api/lookup/presence/268473310986240001/events", True),
        ("/api/lookup/presence/268473310986240001", False),
        ("/accounts/events", False),
    ],
)
def test_event_streams_keep_no_thread(
    serving: Any, monkeypatch: pytest.MonkeyPatch, path: str, *, is_stream: bool
) -> None:
    streams: list[str] = []

    async def application(scope: Scope, receive: Any, send: Callable[[Message], Awaitable[None]]) -> None:
        streams.append(scope["path"])
        for _ in range(3):
            await send({"type": "http.response.body", "body": b"data", "more_body": True})

    monkeypatch.setattr(asgi, "application", application)
    environs = serving(lambda environ: b"")
    client = Client(takes=2)
    client.call(path=path)
    assert (streams, len(environs)) == ([path] if is_stream else [], 0 if is_stream else 1)


class Read:
    """What `lane.find` finds: it notes in which thread it was answered, and whether an event loop ran there."""

    is_read = True

    def __init__(self, *, is_fresh: bool) -> None:
        self.threads: list[tuple[bool, bool]] = []
        self._is_fresh = is_fresh

    def answer(self) -> request_context.Answer:
        self.threads.append((threading.current_thread() is threading.main_thread(), _has_running_loop()))
        if not self._is_fresh:
            request_context.before_waiting()
        return request_context.Answer(203, {"X-Name": "value", "X-Request-Id": "an-id"}, b"read")


def _has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize(
    ("is_fresh", "threads"),
    [(True, [(True, False)]), (False, [(True, False), (False, False)])],
    ids=["at once", "has to write"],
)
def test_a_read_is_answered_by_the_event_loop_unless_it_has_to_wait(
    serving: Any, monkeypatch: pytest.MonkeyPatch, threads: list[tuple[bool, bool]], *, is_fresh: bool
) -> None:
    """No event loop runs for it, or Django would open a connection for each request."""
    environs, read = serving(lambda environ: b""), Read(is_fresh=is_fresh)
    monkeypatch.setattr(lane, "find", lambda environ: read)
    client = Client()
    client.call(method="GET")
    assert (client.status, client.body) == (203, b"read")
    assert client.sent[0]["headers"] == [(b"X-Name", b"value"), (b"X-Request-Id", b"an-id")]
    assert (read.threads, environs) == (threads, [])


def test_a_request_with_a_body_is_no_read(serving: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    serving(lambda environ: environ["wsgi.input"].read())
    read = Read(is_fresh=True)
    monkeypatch.setattr(lane, "find", lambda environ: read)
    client = Client((b"ab", False))
    client.call((b"content-length", b"2"), method="GET")
    assert (client.body, read.threads) == (b"ab", [])


def test_a_read_that_is_refused_is_answered() -> None:
    client = Client()
    client.call((b"host", b"elsewhere.example"), method="GET", path="/api/lookup/user", raw_path=b"/api/lookup/user")
    assert (client.status, client.body) == (400, b'{"error":"errors.badRequest"}')
