"""Many at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connections

Result = TypeVar("Result")


def together(count: int, act: Callable[[int], Result]) -> list[Result]:
    """Call `act(0)` to `act(count - 1)` in threads that start together; their results, in order.

    An exception of any call is raised. Each thread has database connections of its own, closed at its end.
    """
    barrier = threading.Barrier(count, timeout=30)

    def call(number: int) -> Result:
        barrier.wait()
        try:
            return act(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(call, range(count)))
