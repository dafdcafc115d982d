"""Fixed windows: the same promises from both stores.

Both run with Redis.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from pytest_django import Settings

from accounts import limits
from accounts.limits import InProcessLimits, Limit, LimitStore, Outcome
from accounts.redis_limits import RedisLimits
from tests.accounts.moments import let_redis_pass
from tests.support.threads import together


@dataclass(frozen=True)
class Stored:
    """A store, and a way to let seconds pass for it."""

    hit: Callable[[list[Limit]], list[Outcome]]
    wait: Callable[[float], None]
    store: LimitStore


@pytest.fixture(params=["InProcessLimits", "RedisLimits"])
def stored(request: pytest.FixtureRequest) -> Any:
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        if request.param == "InProcessLimits":
            store: LimitStore = InProcessLimits()
            yield Stored(store.hit, lambda seconds: clock.shift(timedelta(seconds=seconds)), store)
        else:
            store = RedisLimits()
            yield Stored(store.hit, let_redis_pass, store)


def answers(outcomes: list[Outcome]) -> list[tuple[bool, int]]:
    return [(outcome.is_allowed, outcome.remaining) for outcome in outcomes]


def test_as_many_requests_pass_as_the_limit_says_and_no_more(stored: Stored) -> None:
    limit = Limit("a", 3)
    told = [answers(stored.hit([limit]))[0] for _ in range(5)]
    assert told == [(True, 2), (True, 1), (True, 0), (False, 0), (False, 0)]


def test_the_window_opens_with_the_first_request_and_ends_after_its_length(stored: Stored) -> None:
    limit = Limit("a", 2, timedelta(seconds=60))
    stored.hit([limit])
    stored.wait(50)
    assert answers(stored.hit([limit])) == [(True, 0)]
    stored.wait(9)
    assert answers(stored.hit([limit])) == [(False, 0)]
    stored.wait(1)
    assert answers(stored.hit([limit])) == [(True, 1)]  # a new window, counted from here


def test_a_refused_request_tells_the_whole_seconds_until_the_window_ends(stored: Stored) -> None:
    limit = Limit("a", 1, timedelta(seconds=60))
    assert stored.hit([limit])[0].seconds_left == 60
    stored.wait(20.5)
    assert stored.hit([limit])[0].seconds_left == 40
    stored.wait(39.2)
    assert stored.hit([limit])[0].seconds_left == 1


def test_refused_requests_neither_extend_the_window_nor_count_in_the_next_one(stored: Stored) -> None:
    limit = Limit("a", 1, timedelta(seconds=60))
    stored.hit([limit])
    for _ in range(5):
        stored.wait(10)
        assert answers(stored.hit([limit])) == [(False, 0)]
    stored.wait(10.1)
    assert answers(stored.hit([limit])) == [(True, 0)]


def test_several_limits_are_counted_together_or_not_at_all(stored: Stored) -> None:
    narrow, wide = Limit("narrow", 1), Limit("wide", 3)
    assert answers(stored.hit([narrow, wide])) == [(True, 0), (True, 2)]
    assert answers(stored.hit([narrow, wide])) == [(False, 0), (True, 2)]
    assert answers(stored.hit([wide, narrow])) == [(True, 2), (False, 0)]
    assert answers(stored.hit([wide])) == [(True, 1)]


def test_8_callers_with_6_requests_each_get_exactly_the_amount(stored: Stored) -> None:
    limit, other = Limit("a", 20), Limit("b", 1000)

    def call(_: int) -> int:
        return sum(all(outcome.is_allowed for outcome in stored.hit([limit, other])) for _ in range(6))

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns inside of every function
    try:
        assert sum(together(8, call)) == 20
    finally:
        sys.setswitchinterval(usual)
    assert answers(stored.hit([other])) == [(True, 979)]


def test_the_store_in_process_forgets_windows_that_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InProcessLimits, "PRUNE_ABOVE", 10)
    store = InProcessLimits()
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        for number in range(InProcessLimits.PRUNE_ABOVE + 1):
            store.hit([Limit(f"address-{number}", 1)])
        clock.shift(timedelta(seconds=61))
        store.hit([Limit("one more", 1)])
    assert list(store._windows) == ["one more"]


@pytest.mark.embedded
def test_the_settings_choose_the_store() -> None:
    limits.hit(Limit("a", 1))
    assert type(limits._store()) is (RedisLimits if settings.REDIS_URL else InProcessLimits)
    assert [outcome.is_allowed for outcome in limits.hit(Limit("a", 1), Limit("b", 1))] == [False, True]


def test_with_limits_switched_off_nothing_is_counted(settings: Settings) -> None:
    settings.RATE_LIMITS_ENABLED = False
    assert [limits.hit(Limit("a", 1)) for _ in range(3)] == [[], [], []]
    settings.RATE_LIMITS_ENABLED = True
    assert answers(limits.hit(Limit("a", 1))) == [(True, 0)]
