"""The population grows to a number of members, in steps that can be stopped and taken up again."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from lookup import badge_catalog
from lookup.population import awards, batches, shelves

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

    Each batch is a transaction of its own. `report` is called after each.
    """
    prepare()
    badges, made = awards.catalogue(), 0
    with _rare_collections():
        for first in range(0, users, BATCH):
            numbers = range(first, min(first + BATCH, users))
            made += batches.make(seed, numbers, badges, now)
            gc.collect()
            if report is not None:
                report(Progress(users, numbers.stop, made))
    return made


@contextmanager
def _rare_collections() -> Iterator[None]:
    """A batch is some hundred thousand objects that all live until its end: looking for garbage among them all the
    time takes a quarter of it, so that is done between batches."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
