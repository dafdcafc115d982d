"""Concurrent calls for the same key become one call, whose result all callers share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Per process."""

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
