"""Calls for the same thing that come at the same moment are one call, whose end all of them share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Flights(Generic[Result]):
    """Of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flying: dict[Hashable, Future[Result]] = {}

    def join(self, key: Hashable, act: Callable[[], Result]) -> Result:
        """What `act()` answers or raises; where such a call is under way for `key`, what that one does."""
        with self._lock:
            flight = self._flying.get(key)
            is_ours = flight is None
            if flight is None:
                flight = self._flying[key] = Future()
        if not is_ours:
            return flight.result()
        try:
            flight.set_result(act())
        except BaseException as error:  # whatever it is, each of the callers gets it
            flight.set_exception(error)
        finally:
            with self._lock:
                del self._flying[key]
        return flight.result()
