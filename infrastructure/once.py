"""What a process makes once, at its first use."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Once(Protocol[P, R_co]):
    """A function that keeps its results until `cache_clear`, which tests call."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def cache_clear(self) -> None: ...


def once(make: Callable[P, R]) -> Once[P, R]:
    """Decorator that keeps the result for each set of arguments. Concurrent first calls make it once; later ones take
    no lock.

    `functools.cache` lets each of them make a result of its own. That suits what is pure, not a store, a pool or a
    lock, and no library that is used by one thread at a time.
    """
    lock = threading.RLock()
    made = functools.cache(make)

    @functools.cache
    @functools.wraps(make)
    def kept(*args: P.args, **kwargs: P.kwargs) -> R:
        with lock:
            return cast("Callable[P, R]", made)(*args, **kwargs)

    clear_kept = kept.cache_clear

    def clear() -> None:
        made.cache_clear()
        clear_kept()

    kept.cache_clear = clear  # type: ignore[method-assign]
    return cast("Once[P, R]", kept)
