"""Processes that share the work of a command."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

from django.db import connection

MOST = 4


def number() -> int:
    """One for each core, at most MOST."""
    return min(MOST, os.cpu_count() or 1)


def may_fork() -> bool:
    """Other processes see no open transaction, SQLite has one writer, and forks are safe on Linux alone, from the
    thread of the command."""
    is_command = sys.platform == "linux" and threading.current_thread() is threading.main_thread()
    return is_command and connection.vendor == "postgresql" and not connection.in_atomic_block


@contextmanager
def pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Forked processes, each with its own connection to the database. The caller's is closed and opens again.

    What has not begun when an exception leaves the block is cancelled.
    """
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL has it
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as found:
        found.submit(int).result()  # all of them start with the first task, while no connection is open
        try:
            yield found
        except BaseException:
            found.shutdown(cancel_futures=True)
            raise
