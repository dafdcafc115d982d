"""Fixed windows: the same promises from both stores.

Both run with Redis.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings
from pytest_django import Settings

from accounts import rate_limits
from infrastructure import limits
from infrastructure.limits import Limit, LimitStore, Window
from infrastructure.limits.in_process import InProcessLimits
from infrastructure.limits.in_redis import RedisLimits
from tests.accounts.clock import let_redis_pass
from tests.support.movable_limits import MovableLimits
from tests.support.threads import together

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Stored:
    """A store, and a way to let seconds pass for it."""

    hit: Callable[[list[Window]], int]
    wait: Callable[[float], None]
    store: LimitStore


@pytest.fixture(params=["InProcessLimits", "RedisLimits"])
def stored(request: pytest.FixtureRequest) -> Any:
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        if request.param == "InProcessLimits":
            store: LimitStore = MovableLimits()
            yield Stored(store.hit, lambda seconds: clock.shift(timedelta(seconds=seconds)), store)
        else:
            store = RedisLimits()
            yield Stored(store.hit, let_redis_pass, store)


def window(key: str, amount: int) -> Window:
    return Window(key, Limit("any", amount, "requests of this test"))


def test_as_many_requests_pass_as_the_limit_says_and_no_more(stored: Stored) -> None:
    assert [stored.hit([window("a", 3)]) for _ in range(5)] == [0, 0, 0, 60, 60]


def test_the_window_opens_with_the_first_request_and_ends_after_its_length(stored: Stored) -> None:
    limited = window("a", 2)
    stored.hit([limited])
    stored.wait(50)
    assert stored.hit([limited]) == 0
    stored.wait(9)
    assert stored.hit([limited]) == 1
    stored.wait(1)
    assert [stored.hit([limited]) for _ in range(3)] == [0, 0, 60]  # a new window, counted from here


def test_a_window_may_have_another_length(stored: Stored) -> None:
    limited = Window("a", Limit("any", 1, "requests of this test", window=timedelta(seconds=2)))
    assert [stored.hit([limited]) for _ in range(2)] == [0, 2]
    stored.wait(2.1)
    assert stored.hit([limited]) == 0


def test_a_refused_request_returns_the_whole_seconds_until_the_window_ends(stored: Stored) -> None:
    limited = window("a", 1)
    stored.hit([limited])
    stored.wait(20.5)
    assert stored.hit([limited]) == stored.store.peek(limited) == 40
    stored.wait(39.2)
    assert stored.hit([limited]) == stored.store.peek(limited) == 1


def test_refused_requests_neither_extend_the_window_nor_count_in_the_next_one(stored: Stored) -> None:
    limited = window("a", 1)
    stored.hit([limited])
    for seconds in (50, 40, 30, 20, 10):
        stored.wait(10)
        assert stored.hit([limited]) == seconds
    stored.wait(10.1)
    assert stored.hit([limited]) == 0


def test_a_look_counts_nothing(stored: Stored) -> None:
    limited = window("a", 2)
    assert [stored.store.peek(limited), stored.hit([limited])] * 2 == [0, 0] * 2
    assert [stored.store.peek(limited), stored.hit([limited]), stored.store.peek(limited)] == [0, 0, 60]


def test_several_windows_are_counted_together_or_not_at_all(stored: Stored) -> None:
    narrow, wide = window("narrow", 1), window("wide", 2)
    assert stored.hit([narrow, wide]) == 0
    stored.wait(30)
    assert stored.hit([narrow, wide]) == stored.hit([wide, narrow]) == 30
    assert [stored.hit([wide]) for _ in range(2)] == [0, 30]


def test_of_two_used_up_windows_the_first_is_reported(stored: Stored) -> None:
    early, late = window("early", 1), window("late", 1)
    stored.hit([early])
    stored.wait(20)
    stored.hit([late])
    assert (stored.hit([early, late]), stored.hit([late, early])) == (40, 60)


def test_8_callers_with_6_requests_each_get_exactly_the_amount(stored: Stored) -> None:
    limited, other = window("a", 20), window("b", 1000)

    def call(_: int) -> int:
        return sum(stored.hit([limited, other]) == 0 for _ in range(6))

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns inside of every function
    try:
        assert sum(together(8, call)) == 20
    finally:
        sys.setswitchinterval(usual)
    assert [stored.store.peek(window("b", amount)) > 0 for amount in (20, 21)] == [True, False]


def test_the_store_in_process_forgets_windows_that_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InProcessLimits, "PRUNE_ABOVE", 10)
    store = MovableLimits()
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        for number in range(InProcessLimits.PRUNE_ABOVE + 1):
            store.hit([window(f"address-{number}", 1)])
        clock.shift(timedelta(seconds=61))
        store.hit([window("one more", 1)])
    assert list(store._windows) == ["one more"]


def test_the_store_in_process_looks_for_ended_windows_only_once_there_are_twice_as_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(InProcessLimits, "PRUNE_ABOVE", 10)
    store = MovableLimits()
    kept, prune = [], store._prune

    def counted(now: float) -> None:
        prune(now)
        kept.append(len(store._windows))

    monkeypatch.setattr(store, "_prune", counted)
    with time_machine.travel(datetime(2026, 3, 1, tzinfo=UTC), tick=False) as clock:
        for number in range(100):
            store.hit([window(f"address-{number}", 1)])
        assert kept == [11, 23, 47, 95]
        clock.shift(timedelta(seconds=61))
        for number in range(200):
            store.hit([window(f"later-{number}", 1)])
    assert kept == [11, 23, 47, 95, 91, 183]


@pytest.mark.parametrize("days", [-1, 1])
def test_windows_in_process_last_as_long_where_the_clock_of_the_machine_is_set(days: int) -> None:
    store, limited = InProcessLimits(), window("a", 1)
    with time_machine.travel(datetime(2026, 3, 2, tzinfo=UTC), tick=False) as clock:
        store.hit([limited])
        clock.shift(timedelta(days=days))
        assert store.hit([limited]) == store.peek(limited) == 60


@pytest.mark.embedded
def test_the_settings_choose_the_store() -> None:
    limits.hit(window("a", 1))
    assert isinstance(limits._store(), RedisLimits if settings.REDIS_URL else InProcessLimits)
    assert limits.peek(window("a", 1)) == limits.hit(window("a", 1), window("b", 1)) == 60
    assert limits.hit(window("b", 1)) == 0


def test_with_limits_switched_off_nothing_is_counted(settings: Settings) -> None:
    limits.hit(window("a", 1))
    settings.RATE_LIMITS_ENABLED = False
    assert [limits.hit(window("a", 1)), limits.peek(window("a", 1))] == [0, 0]
    assert limits.take(window("a", 1)) == 60  # the limits of services that we call
    settings.RATE_LIMITS_ENABLED = True
    assert limits.hit(window("a", 1)) == 60


ROWS = [row for row in vars(rate_limits).values() if isinstance(row, Limit)]
SPECIFIED = {
    rate_limits.API_ADDRESS: "| Per address under `/api/`, `/api/auth/` aside | {} requests a minute, ",
    rate_limits.API_KEY: "| Per API key | {} requests a minute; ",
    rate_limits.API_PREMIUM_KEY: " requests a minute; {} where the owner has premium | ",
    rate_limits.PROTOCOL: "| Per address and endpoint under `/api/auth/` | {} requests a minute; ",
}


@pytest.mark.parametrize(("row", "words"), SPECIFIED.items(), ids=["address", "key", "premium key", "protocol"])
def test_the_table_has_the_numbers_of_the_specification(row: Limit, words: str) -> None:
    assert words.format(row.amount) in (ROOT / "docs" / "spec" / "shared.md").read_text()
    assert row.window == timedelta(minutes=1)


def test_rows_of_the_table_share_no_windows_but_those_of_a_key() -> None:
    names = [row.name for row in ROWS]
    assert sorted(names) == sorted([*{*names}, "key"])
