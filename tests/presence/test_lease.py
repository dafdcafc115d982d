"""The lease of the gateway worker: one of several writes, and knows by its own clock when it may no more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts import jobs
from accounts.models import JobRun
from presence.lease import LENGTH, NAME, TRUSTED, Lease
from tests.presence import databases
from tests.support.threads import together

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
pytestmark = pytest.mark.django_db


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


def holds(*leases: Lease) -> list[bool]:
    return [lease.holds(time.monotonic()) for lease in leases]


def test_the_first_one_gets_it_and_the_second_waits(clock: time_machine.Traveller) -> None:
    first, second = Lease(), Lease()
    assert holds(first, second) == [False, False]
    assert [first.take(), second.take(), second.renew()] == [True, False, False]
    assert holds(first, second) == [True, False]
    (row,) = JobRun.objects.values("name", "lease_ends_at", "leased_by")
    assert row == {"name": NAME, "lease_ends_at": NOON + LENGTH, "leased_by": first.holder}


def test_as_long_as_it_is_renewed_nobody_else_gets_it(clock: time_machine.Traveller) -> None:
    first, second = Lease(), Lease()
    first.take()
    for _ in range(12):
        clock.shift(1)
        assert [first.renew(), second.take()] == [True, False]
    assert holds(first, second) == [True, False]


@pytest.mark.parametrize(("seconds", "is_free"), [(4.99, False), (5, True)])
def test_what_a_killed_worker_held_is_free_after_its_time(
    clock: time_machine.Traveller, seconds: float, is_free: bool
) -> None:
    killed, second = Lease(), Lease()
    killed.take()
    clock.shift(timedelta(seconds=seconds))
    assert second.take() is is_free


def test_whoever_was_replaced_finds_out_and_may_take_it_later(clock: time_machine.Traveller) -> None:
    stopped, second = Lease(), Lease()
    stopped.take()
    clock.shift(6)
    second.take()
    assert [stopped.renew(), stopped.take(), second.renew()] == [False, False, True]
    assert holds(stopped, second) == [False, True]
    clock.shift(6)
    assert stopped.take() is True


def test_after_a_pause_in_which_nobody_took_it_it_is_still_held(clock: time_machine.Traveller) -> None:
    paused = Lease()
    paused.take()
    clock.shift(60)
    assert paused.renew() is True


def test_given_back_it_is_free_at_once(clock: time_machine.Traveller) -> None:
    first, second = Lease(), Lease()
    first.take()
    first.release()
    assert holds(first) == [False]
    assert second.take() is True
    first.release()
    assert [first.renew(), second.renew()] == [False, True]


def test_the_holder_trusts_itself_for_less_than_the_lease_lasts() -> None:
    lease = Lease()
    begun = time.monotonic()
    lease.take()
    ended = time.monotonic()
    assert [lease.holds(begun + TRUSTED - 0.001), lease.holds(ended + TRUSTED)] == [True, False]
    assert LENGTH.total_seconds() - TRUSTED == 1.5
    begun = time.monotonic()
    lease.renew()
    assert lease.holds(begun + TRUSTED - 0.001) is True


@pytest.mark.parametrize("act", [Lease.take, Lease.renew])
def test_a_database_that_is_slow_costs_the_holder_that_time(
    clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch, act: Callable[[Lease], bool]
) -> None:
    """What the database said is as old as the question."""
    lease = Lease()
    lease.take()
    renew, begun = jobs.renew, time.monotonic()
    moment = [begun]
    monkeypatch.setattr("presence.lease.time.monotonic", lambda: moment[0])

    def slow(**values: Any) -> None:
        """Any: those of `jobs.renew`."""
        renew(**values)
        moment[0] += 3

    monkeypatch.setattr(jobs, "renew", slow)
    assert act(lease) is True
    assert [lease.holds(begun + TRUSTED - 0.1), lease.holds(begun + TRUSTED)] == [True, False]


@pytest.mark.django_db(transaction=True)
class TestOutage:
    def test_an_outage_is_told_once_and_so_is_its_end(self, caplog: pytest.LogCaptureFixture) -> None:
        lease = Lease()
        lease.take()
        for _ in range(2):
            with databases.table_missing("accounts_jobrun"):
                assert [lease.renew() for _ in range(5)] == [False] * 5
            assert [lease.renew(), lease.renew()] == [True, True]
        assert [message.split(":")[0] for message in caplog.messages] == [
            "The lease of the presence worker is uncertain",
            "The lease of the presence worker is certain again.",
        ] * 2

    def test_the_holder_goes_on_for_a_while_and_no_longer(self) -> None:
        lease = Lease()
        lease.take()
        taken = time.monotonic()
        with databases.table_missing("accounts_jobrun"):
            assert [lease.renew(), lease.take()] == [False, False]
            assert [lease.holds(taken), lease.holds(taken + TRUSTED)] == [True, False]
        assert lease.renew() is True

    def test_giving_back_without_a_database_ends_the_writing(self) -> None:
        lease = Lease()
        lease.take()
        with databases.table_missing("accounts_jobrun"):
            lease.release()
        assert holds(lease) == [False]

    @pytest.mark.embedded
    def test_of_many_one_gets_it(self) -> None:
        assert sorted(together(6, lambda number: Lease().take())) == [False] * 5 + [True]
