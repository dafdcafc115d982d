"""What the presence store needs of the cache that holds it: `StoreCache`, with two forms.

| Form | For | A write of the worker is one step |
| --- | --- | --- |
| `redis_cache.PresenceRedisCache` | production | a script on Redis |
| `database_cache.PresenceDatabaseCache` | the embedded default | a transaction that locks the lease's row |

Both raise what their server raises; `answering` turns that into StoreUnavailable. `tests/presence/test_store*.py` and
`test_lease.py` hold both forms to one contract.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.core.cache.backends.base import BaseCache
from django.db import Error as AnyDatabaseError

from infrastructure import redis_errors
from infrastructure.requests.request_context import Prefetch

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


# What both forms raise where their server does not do what they ask.
UNAVAILABLE: tuple[type[Exception], ...] = (*redis_errors.AWAY, AnyDatabaseError, OSError)


class StoreUnavailable(Exception):
    """The cache did not answer, or did not keep a write. The message holds no secrets."""


class LeaseLost(Exception):
    """The store refused a write: the lease ended, or another term has begun."""


class StoreCache(ABC, BaseCache):
    """Django's cache, and a lease that guards writes.

    `lease`: the key of the lease. `token`: names one holder's one term; no two terms share a token. `get_many` is one
    round trip. Any, here and in the forms: a cache's value.
    """

    @abstractmethod
    def take(self, lease: str, token: str, seconds: float) -> bool:
        """Take a free lease for so long. Return False where it is held."""

    @abstractmethod
    def renew(self, lease: str, token: str, seconds: float) -> bool:
        """Hold the lease for so long from now. Return False where it ended or is another term's."""

    @abstractmethod
    def release(self, lease: str, token: str) -> None:
        """Free the lease if it is this term's."""

    @abstractmethod
    def write_as(
        self, lease: str, token: str, values: Mapping[str, Any], removed: Collection[str], timeout: float | None
    ) -> bool:
        """Keep `values` for `timeout` seconds (None: without end) and delete `removed`, all in one transaction.

        Return False, with nothing changed, where the lease ended or is another term's.
        """

    def prefetch(self, names: Sequence[str]) -> Prefetch | None:
        """Return the read of `raw`, where the check of an API key can send it along."""
        return None

    def raw(self, names: Sequence[str]) -> Sequence[Any]:
        """Return the values as the server holds them, None for absent ones. 1 round trip."""
        found = self.get_many(names)
        return [found.get(name) for name in names]

    def decoded(self, names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
        """Return what `get_many` returns, from the answer of `raw`."""
        return {name: value for name, value in zip(names, values, strict=True) if value is not None}

    def eviction(self) -> str:
        """Return the policy under which the server drops values when it is short of memory; "" where it drops none."""
        return ""

    def clear_expired(self, after_batch: Callable[[], None] = lambda: None) -> int:
        """Delete what has expired, where the server does not do so by itself. Return how many entries."""
        return 0


@contextmanager
def answering() -> Iterator[None]:
    try:
        yield
    except UNAVAILABLE as error:
        from accounts import jobs  # it needs models, and a cache may be made before they are loaded

        if isinstance(error, AnyDatabaseError):
            jobs.let_go_of_connections()  # a broken one would fail each time
        raise StoreUnavailable(jobs.described(error)) from error
