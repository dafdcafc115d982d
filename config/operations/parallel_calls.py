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
    """`value`: None where the function has not returned yet, or failed. `ended_at`: on the clock of `perf_counter`."""

    value: T | None
    milliseconds: int
    ended_at: float


class _Run(Generic[T]):
    """One run of a group of functions, one after the other, on one database connection. `earlier`: of the last run."""

    def __init__(self, calls: Calls[T], earlier: Mapping[str, Outcome[T]]) -> None:
        self.outcomes: dict[str, Outcome[T]] = {}
        self.earlier = earlier
        self.began_at = time.perf_counter()
        self.thread = threading.Thread(target=self._run, args=(calls,), name="timed-calls", daemon=True)
        self.thread.start()

    def outcome_of(self, name: str, *, remembered: float) -> Outcome[T]:
        """Return what this run found; else what the last one found, unless that is older than `remembered` seconds."""
        found = self.outcomes.get(name) or self.earlier.get(name)
        if found and (name in self.outcomes or time.perf_counter() - found.ended_at < remembered):
            return found
        return _ended(None, self.began_at)

    def _run(self, calls: Calls[T]) -> None:
        try:
            for name, call in calls.items():
                began_at, value = time.perf_counter(), None
                try:
                    value = call()
                except Exception:  # of one call: the rest go on
                    logger.exception("The check %s failed.", name)
                self.outcomes[name] = _ended(value, began_at)
        finally:
            connections.close_all()


_runs: dict[tuple[str, ...], _Run[Any]] = {}  # by caller and names of the calls
_lock = threading.Lock()


def run(
    groups: Iterable[Calls[T]], *, caller: str, limit: float, kept: float = 0, remembered: float = 0
) -> dict[str, Outcome[T]]:
    """Return the outcome of every call after at most `limit` seconds. `caller`: shares no runs with other callers.

    A function that hangs keeps one thread: until that ends, no run starts, and later calls share its outcomes. `kept`:
    seconds for which a run that has ended answers later calls. `remembered`: seconds for which the outcome of the last
    run is returned for one that has not ended.
    """
    give_up_at = time.perf_counter() + limit
    runs: list[tuple[Calls[T], _Run[T]]] = []
    for calls in groups:
        key = (caller, *calls)
        with _lock:
            current = _runs.get(key)
            if current is None:
                current = _runs[key] = _Run(calls, {})
            elif not current.thread.is_alive():
                ended_at = max((outcome.ended_at for outcome in current.outcomes.values()), default=0.0)
                if time.perf_counter() - ended_at >= kept:
                    current = _runs[key] = _Run(calls, current.outcomes)
        runs.append((calls, current))
    found: dict[str, Outcome[T]] = {}
    for calls, current in runs:
        current.thread.join(max(give_up_at - time.perf_counter(), 0))
        found |= {name: current.outcome_of(name, remembered=remembered) for name in calls}
    return found


def _ended(value: T | None, began_at: float) -> Outcome[T]:
    now = time.perf_counter()
    return Outcome(value, round((now - began_at) * 1000), now)
