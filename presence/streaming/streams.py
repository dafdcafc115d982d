"""The event stream of one reader: what is sent, when, and for how long, and how many may be open.

Between two heartbeats a stream holds no database connection, only its slot and the thread or task that the server gives
it. Slots are limited for each key across all processes, and for this process. Those of a key are names in Django's
cache that expire, so a crashed process frees its slots.
"""

from __future__ import annotations

import abc
import asyncio
import contextlib
import itertools
import logging
import secrets
import threading
import time
import weakref
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache
from django.db import Error as AnyDatabaseError
from django.utils import timezone
from django_redis.exceptions import ConnectionInterrupted
from prometheus_client import Gauge
from redis import RedisError

from accounts import authentication, jobs
from accounts.errors import KeyRateLimited
from infrastructure.limits import LimitsUnavailable
from infrastructure.requests.errors import ApiError, Unavailable
from lookup.errors import ProfilePrivate
from presence.answer import members
from presence.answer.presentation import Presence
from presence.errors import ChatNotFound, NotMember, PresenceUnavailable
from presence.streaming import watching
from presence.streaming.watching import GONE, PRESENCE, News, Watch

CONTENT_TYPE = "text/event-stream; charset=utf-8"
HEARTBEAT = 15.0  # seconds
LONGEST = 3600.0  # seconds; the client comes back
RENEWAL = 120.0  # seconds: how often a stream reads again what the chat server's events leave out
OPENING = b"retry: 3000\n\n"
BEAT = b": heartbeat\n\n"


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
                # What a lookup renews; the watching thread sends the result.
                with contextlib.suppress(PresenceUnavailable, NotMember, ChatNotFound, ProfilePrivate):
                    members.presence_of(self._chat_id, timezone.now())
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
            return KeyRateLimited(seconds_left=SLOT_RETRY)
        return refusal


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


SLOT_LIFETIME = 45  # seconds that a name in the cache outlives its last `keep`: three heartbeats
SLOT_RETRY = 15  # seconds, until another stream may have ended

logger = logging.getLogger(__name__)

OPEN = Gauge("hearth_event_streams", "Event streams that are open.", multiprocess_mode="livesum")
LIMIT = Gauge(
    "hearth_event_streams_limit",
    "Event streams that may be open: PRESENCE_STREAMS of each process.",
    multiprocess_mode="livesum",
)

_opening = threading.Lock()
_numbers = itertools.count()
_open: set[int] = set()


class ProcessFull(Unavailable):
    """This process holds as many streams as it may."""

    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(SLOT_RETRY)}


class StreamSlot:
    """The slot of one stream, from its creation until `close`.

    Raises ProcessFull, KeyRateLimited where the key has settings.PRESENCE_STREAMS_PER_KEY of them, Unavailable where
    the cache does not answer.
    """

    def __init__(self, key_id: int) -> None:
        number = next(_numbers)
        LIMIT.set(settings.PRESENCE_STREAMS)
        with _opening:
            if len(_open) >= settings.PRESENCE_STREAMS:
                OPEN.set(len(_open))
                raise ProcessFull
            _open.add(number)
        # An answer that the server drops without closing it must not hold the place forever. No lock and no cache
        # here: the garbage collector may come while this very thread holds theirs.
        self._leave = weakref.finalize(self, _open.discard, number)
        self._leave.atexit = False
        self._key_id = key_id
        self._token = secrets.token_hex(8)
        self._name: str | None = None
        self._is_closed = False
        self._lock = threading.Lock()  # a server may close a stream while its heartbeat is under way
        try:
            with _cache_errors_as_503():
                if not self._take():
                    raise KeyRateLimited(seconds_left=SLOT_RETRY)
        except BaseException:
            self._leave()
            raise
        OPEN.set(in_use())

    def keep(self) -> bool:
        """Hold the slot for SLOT_LIFETIME. False where it was lost and the key has none left. Raises Unavailable."""
        OPEN.set(in_use())
        with self._lock, _cache_errors_as_503():
            if self._is_closed:
                return False
            if self._name is not None and cache.get(self._name) == self._token:
                cache.touch(self._name, SLOT_LIFETIME)
                return True
            return self._take()

    def close(self) -> None:
        """Release the slot. Idempotent."""
        self._leave()
        OPEN.set(in_use())
        try:
            with self._lock, _cache_errors_as_503():
                name, self._name, self._is_closed = self._name, None, True
                if name is not None and cache.get(name) == self._token:
                    cache.delete(name)
        except Unavailable:
            logger.warning("A stream's place could not be given back: it ends by itself.")

    def _take(self) -> bool:
        for number in range(settings.PRESENCE_STREAMS_PER_KEY):
            name = f"stream:{self._key_id}:{number}"
            if cache.add(name, self._token, SLOT_LIFETIME):
                self._name = name
                return True
        self._name = None
        return False


def in_use() -> int:
    """Return how many streams this process holds."""
    return len(_open)


@contextmanager
def _cache_errors_as_503() -> Iterator[None]:
    try:
        yield
    except (RedisError, ConnectionInterrupted, OSError) as error:
        raise Unavailable from error
