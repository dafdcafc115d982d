"""When the gateway worker may begin another session, of which the platform grants a thousand a day."""

from __future__ import annotations

import pytest

from presence.gateway.hikari_feed import Starts
from presence.intervals import Intervals

DAY = 86_400


def begun_in(seconds: float, *, lasting: float, left: int | None = None) -> int:
    """How many sessions begin in this time, where each ends so long after its beginning."""
    starts, now, count = Starts(Intervals()), 1000.0, 0
    while now < 1000 + seconds:
        assert starts.seconds_to_wait(now, left) == 0
        starts.begin(now)
        starts.be_ready(now)
        count += 1
        now += lasting
        starts.lose(now)
        now += starts.seconds_to_wait(now, left) + 0.001
    return count


@pytest.mark.parametrize("lasting", [0, 1, 30, 59])
def test_a_day_of_short_sessions_costs_less_than_a_third_of_the_budget(lasting: float) -> None:
    assert begun_in(DAY, lasting=lasting) < 310


@pytest.mark.parametrize("lasting", [0, 59, 61, 600])
def test_a_hundred_sessions_are_enough_for_a_day(lasting: float) -> None:
    assert begun_in(DAY, lasting=lasting, left=99) <= 97


def test_pauses_grow_and_a_session_that_lasts_ends_them() -> None:
    starts, now, pauses = Starts(Intervals()), 0.0, []
    for _ in range(10):
        starts.begin(now)
        pauses.append(starts.seconds_to_wait(now, None))
        now += pauses[-1]
    assert pauses == [0, 0, 10, 20, 40, 80, 160, 300, 300, 300]
    starts.be_ready(now)
    assert [starts.lose(now + 59), starts.seconds_to_wait(now + 59, None)] == [False, 0]
    starts.begin(now)
    starts.be_ready(now)
    assert [starts.lose(now + 10), starts.lose(now + 60)] == [False, True]  # resumed in between
    starts.begin(now + 60)
    assert starts.seconds_to_wait(now + 60, None) == 0


def test_what_never_became_ready_counts_too() -> None:
    starts = Starts(Intervals())
    for _ in range(3):
        starts.begin(50)
        assert starts.lose(500) is False
    assert starts.seconds_to_wait(55, None) == 5


@pytest.mark.parametrize(("left", "seconds"), [(None, 0), (100, 0), (99, 900), (0, 900)])
def test_the_last_99_sessions_of_a_day_are_saved(left: int | None, seconds: float) -> None:
    starts = Starts(Intervals())
    assert starts.seconds_to_wait(1000, left) == 0  # the first one of a process
    starts.begin(1000)
    assert starts.seconds_to_wait(1000, left) == seconds
