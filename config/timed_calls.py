"""Calls several functions at once, each group in a thread of its own, with one time limit for all."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connections

T = TypeVar("T")
Calls = Mapping[str, Callable[[], T]]

logger = logging.getLogger(__name__)


class Outcome(NamedTuple, Generic[T]):
    """`value`: None where the function has not returned yet, or failed."""

    value: T | None
    milliseconds: int


class _Run(Generic[T]):
    """One run of a group of functions, one after the other, on one database connection."""

    def __init__(self, calls: Calls[T]) -> None:
        self.outcomes: dict[str, Outcome[T]] = {}
        self.began_at = time.perf_counter()
        self.thread = threading.Thread(target=self._run, args=(calls,), name="timed-calls", daemon=True)
        self.thread.start()

    def _run(self, calls: Calls[T]) -> None:
        try:
            for name, call in calls.items():
                began_at = time.perf_counter()
                try:
                    value = call()
                except Exception:  # of one call: the others go on
                    logger.exception("The check %s failed.", name)
                    continue
                self.outcomes[name] = Outcome(value, _milliseconds(began_at))
        finally:
            connections.close_all()


_runs: dict[tuple[str, ...], _Run[Any]] = {}  # by the names of the calls, which belong to one caller
_lock = threading.Lock()


def run(groups: Iterable[Calls[T]], *, limit: float) -> dict[str, Outcome[T]]:
    """Return the outcome of every call after at most `limit` seconds.

    A function that hangs keeps one thread: until that ends, later calls share its outcomes.
    """
    give_up_at = time.perf_counter() + limit
    runs = [(calls, _run_of(calls)) for calls in groups]
    found: dict[str, Outcome[T]] = {}
    for calls, current in runs:
        current.thread.join(max(give_up_at - time.perf_counter(), 0))
        done = dict(current.outcomes)
        found |= {name: done.get(name) or Outcome(None, _milliseconds(current.began_at)) for name in calls}
    return found


def _run_of(calls: Calls[T]) -> _Run[T]:
    """Start a run, unless one of another request still goes on."""
    key = tuple(calls)
    with _lock:
        current = _runs.get(key)
        if current is None or not current.thread.is_alive():
            current = _runs[key] = _Run(calls)
        return current


def _milliseconds(began_at: float) -> int:
    return round((time.perf_counter() - began_at) * 1000)
