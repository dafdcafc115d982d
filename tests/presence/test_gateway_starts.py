"""When the gateway worker may begin another session, of which the platform grants a thousand a day."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from presence.pace import Pace, Starts
from presence.simulator import running
from presence.simulator.running import Simulator
from tests.presence.feeds import READY, Listener, listening
from tests.presence.workers import wait_until

pytestmark = pytest.mark.once

DAY = 86_400


def begun_in(seconds: float, *, lasting: float, left: int | None = None) -> int:
    """How many sessions begin in this time, where each ends so long after its beginning."""
    starts, now, count = Starts(Pace()), 1000.0, 0
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
    starts, now, pauses = Starts(Pace()), 0.0, []
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
    starts = Starts(Pace())
    for _ in range(3):
        starts.begin(50)
        assert starts.lose(500) is False
    assert starts.seconds_to_wait(55, None) == 5


# --- Over real sockets ---


@pytest.fixture
def platform() -> Iterator[Simulator]:
    with running.simulator() as started:
        yield started


def _spend(platform: Simulator, listener: Listener, *, until: int) -> None:
    """End each session at once, until so many have begun."""
    for begun in range(1, until):
        wait_until(lambda begun=begun: listener.sessions().count(READY) == begun)  # type: ignore[misc]  # bound early
        platform.invalidate(resumable=False)
    wait_until(lambda: listener.sessions().count(READY) == until)


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [entry.message for entry in caplog.records if entry.name == "presence.hikari_feed"]


def test_sessions_that_end_at_once_begin_more_and_more_seldom(
    platform: Simulator, caplog: pytest.LogCaptureFixture
) -> None:
    with listening(platform, Pace(first_pause=0.1, session_pause=250.0)) as listener:
        _spend(platform, listener, until=3)
        platform.invalidate(resumable=False)
        wait_until(lambda: _warnings(caplog))
        assert platform.counters.identifies == 3
    assert [warning[:-6] for warning in _warnings(caplog)] == [
        "The gateway's sessions end too soon: the next one begins in "
    ]
    assert [entry.message for entry in caplog.records if entry.name == "asyncio"] == []


def test_after_the_pause_the_next_session_begins(platform: Simulator, caplog: pytest.LogCaptureFixture) -> None:
    with listening(platform, Pace(first_pause=0.1, session_pause=8.0)) as listener:
        _spend(platform, listener, until=4)
        assert (len(_warnings(caplog)), platform.counters.identifies) == (1, 4)


def test_sessions_that_last_begin_at_once(platform: Simulator, caplog: pytest.LogCaptureFixture) -> None:
    with listening(platform, Pace(first_pause=0.1, lasting=0.0, session_pause=600.0)) as listener:
        _spend(platform, listener, until=5)
    assert _warnings(caplog) == []


def test_where_few_sessions_are_left_even_the_second_one_waits(
    platform: Simulator, caplog: pytest.LogCaptureFixture
) -> None:
    platform.starts_left = 100
    with listening(platform) as listener:
        wait_until(lambda: listener.feed.identifies_left == 99)
        platform.invalidate(resumable=False)
        wait_until(lambda: len(_warnings(caplog)) == 2)
        assert platform.counters.identifies == 1
    assert _warnings(caplog)[0] == "Only 99 gateway sessions are left for today."
