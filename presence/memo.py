"""Work that the threads of a process share: results that are remembered, and calls that are under way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class Memo(Generic[Key, Result]):
    """Remembers the latest `most` results, but not None. Between two changes of a member all its readers read the same
    texts of the store."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[Key, Result] = {}
        self._lock = threading.Lock()  # of writers

    def get(self, key: Key, read: Callable[[Key], Result | None]) -> Result | None:
        """The result of `read(key)`, remembered or new."""
        result = self._known.get(key)
        if result is None and (result := read(key)) is not None:
            self.keep(key, result)
        return result

    def known(self, key: Key) -> Result | None:
        """The remembered result, or None."""
        return self._known.get(key)

    def keep(self, key: Key, result: Result) -> None:
        with self._lock:
            if key not in self._known and len(self._known) >= self._most:
                del self._known[next(iter(self._known))]  # the oldest
            self._known[key] = result


class SingleFlight(Generic[Result]):
    """Concurrent calls for the same key become one call, whose result all callers share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flying: dict[Hashable, Future[Result]] = {}

    def join(self, key: Hashable, act: Callable[[], Result]) -> Result:
        """Return or raise the result of `act()`, or that of the call for `key` that is under way."""
        with self._lock:
            flight = self._flying.get(key)
            is_ours = flight is None
            if flight is None:
                flight = self._flying[key] = Future()
        if not is_ours:
            return flight.result()
        try:
            flight.set_result(act())
        except BaseException as error:  # every caller gets it
            flight.set_exception(error)
        finally:
            with self._lock:
                del self._flying[key]
        return flight.result()
