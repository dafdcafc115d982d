"""The event stream of one reader, who follows one member or up to MOST_MEMBERS: what is sent, when, and for how long,
and how many may be open.

Between two heartbeats a stream holds no database connection, only its slot and the thread or task that the server gives
it. Slots are limited for each key across all processes, and for each owner and in all in this process. Those of a key
are names in Django's cache that expire, so a crashed process frees its slots.
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
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NotRequired, TypedDict, Unpack

from django.conf import settings
from django.core.cache import cache
from django.db import Error as AnyDatabaseError
from django.utils import timezone
from prometheus_client import Gauge

from accounts import authentication, jobs
from accounts.errors import KeyRateLimited
from infrastructure import redis_errors
from infrastructure.limits import LimitsUnavailable
from infrastructure.requests.errors import ApiError, Unavailable
from infrastructure.write_behind import WriteBehindBuffer
from lookup.errors import ProfilePrivate
from presence.answer import members
from presence.errors import ChatNotFound, NotMember, PresenceUnavailable
from presence.streaming import watching
from presence.streaming.watching import GONE, PRESENCE, News, Watch

CONTENT_TYPE = "text/event-stream; charset=utf-8"
HEARTBEAT = 15.0  # seconds
LONGEST = 3600.0  # seconds; the client comes back
RENEWAL = 120.0  # seconds: how often a stream reads again what the chat server's events leave out
RENEWED_AT_ONCE = 4  # members whose banner one heartbeat reads again; those of larger streams take turns
MOST_MEMBERS = 100
MEMBERS_OF_A_PLACE = 10  # begun: what a stream counts as of the process's places, and as requests of its key
OWNERS_OF_A_PROCESS = 5  # who fill its places: one owner has a fifth of them
TAG = 12  # characters for each member in the id of an event
OPENING = b"retry: 3000\n\n"
BEAT = b": heartbeat\n\n"
CACHE_AWAY: tuple[type[Exception], ...] = (*redis_errors.AWAY, OSError)


@dataclass(frozen=True)
class KeyInUse:
    """The key of the request that opened a stream. `secret_hash`: as `hashing.digest` makes it."""

    key_id: int
    owner_id: str
    secret_hash: str
    permission: str


def places(count: int) -> int:
    """Return how many places of the process, and requests of the key, a stream of `count` members takes."""
    return max(1, -(-count // MEMBERS_OF_A_PLACE))


def event(news: News) -> bytes:
    """Return the bytes of an event. Only a presence has an id: a client that reconnects gets the presence."""
    tag = f" {news.tag}" if news.event == PRESENCE else ""
    return f"event: {news.event}\nid:{tag}\ndata: ".encode() + news.body + b"\n\n"


class OneMember:
    """The form of the stream of one member. It ends with the member's departure."""

    def opening(self, told: Mapping[int, News], last_event_id: str) -> bytes:
        """Return what is sent at first: what the client of `last_event_id` has not seen."""
        return OPENING + b"".join(event(news) for news in told.values() if news.tag != last_event_id)

    def events(self, changed: Mapping[int, News], told: Mapping[int, News]) -> bytes:
        """Return the events of `changed`, whose news are among `told`, the newest of all members."""
        return b"".join(map(event, changed.values()))

    def end(self, news: News) -> bytes:
        """Return the event that ends the stream with its key."""
        return event(news)

    def is_over(self, told: Mapping[int, News]) -> bool:
        """Return whether nothing can come any more."""
        return any(news.event == GONE for news in told.values())


class ManyMembers(OneMember):
    """The form of the stream of many: each event names its member, and no member ends it.

    The id of the last of several events is the state of all members: TAG characters of a digest for each, in the order
    of the ids. The others have none, so a client that is cut off between them still names the state before them.
    """

    def opening(self, told: Mapping[int, News], last_event_id: str) -> bytes:
        seen = last_event_id if len(last_event_id) == TAG * len(told) else ""  # of other ids, or forged: all is news
        tags = (seen[start : start + TAG] for start in range(0, TAG * len(told), TAG))
        return OPENING + self.events(
            {chat_id: news for (chat_id, news), tag in zip(told.items(), tags, strict=True) if tag != news.tag[:TAG]},
            told,
        )

    def events(self, changed: Mapping[int, News], told: Mapping[int, News]) -> bytes:
        blocks = [self._event(chat_id, news) for chat_id, news in changed.items()]
        if blocks:
            state = "".join(news.tag[:TAG] for news in told.values())
            blocks[-1] = f"id: {state}\n".encode() + blocks[-1]
        return b"".join(blocks)

    def end(self, news: News) -> bytes:
        return f"event: {news.event}\ndata: ".encode() + news.body + b"\n\n"

    def is_over(self, told: Mapping[int, News]) -> bool:
        return False

    def _event(self, chat_id: int, news: News) -> bytes:
        shown = b'"presence":' + news.body + b"}" if news.event == PRESENCE else news.body[1:]
        return f'event: {news.event}\ndata: {{"id":"{chat_id}",'.encode() + shown + b"\n\n"


ONE, MANY = OneMember(), ManyMembers()


class Asked(TypedDict):
    """What a stream is made of. `told`: the first news of each member, in the order of the events' ids. `unwatched`:
    members of which nothing new can come."""

    told: Mapping[int, News]
    key: KeyInUse
    last_event_id: str
    form: NotRequired[OneMember]
    unwatched: NotRequired[Sequence[int]]


class Stream(abc.ABC):
    """The stream of one reader; `close` it. Times are of the monotonic clock.

    Raises what `StreamSlot` raises.
    """

    def __init__(self, **asked: Unpack[Asked]) -> None:
        self._told = dict(asked["told"])
        self._key = asked["key"]
        self._form = asked.get("form", ONE)
        self._opening = self._form.opening(self._told, asked["last_event_id"])
        unwatched = frozenset(asked.get("unwatched", ()))
        self._watched = [chat_id for chat_id in self._told if chat_id not in unwatched]
        self._turns = itertools.cycle(self._watched)
        self._renewal = min(RENEWAL, RENEWAL * RENEWED_AT_ONCE / max(1, len(self._watched)))
        self._place = StreamSlot(self._key.key_id, self._key.owner_id, places(len(self._told)))
        self._watch: Watch | None = None
        self._seen: Mapping[int, News] | None = None
        self._is_over = False
        self._ends_at = self._beats_at = self._renews_at = 0.0

    def close(self) -> None:
        """End the stream. Idempotent."""
        self._is_over = True
        if self._watch is not None:
            watching.hub.leave(self._watch)
        self._close_place()

    def _close_place(self) -> None:
        self._place.close()

    @abc.abstractmethod
    def ring(self) -> None:
        """Wake the stream from the watching thread, as `step` may have something. Must not block."""

    def step(self, now: float) -> bytes | float | None:
        """Return what to send; the seconds to wait for a ring, 0 where `beat` is due; None at the end."""
        if self._is_over or (self._watch is not None and self._watch.is_over):
            return None
        if self._watch is None:
            self._watch = watching.hub.join(self._watched, self.ring)
            self._ends_at, self._beats_at, self._renews_at = now + LONGEST, now + HEARTBEAT, now + self._renewal
            return self._opening
        if changed := self._changed(self._watch.news):
            self._told.update(changed)
            self._is_over = self._form.is_over(self._told)
            return self._form.events(changed, self._told)
        return None if now >= self._ends_at else max(0.0, min(self._beats_at, self._ends_at) - now)

    def _changed(self, newest: Mapping[int, News]) -> dict[int, News]:
        """Return the news that were not sent."""
        if newest is self._seen:
            return {}
        self._seen = newest
        return {chat_id: news for chat_id, news in newest.items() if news != self._told[chat_id]}

    def beat(self, now: float) -> bytes:
        """Keep the slot, check the key again, and return what to send. Asks cache and database, so it may take long."""
        self._beats_at = now + HEARTBEAT
        try:
            refusal = self._refusal()
            lacking = self._watch.without_banner if self._watch is not None else ()
            if refusal is None and (now >= self._renews_at or lacking):
                self._renews_at = now + self._renewal
                self._renew([chat_id for chat_id in self._watched if chat_id in lacking])
        except (LimitsUnavailable, Unavailable, AnyDatabaseError) as error:
            logger.warning("A stream goes on although nobody can say whether it may: %s", jobs.described(error))
            return BEAT
        finally:
            jobs.close_connections()
        if refusal is None:
            return BEAT
        self._is_over = True
        return self._form.end(watching.of_error("closed", refusal))

    def _renew(self, lacking: Sequence[int]) -> None:
        """Read of a few members what a lookup renews; the watching thread sends the result. `lacking`: come first."""
        first = lacking[: RENEWED_AT_ONCE // 2]  # a banner that cannot be read keeps the others waiting no longer
        for chat_id in dict.fromkeys([*first, *itertools.islice(self._turns, RENEWED_AT_ONCE - len(first))]):
            # Of many, those that are shown: a lookup of another account asks the platform whether it is a member.
            if self._form is ONE or self._told[chat_id].event == PRESENCE:
                with contextlib.suppress(PresenceUnavailable, NotMember, ChatNotFound, ProfilePrivate):
                    members.presence_of(str(chat_id), timezone.now())

    def _refusal(self) -> ApiError | None:
        """Return why the stream may not go on."""
        key = self._key
        refusal = authentication.recheck(key.secret_hash, permission=key.permission, now=timezone.now())
        if refusal is None and not self._place.keep():
            return KeyRateLimited(seconds_left=SLOT_RETRY)
        return refusal


class BlockingStream(Stream):
    """A stream for WSGI, which waits in a thread of the server."""

    def __init__(self, **asked: Unpack[Asked]) -> None:
        super().__init__(**asked)
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

    def __init__(self, **asked: Unpack[Asked]) -> None:
        super().__init__(**asked)
        self._bell = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def ring(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._bell.set)

    def _close_place(self) -> None:
        self._place.close_soon()  # the server closes in the one thread that new requests need, too

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
CLOSED_WITHIN = 0.05  # seconds until a slot that is closed soon is free for its key
SLOT_RETRY = 15  # seconds, until another stream may have ended

logger = logging.getLogger(__name__)

OPEN = Gauge(
    "hearth_event_streams", "Event streams that are open; one for each ten members begun.", multiprocess_mode="livesum"
)
LIMIT = Gauge(
    "hearth_event_streams_limit",
    "Event streams that may be open: PRESENCE_STREAMS of each process.",
    multiprocess_mode="livesum",
)

_opening = threading.Lock()
_numbers = itertools.count()
_open: dict[int, tuple[str, int]] = {}  # the number of a stream -> owner and places


class ProcessFull(Unavailable):
    """This process holds as many streams as it may."""

    retry_after = SLOT_RETRY


class StreamSlot:
    """The slot of one stream, from its creation until `close`. `weight`: the places of this process that it takes.

    Raises ProcessFull, KeyRateLimited where the key has settings.PRESENCE_STREAMS_PER_KEY of them or its owner would
    have more than a fifth of the process's places, Unavailable where the cache does not answer.
    """

    def __init__(self, key_id: int, owner_id: str, weight: int) -> None:
        number = next(_numbers)
        LIMIT.set(settings.PRESENCE_STREAMS)
        with _opening:
            if in_use() + weight > settings.PRESENCE_STREAMS:
                OPEN.set(in_use())
                raise ProcessFull
            held, most = in_use(owner_id), settings.PRESENCE_STREAMS // OWNERS_OF_A_PROCESS
            if held and held + weight > most:  # the first stream of an owner may be larger
                raise KeyRateLimited(seconds_left=SLOT_RETRY)
            _open[number] = (owner_id, weight)
        # An answer that the server drops without closing it must not hold the place forever. No lock and no cache
        # here: the garbage collector may come while this very thread holds theirs.
        self._leave = weakref.finalize(self, _open.pop, number, None)
        self._leave.atexit = False
        self._key_id = key_id
        self._token = secrets.token_hex(8)
        self._name: str | None = None
        self._is_closed = False
        self._lock = threading.Lock()  # a server may close a stream while its heartbeat is under way
        try:
            with cache_errors_as_503():
                if not self._take():
                    raise KeyRateLimited(seconds_left=SLOT_RETRY)
        except BaseException:
            self._leave()
            raise
        OPEN.set(in_use())

    def keep(self) -> bool:
        """Hold the slot for SLOT_LIFETIME. False where it was lost and the key has none left. Raises Unavailable."""
        OPEN.set(in_use())
        with self._lock, cache_errors_as_503():
            if self._is_closed:
                return False
            if self._name is not None and cache.get(self._name) == self._token:
                cache.touch(self._name, SLOT_LIFETIME)
                return True
            return self._take()

    def close(self) -> None:
        """Release the slot. Idempotent."""
        self._leave_process()
        _give_back([self])

    def close_soon(self) -> None:
        """Release the places of the process now, and that of the key in another thread, which may wait for the cache.
        Idempotent."""
        self._leave_process()
        closing.note(self)

    def give_back(self) -> None:
        """Release the place of the key. Idempotent. Raises Unavailable."""
        with self._lock, cache_errors_as_503():
            name, self._name, self._is_closed = self._name, None, True
            if name is not None and cache.get(name) == self._token:
                cache.delete(name)

    def _leave_process(self) -> None:
        self._leave()
        OPEN.set(in_use())

    def _take(self) -> bool:
        for number in range(settings.PRESENCE_STREAMS_PER_KEY):
            name = f"stream:{self._key_id}:{number}"
            if cache.add(name, self._token, SLOT_LIFETIME):
                self._name = name
                return True
        self._name = None
        return False


def _give_back(slots: Sequence[StreamSlot]) -> None:
    """Release the places of keys. Where the cache does not answer once, the rest are left to expire."""
    try:
        for slot in slots:
            slot.give_back()
    except Unavailable:
        logger.warning("Places of streams could not be given back: they end by themselves.")


closing: WriteBehindBuffer[StreamSlot] = WriteBehindBuffer("stream places", _give_back, interval=CLOSED_WITHIN)


def in_use(owner_id: str | None = None) -> int:
    """Return how many of its places this process has given away, in all or to this owner."""
    given = _open.copy().values()  # the copy is one step: the garbage collector may take one away
    return sum(weight for owner, weight in given if owner_id in (None, owner))


@contextmanager
def cache_errors_as_503() -> Iterator[None]:
    """Raise Unavailable where the cache does not answer."""
    try:
        yield
    except CACHE_AWAY as error:
        raise Unavailable from error
