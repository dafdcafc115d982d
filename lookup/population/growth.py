"""The population grows to a number of members, in steps that can be stopped and taken up again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from lookup import badge_catalog, bulk
from lookup.population import awards, batches, shelves
from lookup.population.batches import Batch

BATCH = 500


@dataclass(frozen=True)
class Progress:
    """Of `users`, `done` are there; `made` of them are new."""

    users: int
    done: int
    made: int


def prepare() -> None:
    """The catalogues: badges, games, anime, media, music."""
    badge_catalog.load_missing()
    shelves.fill()


def grow(*, users: int, now: datetime, seed: int = 1, report: Callable[[Progress], None] | None = None) -> int:
    """Make those of the first `users` members of this seed that are missing; how many that were.

    Each batch is a transaction of its own, and written while the next one is made. `report` is called after each.
    """
    prepare()
    badges, made, batch = awards.catalogue(), 0, Batch()
    with bulk.rare_collections(), _writer() as write:
        for first in range(0, users, BATCH):
            numbers = range(first, min(first + BATCH, users))
            batch = batches.prepare(seed, numbers, badges, now, after=batch)
            write(batch)
            made += len(batch.members)
            if report is not None:
                report(Progress(users, numbers.stop, made))
    return made


@contextmanager
def _writer() -> Iterator[Callable[[Batch], None]]:
    """A function that writes a batch after the one before, in a thread of its own where the database lets another
    connection write meanwhile; the last one is written at the end."""
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        yield batches.write
        return
    pending: list[Future[None]] = []

    def write(batch: Batch) -> None:
        while pending:
            pending.pop().result()
        pending.append(thread.submit(batches.write, batch))

    with ThreadPoolExecutor(1) as thread:
        try:
            yield write
            while pending:
                pending.pop().result()
        finally:
            thread.submit(connection.close)
