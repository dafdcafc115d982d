"""Many at the same moment."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection, connections

Result = TypeVar("Result")
GIVE_UP = 10  # seconds


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


def wait_for_a_blocked_statement() -> None:
    """Return once another connection waits for a lock of this one. AssertionError after GIVE_UP seconds."""
    give_up_at = time.monotonic() + GIVE_UP
    blocked = False
    while not blocked:
        assert time.monotonic() < give_up_at, "No statement waits for this one."
        with connection.cursor() as cursor:
            # Of all locks of the server: the databases of other tests that run now are there, too.
            cursor.execute(
                "SELECT EXISTS (SELECT 1 FROM pg_locks"
                " WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
            )
            (blocked,) = cursor.fetchone()
        time.sleep(0.005)
