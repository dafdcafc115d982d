"""Access to the cache behind the presence store, in which every failure is an exception: never silence."""

from __future__ import annotations

import logging
import pickle
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from django.core.cache.backends.base import BaseCache
from django.db import Error as AnyDatabaseError
from django_redis.exceptions import ConnectionInterrupted
from redis import RedisError

LEASE = "lease"
LEASE_SECONDS = 5.0  # after a crash, this long until another worker may write
# What a cache raises for a value that it cannot read: unpickling may end in any of these.
DAMAGED = (
    ArithmeticError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    pickle.PickleError,
    TypeError,
    ValueError,
)

logger = logging.getLogger(__name__)


class StoreUnavailable(Exception):
    """The cache did not answer, or did not keep a write. The message holds no secrets."""


class LeaseLost(Exception):
    """The store refused a write: the lease ended, or another term has begun."""


class CheckedCache:
    """`token`: of a worker's term (`presence.lease`)."""

    def __init__(self, cache: BaseCache) -> None:
        self._cache = cast("FencedCache", cache)

    def take_lease(self, token: str) -> bool:
        """Begin a term where no other one runs."""
        with answering():
            return self._cache.take(LEASE, token, LEASE_SECONDS)

    def renew_lease(self, token: str) -> bool:
        """Whether the term goes on, for LEASE_SECONDS from now."""
        with answering():
            return self._cache.renew(LEASE, token, LEASE_SECONDS)

    def release_lease(self, token: str) -> None:
        with answering():
            self._cache.release(LEASE, token)

    def eviction(self) -> str:
        """The policy under which the server may evict records; "" where it never does."""
        with answering():
            return self._cache.eviction()

    def _read(self, keys: Sequence[str]) -> dict[str, Any]:
        """What is there of these, with one `get_many`. A value that the cache cannot read is logged and deleted."""
        with answering():
            try:
                return self._cache.get_many(keys)
            except DAMAGED:
                return {key: value for key in keys if (value := self._read_one(key)) is not None}

    def _read_one(self, key: str) -> Any:
        try:
            return self._cache.get(key)
        except DAMAGED as error:
            logger.warning("%s of the presence store is damaged: %s.", key, type(error).__name__)
            self._cache.delete(key)
            return None

    def _write_as(
        self, token: str, values: Mapping[str, str | int], gone: Collection[str], lifetime: int | None
    ) -> None:
        with answering():
            is_done = not (values or gone) or self._cache.write_as(LEASE, token, values, gone, lifetime)
        if not is_done:
            raise LeaseLost("The lease of the presence worker ended.")

    def _set(self, key: str, value: str | int, lifetime: int | None) -> None:
        with answering():
            self._cache.set(key, value, lifetime)


@contextmanager
def answering() -> Iterator[None]:
    try:
        yield
    except (RedisError, ConnectionInterrupted, AnyDatabaseError, OSError) as error:
        from accounts import jobs  # it needs models, and a store may be opened before they are loaded

        if isinstance(error, AnyDatabaseError):
            jobs.let_go_of_connections()  # a broken one would fail each time
        raise StoreUnavailable(jobs.described(error)) from error


if TYPE_CHECKING:
    from accounts.databases.redis_connection import Command


class FencedCache(ABC, BaseCache):
    """`lease`: the key of the lease. `token`: names one holder's one term; no two terms share a token."""

    @abstractmethod
    def take(self, lease: str, token: str, seconds: float) -> bool:
        """Take a free lease for so long. Return False where it is held."""

    @abstractmethod
    def renew(self, lease: str, token: str, seconds: float) -> bool:
        """Hold the lease for so long from now. Return False where it ended or is another term's."""

    @abstractmethod
    def release(self, lease: str, token: str) -> None:
        """Free the lease if it is this term's."""

    def reading(self, names: Sequence[str]) -> Command | None:
        """The command that reads these where the limits are counted on the same server; None: that cannot be."""
        return None

    def read(self, names: Sequence[str], reply: Sequence[Any]) -> dict[str, Any]:
        """What the reply to `reading` says, as `get_many`. Without such a command: asks anew. Any: a cache's values."""
        return self.get_many(names)

    def eviction(self) -> str:
        """The policy under which the server drops values when it is short of memory; "" where it drops none."""
        return ""

    @abstractmethod
    def write_as(
        self, lease: str, token: str, values: Mapping[str, Any], gone: Collection[str], timeout: float | None
    ) -> bool:
        """Keep `values` for `timeout` seconds (None: without end) and delete `gone`, all in one transaction.

        Return False, with nothing changed, where the lease ended or is another term's. Any: a cache's value.
        """
