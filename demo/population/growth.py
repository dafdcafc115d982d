"""Grow the population to a number of members, in steps that can be interrupted and resumed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from demo.population import awards, batches, catalogue_data
from demo.population.batches import Batch
from infrastructure import worker_processes
from infrastructure.databases import bulk
from infrastructure.worker_processes import Turns
from lookup.editing import badge_tiers
from lookup.models import Badge

BATCH = 500
Badges = dict[str, Badge]


@dataclass(frozen=True)
class Progress:
    """Of `users`, `done` exist; `made` of them are new."""

    users: int
    done: int
    made: int


def prepare() -> None:
    """Fill the catalogues: badges, games, anime, media, music."""
    badge_tiers.load_missing()
    catalogue_data.fill()


def grow(
    *,
    users: int,
    now: datetime,
    seed: int = 1,
    report: Callable[[Progress], None] | None = None,
    processes: int | None = None,
) -> int:
    """Make the missing ones of the first `users` members of this seed; return their number.

    Each batch is a transaction of its own. `processes` fill batches while the next ones are admitted, and write them in
    their order; without it one for each core, where `worker_processes.may_fork`. The members do not depend on it.
    `report` is called after each batch.
    """
    prepare()
    made, ahead = 0, deque[Batch]()
    processes = (processes or worker_processes.number()) if users > BATCH and worker_processes.may_fork() else 1
    with bulk.rare_collections(), _finisher(processes) as finish:
        for first in range(0, users, BATCH):
            numbers = range(first, min(first + BATCH, users))
            batch = batches.admit(seed, numbers, now, after=ahead)
            finish(batch)
            ahead.append(batch)
            made += len(batch.members)
            if len(ahead) > processes:
                ahead.popleft()
            if report is not None:
                report(Progress(users, numbers.stop, made))
    return made


@contextmanager
def _finisher(processes: int) -> Iterator[Callable[[Batch], None]]:
    """Return a function that fills and writes a batch: at once, or in one of several processes, which have finished all
    but the last `processes` batches when it returns, and all of them at the end."""
    badges = awards.catalogue()
    if processes == 1:
        yield lambda batch: _finish(batch, badges)
        return
    turns, pending, place = Turns(), deque[Future[None]](), 0

    def finish(batch: Batch) -> None:
        nonlocal place
        pending.append(pool.submit(_finish_in_turn, batch, badges, place))
        place += 1
        if len(pending) > processes:
            pending.popleft().result()

    with worker_processes.pool(processes, turns) as pool:
        yield finish
        while pending:
            pending.popleft().result()


def _finish(batch: Batch, badges: Badges) -> None:
    if batch.members:
        batches.fill(batch, badges)
        batches.write(batch)


def _finish_in_turn(batch: Batch, badges: Badges, place: int) -> None:
    """Fill and write a batch in another process, after earlier batches, whose members it names."""
    with worker_processes.turn(place) as wait:
        if batch.members:
            batches.fill(batch, badges)
        wait()
        if batch.members:
            batches.write(batch)
