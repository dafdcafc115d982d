"""Event streams of presence (WHATWG HTML, "Server-sent events"): which events are sent, when, and for how long.

Between two heartbeats a stream holds no database connection, only its slot (`stream_slots`) and the thread or task that
the server gives it.
"""

from __future__ import annotations

import abc
import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from django.db import Error as AnyDatabaseError
from django.utils import timezone

from accounts import authentication, jobs
from accounts.errors import KeyRateLimited
from infrastructure.limits import LimitsUnavailable
from infrastructure.requests.errors import ApiError, Unavailable
from lookup.errors import ProfilePrivate
from presence.answer import members
from presence.answer.presentation import Presence
from presence.errors import ChatNotFound, NotMember, PresenceUnavailable
from presence.streaming import stream_slots, watching
from presence.streaming.stream_slots import StreamSlot
from presence.streaming.watching import GONE, PRESENCE, News, Watch

CONTENT_TYPE = "text/event-stream; charset=utf-8"
HEARTBEAT = 15.0  # seconds
LONGEST = 3600.0  # seconds; the client comes back
RENEWAL = 120.0  # seconds: how often a stream reads again what the chat server's events leave out
OPENING = b"retry: 3000\n\n"
BEAT = b": heartbeat\n\n"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class KeyInUse:
    """The key of the request that opened a stream. `secret_hash`: as `hashing.digest` makes it."""

    key_id: int
    secret_hash: str
    permission: str


def event(news: News) -> bytes:
    """Return the bytes of an event. Only a presence has an id: a client that reconnects gets the presence."""
    tag = f" {news.tag}" if news.event == PRESENCE else ""
    return f"event: {news.event}\nid:{tag}\ndata: ".encode() + news.body + b"\n\n"


class Stream(abc.ABC):
    """The stream of one reader; `close` it. Times are of the monotonic clock.

    Raises what `StreamSlot` raises.
    """

    def __init__(self, *, presence: Presence, key: KeyInUse, last_event_id: str) -> None:
        self._chat_id = presence.id
        self._key = key
        self._told = watching.of_presence(presence)
        self._opening = OPENING if last_event_id == self._told.tag else OPENING + event(self._told)
        self._place = StreamSlot(key.key_id)
        self._watch: Watch | None = None
        self._is_over = False
        self._ends_at = self._beats_at = self._renews_at = 0.0

    def close(self) -> None:
        """End the stream. Idempotent."""
        self._is_over = True
        if self._watch is not None:
            watching.hub.leave(self._watch)
        self._place.close()

    @abc.abstractmethod
    def ring(self) -> None:
        """Wake the stream from the watching thread, as `step` may have something. Must not block."""

    def step(self, now: float) -> bytes | float | None:
        """Return what to send; the seconds to wait for a ring, 0 where `beat` is due; None at the end."""
        if self._is_over or (self._watch is not None and self._watch.is_over):
            return None
        if self._watch is None:
            self._watch = watching.hub.join(int(self._chat_id), self.ring)
            self._ends_at, self._beats_at, self._renews_at = now + LONGEST, now + HEARTBEAT, now + RENEWAL
            return self._opening
        news = self._watch.news
        if news is not None and news != self._told:
            self._told = news
            self._is_over = news.event == GONE
            return event(news)
        return None if now >= self._ends_at else max(0.0, min(self._beats_at, self._ends_at) - now)

    def beat(self, now: float) -> bytes:
        """Keep the slot, check the key again, and return what to send. Asks cache and database, so it may take long."""
        self._beats_at = now + HEARTBEAT
        try:
            refusal = self._refusal()
            if refusal is None and (now >= self._renews_at or (self._watch is not None and self._watch.lacks_banner)):
                self._renews_at = now + RENEWAL
                self._renew()
        except (LimitsUnavailable, Unavailable, AnyDatabaseError) as error:
            logger.warning("A stream goes on although nobody can say whether it may: %s", jobs.described(error))
            return BEAT
        finally:
            jobs.close_connections()
        if refusal is None:
            return BEAT
        self._is_over = True
        return event(watching.of_error("closed", refusal))

    def _refusal(self) -> ApiError | None:
        """Return why the stream may not go on."""
        key = self._key
        refusal = authentication.recheck(key.secret_hash, permission=key.permission, now=timezone.now())
        if refusal is None and not self._place.keep():
            return KeyRateLimited(seconds_left=stream_slots.RETRY)
        return refusal

    def _renew(self) -> None:
        """Renew the parts that a lookup renews; the watching thread sends the result."""
        with contextlib.suppress(PresenceUnavailable, NotMember, ChatNotFound, ProfilePrivate):
            members.presence_of(self._chat_id, timezone.now())


class BlockingStream(Stream):
    """A stream for WSGI, which waits in a thread of the server."""

    def __init__(self, *, presence: Presence, key: KeyInUse, last_event_id: str) -> None:
        super().__init__(presence=presence, key=key, last_event_id=last_event_id)
        self._bell = threading.Event()

    def ring(self) -> None:
        self._bell.set()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        while True:
            self._bell.clear()  # before the look: what rings after it is heard by the wait
            step = self.step(time.monotonic())
            if step is None:
                raise StopIteration
            if isinstance(step, bytes):
                return step
            if step == 0:
                return self.beat(time.monotonic())
            self._bell.wait(step)


class AsyncStream(Stream):
    """A stream for ASGI, where all wait in one event loop."""

    def __init__(self, *, presence: Presence, key: KeyInUse, last_event_id: str) -> None:
        super().__init__(presence=presence, key=key, last_event_id=last_event_id)
        self._bell = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def ring(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._bell.set)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        self._loop = asyncio.get_running_loop()
        while True:
            self._bell.clear()  # before the look: what rings after it is heard by the wait
            step = self.step(time.monotonic())
            if step is None:
                raise StopAsyncIteration
            if isinstance(step, bytes):
                return step
            if step == 0:
                return await asyncio.to_thread(self.beat, time.monotonic())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(step):
                    await self._bell.wait()
