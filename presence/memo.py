"""Remembers what texts of the store say: between two changes of a member, all who look it up read the same ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Said = TypeVar("Said")


class Memo(Generic[Key, Said]):
    """Of one process; threads may share it. Holds `most` answers, the latest ones, and never None: that is found out
    anew."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[Key, Said] = {}
        self._lock = threading.Lock()  # of writers

    def get(self, key: Key, read: Callable[[Key], Said | None]) -> Said | None:
        """What `read(key)` says, or said."""
        said = self._known.get(key)
        if said is None and (said := read(key)) is not None:
            self.keep(key, said)
        return said

    def known(self, key: Key) -> Said | None:
        """What was said last; None where it is not known (any more)."""
        return self._known.get(key)

    def keep(self, key: Key, said: Said) -> None:
        with self._lock:
            if key not in self._known and len(self._known) >= self._most:
                del self._known[next(iter(self._known))]  # what was kept first
            self._known[key] = said
