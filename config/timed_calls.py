"""Calls several functions at once, each group in a thread of its own, with one time limit for all."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connections

T = TypeVar("T")
Questions = Mapping[str, Callable[[], T]]

logger = logging.getLogger(__name__)


class Answered(NamedTuple, Generic[T]):
    """`answer`: None where the function has not returned yet, or failed."""

    answer: T | None
    milliseconds: int


class _Round(Generic[T]):
    """One run of a group of functions, one after the other, on one database connection."""

    def __init__(self, questions: Questions[T]) -> None:
        self.answers: dict[str, Answered[T]] = {}
        self.began_at = time.perf_counter()
        self.thread = threading.Thread(target=self._run, args=(questions,), name="questions", daemon=True)
        self.thread.start()

    def _run(self, questions: Questions[T]) -> None:
        try:
            for name, ask in questions.items():
                began_at = time.perf_counter()
                try:
                    answer = ask()
                except Exception:  # of one question: the others are answered
                    logger.exception("The question %s failed.", name)
                    continue
                self.answers[name] = Answered(answer, _milliseconds(began_at))
        finally:
            connections.close_all()


_rounds: dict[tuple[str, ...], _Round[Any]] = {}  # by the names of the questions, which belong to one caller
_lock = threading.Lock()


def ask(groups: Iterable[Questions[T]], *, limit: float) -> dict[str, Answered[T]]:
    """Return every answer after at most `limit` seconds.

    A function that hangs keeps one thread: until that ends, later calls share its answers.
    """
    give_up_at = time.perf_counter() + limit
    rounds = [(questions, _round(questions)) for questions in groups]
    found: dict[str, Answered[T]] = {}
    for questions, current in rounds:
        current.thread.join(max(give_up_at - time.perf_counter(), 0))
        done = dict(current.answers)
        found |= {name: done.get(name) or Answered(None, _milliseconds(current.began_at)) for name in questions}
    return found


def _round(questions: Questions[T]) -> _Round[T]:
    """Start a round, unless one of another request still runs."""
    key = tuple(questions)
    with _lock:
        current = _rounds.get(key)
        if current is None or not current.thread.is_alive():
            current = _rounds[key] = _Round(questions)
        return current


def _milliseconds(began_at: float) -> int:
    return round((time.perf_counter() - began_at) * 1000)
