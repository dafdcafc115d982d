"""A cache that also keeps a lease, and takes the writes of the lease's holder alone.

The lease and what it guards lie on one server, and that server's clock alone says when the lease ends. So the clocks of
the workers' hosts take no part, and a write that arrives after another worker took the lease changes nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.core.cache.backends.base import BaseCache

if TYPE_CHECKING:
    from accounts.redis_connection import Command


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
