"""The body of a request to the embedded default: the event loop receives it, and a thread reads it."""

from __future__ import annotations

import asyncio
import contextlib
import io
import threading
import time
from collections import deque
from collections.abc import Awaitable
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import BadRequest

from accounts.plans import LARGEST_BODY
from config.web.asgi import Message, Receive

RATE = 1_000  # bytes a second that a client has to send or take, as no nginx waits for it
T = TypeVar("T")
AHEAD = 1024 * 1024  # bytes that are kept for the thread; the last message may exceed it


class Pace:
    """Measures one direction of a connection: RATE over settings.SLOW_CLIENT_SECONDS of waiting for the client."""

    def __init__(self) -> None:
        self._waited = 0.0
        self._moved = 0

    async def keep(self, step: Awaitable[T]) -> T:
        """Wait for the client. TimeoutError: it was too slow."""
        started_at = time.monotonic()
        async with asyncio.timeout(settings.SLOW_CLIENT_SECONDS - self._waited):
            result = await step
        self._waited += time.monotonic() - started_at
        return result

    def count(self, size: int) -> None:
        """Note `size` bytes that have moved."""
        self._moved += size
        if self._moved >= RATE * settings.SLOW_CLIENT_SECONDS:
            self._moved, self._waited = 0, 0.0


class CutOff(BadRequest):
    """The client disconnected, was too slow, or sent a malformed chunk. Django answers 400."""


class TooSlow(CutOff):
    pass


async def _disconnected() -> Message:
    """ASGI's `receive` of a connection that has ended."""
    return {"type": "http.disconnect"}


class ReceivedBody(io.RawIOBase):
    """A stream for one thread. From its first read on, the loop receives up to AHEAD bytes in advance.

    The client then sends while the thread writes, and the thread seldom waits for the loop. With AHEAD bytes received,
    the loop waits for nothing, so the time that the thread takes does not count against the client.
    """

    def __init__(self, receive: Receive, *, has_any: bool) -> None:
        super().__init__()
        self.is_untouched = True
        self.is_over = not has_any
        self.is_cut_off = False
        self.size = 0  # bytes that can be read without waiting
        self._receive = receive
        self._pace = Pace()
        self._pieces: deque[memoryview] = deque()
        self._loop = asyncio.get_running_loop()
        self._changed = threading.Condition()  # guards what both the loop and the thread change
        self._is_receiving = False
        self._is_answered = False
        self._task: asyncio.Task[None] | None = None

    async def fill(self, size: int) -> None:
        """Receive until `size` bytes can be read, or the body is over. Raises CutOff. No thread reads meanwhile."""
        while self.size < size and not self.is_over:
            await self._receive_piece()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a writable buffer. Called in a thread; raises CutOff."""
        target = memoryview(buffer)
        wanted = min(len(target), AHEAD // 2)
        with self._changed:
            while self.size < wanted and not (self.is_over or self.is_cut_off or self._is_answered):
                self._receive_more()
                self._changed.wait()
            if not self.size and (self.is_cut_off or self._is_answered):
                raise CutOff("The body ended too early.")
            self._receive_more()
            return self._take(target)

    async def wait_until_gone(self) -> None:
        """Return once the client has closed the connection. What it still sends is dropped."""
        await self._stop_receiving()
        while (message := await self._receive())["type"] != "http.disconnect":
            self.is_over = self.is_over or not message.get("more_body", False)

    async def discard(self) -> None:
        """Receive the rest, so that a client which is still sending reads the answer (RFC 9112 §9.6)."""
        await self._stop_receiving()
        left = LARGEST_BODY
        with contextlib.suppress(CutOff):
            while not self.is_over and left > 0:
                await self._receive_piece()
                left -= self.size
                self._pieces.clear()
                self.size = 0

    def abandon(self) -> None:
        """End the task of the loop and the wait of the thread, whatever they wait for.

        A reference to `receive` that a cycle holds would keep the connection open until garbage is collected.
        """
        with self._changed:
            self._is_answered = True
            self._changed.notify()
        if self._task is not None:
            self._task.cancel()
        self._receive = _disconnected

    async def _stop_receiving(self) -> None:
        """Receive nothing in advance any more. A message that is awaited is not lost: it may be the last one."""
        self._is_answered = True
        if self._task is not None and not self._task.done():
            await asyncio.wait({self._task})

    async def _receive_piece(self) -> None:
        """Receive one message. Raises CutOff; after that, or another end of the wait, nothing is received again."""
        if self.is_cut_off:
            raise CutOff("The body ended too early.")
        self.is_untouched = False
        message: Message = {"type": "http.disconnect"}
        try:
            message = await self._pace.keep(self._receive())
        except TimeoutError:
            raise TooSlow("The body came too slowly.") from None
        finally:
            self.is_cut_off = message["type"] == "http.disconnect"
        if self.is_cut_off:
            raise CutOff("The client has gone.")
        piece = message.get("body", b"")
        self._pace.count(len(piece))
        with self._changed:
            self.is_over = not message.get("more_body", False)
            self._pieces.append(memoryview(piece))
            self.size += len(piece)
            self._changed.notify()

    async def _receive_in_advance(self) -> None:
        try:
            with contextlib.suppress(CutOff):
                while self.size < AHEAD and not (self.is_over or self._is_answered):
                    await self._receive_piece()
        finally:
            with self._changed:
                self._is_receiving = False
                self._changed.notify()

    def _receive_more(self) -> None:
        """Let the loop receive again once less than half of AHEAD is left. Called with the lock."""
        is_ended = self.is_over or self.is_cut_off or self._is_answered
        if self.size < AHEAD // 2 and not self._is_receiving and not is_ended:
            self._is_receiving = True
            self._loop.call_soon_threadsafe(self._start_task)

    def _start_task(self) -> None:
        self._task = self._loop.create_task(self._receive_in_advance())

    def _take(self, target: memoryview) -> int:
        """Move bytes into `target`; return how many. Called with the lock."""
        taken = 0
        while self._pieces and taken < len(target):
            piece = self._pieces[0]
            part = piece[: len(target) - taken]
            target[taken : taken + len(part)] = part
            taken += len(part)
            if len(part) == len(piece):
                self._pieces.popleft()
            else:
                self._pieces[0] = piece[len(part) :]
        self.size -= taken
        return taken
