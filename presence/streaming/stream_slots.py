"""Limits of open event streams: for each key across all processes, and for this process.

The slots of a key are names in Django's cache that expire, so a crashed process frees its slots.
"""

from __future__ import annotations

import itertools
import logging
import secrets
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.cache import cache
from django_redis.exceptions import ConnectionInterrupted
from prometheus_client import Gauge
from redis import RedisError

from accounts.errors import KeyRateLimited
from infrastructure.requests.errors import Unavailable

LIFETIME = 45  # seconds that a name in the cache outlives its last `keep`: three heartbeats
RETRY = 15  # seconds, until another stream may have ended

logger = logging.getLogger(__name__)

STREAMS = Gauge("hearth_event_streams", "Event streams that are open.", multiprocess_mode="livesum")
LIMIT = Gauge(
    "hearth_event_streams_limit",
    "Event streams that may be open: PRESENCE_STREAMS of each process.",
    multiprocess_mode="livesum",
)

_lock = threading.Lock()
_numbers = itertools.count()
_open: set[int] = set()


class ProcessFull(Unavailable):
    """This process holds as many streams as it may."""

    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(RETRY)}


class StreamSlot:
    """The slot of one stream, from its creation until `close`.

    Raises ProcessFull, KeyRateLimited where the key has settings.PRESENCE_STREAMS_PER_KEY of them, Unavailable where
    the cache does not answer.
    """

    def __init__(self, key_id: int) -> None:
        number = next(_numbers)
        LIMIT.set(settings.PRESENCE_STREAMS)
        with _lock:
            if len(_open) >= settings.PRESENCE_STREAMS:
                STREAMS.set(len(_open))
                raise ProcessFull
            _open.add(number)
        # An answer that the server drops without closing it must not hold the place for ever. No lock and no cache
        # here: the garbage collector may come while this very thread holds theirs.
        self._leave = weakref.finalize(self, _open.discard, number)
        self._leave.atexit = False
        self._key_id = key_id
        self._token = secrets.token_hex(8)
        self._name: str | None = None
        self._is_closed = False
        self._lock = threading.Lock()  # a server may close a stream while its heartbeat is under way
        try:
            with _answering():
                if not self._take():
                    raise KeyRateLimited(seconds_left=RETRY)
        except BaseException:
            self._leave()
            raise
        STREAMS.set(in_use())

    def keep(self) -> bool:
        """Hold the slot for another LIFETIME. False where it was lost and the key has none left. Raises Unavailable."""
        STREAMS.set(in_use())
        with self._lock, _answering():
            if self._is_closed:
                return False
            if self._name is not None and cache.get(self._name) == self._token:
                cache.touch(self._name, LIFETIME)
                return True
            return self._take()

    def close(self) -> None:
        """Release the slot. Idempotent."""
        self._leave()
        STREAMS.set(in_use())
        try:
            with self._lock, _answering():
                name, self._name, self._is_closed = self._name, None, True
                if name is not None and cache.get(name) == self._token:
                    cache.delete(name)
        except Unavailable:
            logger.warning("A stream's place could not be given back: it ends by itself.")

    def _take(self) -> bool:
        for number in range(settings.PRESENCE_STREAMS_PER_KEY):
            name = f"stream:{self._key_id}:{number}"
            if cache.add(name, self._token, LIFETIME):
                self._name = name
                return True
        self._name = None
        return False


def in_use() -> int:
    """Return how many streams this process holds."""
    return len(_open)


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except (RedisError, ConnectionInterrupted, OSError) as error:
        raise Unavailable from error
