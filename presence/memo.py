"""Remembers what texts of the store say: between two changes of a member, all who look it up read the same ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Said = TypeVar("Said")


class Memo(Generic[Key, Said]):
    """Of one process; threads may share it. Holds `most` answers at most, and never None: that is found out anew."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[Key, Said] = {}

    def get(self, key: Key, read: Callable[[Key], Said | None]) -> Said | None:
        """What `read(key)` says, or said."""
        said = self._known.get(key)
        if said is None and (said := read(key)) is not None:
            if len(self._known) >= self._most:
                self._known.clear()
            self._known[key] = said
        return said
