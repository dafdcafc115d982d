"""Tasks of several processes take turns in the order of their places; a failure ends the waiting."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from infrastructure import worker_processes
from infrastructure.worker_processes import TurnLost, Turns

pytestmark = pytest.mark.django_db(transaction=True)


def _write(path: Path, place: int) -> None:
    """The first task has the longest way to its turn."""
    with worker_processes.turn(place) as wait:
        time.sleep(0.3 if place == 0 else 0)
        wait()
        with path.open("a") as file:
            file.write(f"{place} ")


def _fail(place: int) -> None:
    with worker_processes.turn(place):
        raise KeyError


def test_tasks_end_in_the_order_of_their_places(tmp_path: Path) -> None:
    with worker_processes.pool(3, Turns()) as pool:
        for task in [pool.submit(_write, tmp_path / "order", place) for place in range(4)]:
            task.result()
    assert (tmp_path / "order").read_text() == "0 1 2 3 "


def test_tasks_after_one_that_failed_fail_too(tmp_path: Path) -> None:
    with worker_processes.pool(2, Turns()) as pool:
        failed, lost = pool.submit(_fail, 0), pool.submit(_write, tmp_path / "order", 1)
        with pytest.raises(KeyError):
            failed.result()
        with pytest.raises(TurnLost):
            lost.result(timeout=20)
    assert not (tmp_path / "order").exists()
