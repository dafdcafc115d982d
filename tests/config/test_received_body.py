"""The body of a request to the embedded default, received by the event loop while a thread reads it."""

from __future__ import annotations

import asyncio
import io
import time
import weakref
from collections.abc import Callable, Coroutine
from typing import TypeVar

import pytest
from pytest_django import Settings

from config.web.asgi import Message
from config.web.received_body import AHEAD, CutOff, Pace, ReceivedBody

pytestmark = pytest.mark.once

PIECE = 100_000
SECONDS = 10  # a thread that waits longer never ends
T = TypeVar("T")


class Client:
    """Sends `pieces`; the last one once `go_on` is set. Then it leaves, or the connection raises `breaks`."""

    def __init__(self, *pieces: bytes, breaks: Exception | None = None) -> None:
        self.body: ReceivedBody | None = None
        self.sizes: list[int] = []  # what could be read each time that a message was asked for
        self.go_on = asyncio.Event()
        self.is_waiting = asyncio.Event()
        self._pieces = list(pieces)
        self._breaks = breaks
        self._is_asked = False

    def open(self) -> ReceivedBody:
        self.body = ReceivedBody(self._receive, has_any=True)
        return self.body

    async def _receive(self) -> Message:
        assert self.body is not None
        assert not self._is_asked  # by two tasks at once
        self.sizes.append(self.body.size)
        if len(self._pieces) == 1:
            self._is_asked = True
            self.is_waiting.set()
            await self.go_on.wait()
            self._is_asked = False
        if self._pieces:
            return {"type": "http.request", "body": self._pieces.pop(0), "more_body": bool(self._pieces)}
        if self._breaks is not None:
            raise self._breaks
        return {"type": "http.disconnect"}


def run(test: Callable[[], Coroutine[None, None, T]]) -> T:
    async def limited() -> T:
        async with asyncio.timeout(SECONDS):
            return await test()

    return asyncio.run(limited())


def test_the_loop_receives_in_advance_and_then_waits_for_nothing() -> None:
    async def go() -> tuple[bytes, list[int], int]:
        client = Client(*pieces)
        client.go_on.set()
        body = client.open()
        await body.fill(PIECE)
        stream = io.BufferedReader(body, 65_536)
        loop = asyncio.get_running_loop()

        def read() -> tuple[bytes, int]:
            begin = stream.read(PIECE + 1)
            while body.size < AHEAD:
                time.sleep(0.001)
            tasks = asyncio.run_coroutine_threadsafe(_tasks(), loop).result()
            return begin + stream.read(), tasks

        content, tasks = await asyncio.to_thread(read)
        return content, client.sizes, tasks

    pieces = [bytes([number]) * PIECE for number in range(60)]
    content, sizes, tasks = run(go)
    assert content == b"".join(pieces)
    assert AHEAD - PIECE <= max(sizes) < AHEAD
    assert tasks == 2  # the one that counts, and the test


@pytest.mark.parametrize("breaks", [None, RuntimeError()], ids=["the client leaves", "the server fails"])
def test_what_came_before_the_end_can_be_read(breaks: Exception | None) -> None:
    async def receive() -> Message:
        if sent:
            return sent.pop()
        if breaks:
            raise breaks
        return {"type": "http.disconnect"}

    async def go() -> bytes:
        body = ReceivedBody(receive, has_any=True)

        def read() -> bytes:
            buffer = bytearray(100)
            size = body.readinto(buffer)
            with pytest.raises(CutOff):
                body.readinto(buffer)
            return bytes(buffer[:size])

        content = await asyncio.to_thread(read)
        assert body.is_cut_off
        return content

    sent: list[Message] = [{"type": "http.request", "body": b"abc", "more_body": True}]
    assert run(go) == b"abc"


@pytest.mark.parametrize("is_streamed", [False, True])
def test_an_answer_takes_over_from_the_task_that_receives(*, is_streamed: bool) -> None:
    """The message that it awaits is the last one: asking for another would wait until the client leaves."""

    async def go() -> int:
        client = Client(b"a" * PIECE, b"b")
        body = client.open()
        await body.fill(PIECE)
        assert await asyncio.to_thread(lambda: len(body.read(10) or b"")) == 10
        await client.is_waiting.wait()
        rest = asyncio.create_task(body.wait_until_gone() if is_streamed else body.discard())
        await asyncio.sleep(0)
        client.go_on.set()
        await rest
        assert body.is_over
        assert not body.is_cut_off
        return len(client.sizes)

    assert run(go) == (3 if is_streamed else 2)  # the third says that the client has left


def test_the_end_of_a_request_ends_its_task_and_the_wait_of_its_thread() -> None:
    async def go() -> int:
        client = Client(b"")
        body = client.open()
        reading = asyncio.create_task(asyncio.to_thread(body.readinto, bytearray(10)))
        await client.is_waiting.wait()
        body.abandon()
        with pytest.raises(CutOff):
            await reading
        return await _tasks()

    assert run(go) == 1  # the test


def test_what_still_holds_the_body_does_not_keep_the_connection_open() -> None:
    """As a cycle of an exception and its frames does until garbage is collected."""

    async def go() -> None:
        client = Client()
        body, connection = client.open(), weakref.ref(client)
        with pytest.raises(CutOff):
            await body.fill(1)
        body.abandon()
        client.body = None
        del client
        assert connection() is None

    run(go)


def test_a_client_that_sends_nothing_is_cut_off(settings: Settings) -> None:
    settings.SLOW_CLIENT_SECONDS = 0.05

    async def go() -> None:
        body = Client(b"").open()
        with pytest.raises(CutOff):
            await asyncio.to_thread(body.readinto, bytearray(10))

    run(go)


@pytest.mark.parametrize(
    ("steps", "is_kept"),
    [
        ([(0.15, 10), (0.15, 10)], False),  # 20 bytes in 0.3 s
        ([(0.15, 200), (0.15, 10)], True),  # 200 bytes within 0.2 s, and another 0.2 s begin
        ([(0.0, 0)] * 50, True),
    ],
)
def test_the_pace_of_a_client(settings: Settings, steps: list[tuple[float, int]], *, is_kept: bool) -> None:
    settings.SLOW_CLIENT_SECONDS = 0.2

    async def go() -> bool:
        pace = Pace()
        try:
            for seconds, size in steps:
                await pace.keep(asyncio.sleep(seconds))
                pace.count(size)
        except TimeoutError:
            return False
        return True

    assert asyncio.run(go()) is is_kept


async def _tasks() -> int:
    """How many have not ended."""
    await asyncio.sleep(0)
    return len(asyncio.all_tasks())
