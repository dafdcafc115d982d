"""What a process makes once, at its first use."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


class Once(Generic[P, R]):
    """Decorator that keeps the result for each set of arguments. Concurrent first calls make it once.

    `functools.cache` lets each of them make a result of its own. That suits what is pure, not a store, a pool or a
    lock, and no library that is used by one thread at a time.
    """

    def __init__(self, make: Callable[P, R]) -> None:
        functools.update_wrapper(self, make)
        self._lock = threading.RLock()
        kept = functools.cache(make)
        self._kept, self.cache_clear = cast("Callable[P, R]", kept), kept.cache_clear

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            return self._kept(*args, **kwargs)
