"""Processes that share the work of a command."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

from django.db import connection

MOST = 4


def number() -> int:
    """Return the number of processes: one for each core, at most MOST."""
    return min(MOST, os.cpu_count() or 1)


def may_fork() -> bool:
    """Return whether forks are safe here: on Linux only, from the main thread, outside of a transaction, which other
    processes do not see, and not on SQLite, which has one writer."""
    is_command = sys.platform == "linux" and threading.current_thread() is threading.main_thread()
    return is_command and connection.vendor == "postgresql" and not connection.in_atomic_block


class TurnLost(Exception):
    """An earlier task failed; its own exception holds the cause."""


class Turns:
    """The number of the task that may run next, shared by processes; LOST after one failed."""

    LOST = -1

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self.changed, self.place = context.Condition(), context.Value("q", 0)

    def wait(self, place: int) -> None:
        """Wait until the tasks of the places before have ended. Raises TurnLost if one of them failed."""
        with self.changed:
            self.changed.wait_for(lambda: self.place.value in {place, self.LOST})
        if self.place.value == self.LOST:
            raise TurnLost

    def set(self, place: int) -> None:
        with self.changed:
            self.place.value = place
            self.changed.notify_all()


_TURNS: list[Turns] = []  # of this process


@contextmanager
def turn(place: int) -> Iterator[Callable[[], None]]:
    """Give a task of a pool with `Turns` a function that waits for the tasks before it. The next task's turn comes when
    the block ends."""
    turns = _TURNS[-1]
    try:
        yield lambda: turns.wait(place)
    except BaseException:
        turns.set(Turns.LOST)
        raise
    turns.set(place + 1)


@contextmanager
def pool(processes: int, *turns: Turns) -> Iterator[ProcessPoolExecutor]:
    """Start forked processes, each with its own connection to the database. The caller's is closed and opens again.

    What has not begun when an exception leaves the block is cancelled.
    """
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL has it
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, context, _TURNS.extend, (turns,)) as found:
        found.submit(int).result()  # all of them start with the first task, while no connection is open
        try:
            yield found
        except BaseException:
            found.shutdown(cancel_futures=True)
            raise
