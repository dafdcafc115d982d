"""The check of a key and its limits: the same promises from both stores, and the same order as the decisions say.

Both stores run with Redis; the recheck asks the store of the settings.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts import authentication, rate_limits
from accounts.errors import InvalidApiKey, KeyDisabled, KeyExpired, KeyNotFound
from infrastructure import hashing
from infrastructure.limits import (
    FOREVER,
    KeyAnswer,
    KeyRecord,
    KeyRequest,
    Limit,
    LimitStore,
    Verdict,
    Window,
    microseconds,
)
from infrastructure.limits.in_redis import RedisLimits
from infrastructure.requests.errors import ApiError
from tests.accounts.clock import NOON, let_redis_pass
from tests.factories.accounts import ApiKeyFactory
from tests.support.movable_limits import MovableLimits
from tests.support.threads import together

SECOND = timedelta(seconds=1)
GOOD = KeyRecord(
    key_id=7,
    owner_id="an-owner",
    permissions=["account", "lookup:user"],
    is_dead=False,
    is_enabled=True,
    expires_at=FOREVER,
    premium_until=0,
    has_quota=False,
)


def window(amount: int, key: str = "an address") -> Window:
    return Window(key, Limit("any", amount, "requests of this test"))


LIMITS = rate_limits.API_KEY, rate_limits.API_PREMIUM_KEY
ASKED = KeyRequest(window(60), "hash", "lookup:user", microseconds(NOON), *LIMITS)


@dataclass
class Checked:
    """A store over a database that is a dictionary, and a way to let seconds pass for it."""

    store: LimitStore
    let_pass: Callable[[float], None]
    records: dict[str, KeyRecord] = field(default_factory=dict)
    loaded: int = 0

    def check(self, **changes: Any) -> KeyAnswer:
        return self.store.check_key(replace(ASKED, **changes), self.load)

    def load(self, secret_hash: str) -> KeyRecord | None:
        self.loaded += 1
        return self.records.get(secret_hash)

    def put(self, name: str = "hash", **changes: Any) -> None:
        self.records[name] = GOOD._replace(**changes)
        self.store.forget_keys([name])

    def counted(self, name: str) -> int:
        """How many requests the window of this name holds."""
        return next(count for count in itertools.count() if not self.store.peek(window(count + 1, name)))


@pytest.fixture(params=["InProcessLimits", "RedisLimits"])
def checked(request: pytest.FixtureRequest) -> Iterator[Checked]:
    with time_machine.travel(NOON, tick=False) as clock:
        if request.param == "InProcessLimits":
            checked = Checked(MovableLimits(), lambda seconds: clock.shift(timedelta(seconds=seconds)))
        else:
            checked = Checked(RedisLimits(), let_redis_pass)
        checked.put()
        yield checked


# In the decided order: what is wrong with the key, and the verdict on it.
FLAWS: dict[Verdict, dict[str, Any]] = {
    Verdict.DEAD: {"is_dead": True},
    Verdict.DISABLED: {"is_enabled": False},
    Verdict.EXPIRED: {"expires_at": microseconds(NOON)},
    Verdict.NOT_PERMITTED: {"permissions": ["account", "lookup:presence", "lookup:users"]},
}
COMBINED = [(flaw,) for flaw in FLAWS] + list(itertools.pairwise(FLAWS))


def test_a_key_without_flaw_passes_and_counts_for_both(checked: Checked) -> None:
    assert checked.check() == KeyAnswer(Verdict.OK, GOOD)
    assert (checked.counted("an address"), checked.counted("key:hash")) == (1, 1)


@pytest.mark.parametrize("flaws", COMBINED, ids="+".join)
def test_of_several_flaws_the_first_in_the_order_is_reported(checked: Checked, flaws: tuple[Verdict, ...]) -> None:
    changes = {name: value for flaw in flaws for name, value in FLAWS[flaw].items()}
    checked.put(**changes)
    assert checked.check() == KeyAnswer(flaws[0], GOOD._replace(**changes))
    assert (checked.counted("an address"), checked.counted("key:hash")) == (1, 0)


def test_a_flaw_is_reported_before_the_keys_limit(checked: Checked) -> None:
    checked.check(limit=window(1).limit)
    assert checked.check(limit=window(1).limit).verdict is Verdict.KEY_LIMITED
    checked.put(**FLAWS[Verdict.NOT_PERMITTED])
    assert checked.check(limit=window(1).limit).verdict is Verdict.NOT_PERMITTED


def test_a_key_with_no_permission_at_all_may_do_nothing(checked: Checked) -> None:
    checked.put(permissions=[])
    assert checked.check().verdict is Verdict.NOT_PERMITTED


def test_an_unknown_key_counts_for_the_address_alone(checked: Checked) -> None:
    assert checked.check(secret_hash="nobody's") == KeyAnswer(Verdict.UNKNOWN)
    assert (checked.counted("an address"), checked.counted("key:nobody's")) == (1, 0)


@pytest.mark.parametrize("secret_hash", ["hash", "nobody's", "flawed"])
def test_over_the_address_limit_no_key_is_looked_at(checked: Checked, secret_hash: str) -> None:
    checked.put("flawed", is_dead=True)
    narrow = window(1)
    checked.check(address=narrow, secret_hash="another")
    loaded = checked.loaded
    assert checked.check(address=narrow, secret_hash=secret_hash) == KeyAnswer(Verdict.ADDRESS_LIMITED, seconds_left=60)
    assert checked.loaded == loaded


def test_exactly_30_requests_pass_in_a_window(checked: Checked) -> None:
    verdicts = [checked.check().verdict for _ in range(33)]
    assert verdicts == [Verdict.OK] * 30 + [Verdict.KEY_LIMITED] * 3
    checked.let_pass(59)
    assert checked.check() == KeyAnswer(Verdict.KEY_LIMITED, seconds_left=1)
    checked.let_pass(1.1)
    assert checked.check().verdict is Verdict.OK


def test_a_request_over_the_keys_limit_counts_for_nothing(checked: Checked) -> None:
    for _ in range(4):
        checked.check(limit=window(3).limit)
    assert (checked.counted("an address"), checked.counted("key:hash")) == (3, 3)


def test_exactly_60_pass_with_premium(checked: Checked) -> None:
    checked.put(premium_until=FOREVER)
    wide = window(100)
    verdicts = [checked.check(address=wide).verdict for _ in range(63)]
    assert verdicts == [Verdict.OK] * 60 + [Verdict.KEY_LIMITED] * 3


def test_premium_that_ends_within_a_window_ends_its_limit_too(checked: Checked) -> None:
    checked.put(premium_until=microseconds(NOON + SECOND))
    assert {checked.check().verdict for _ in range(31)} == {Verdict.OK}
    last = NOON + SECOND - timedelta(microseconds=1)
    assert checked.check(instant=microseconds(last)).verdict is Verdict.OK
    assert checked.check(instant=microseconds(NOON + SECOND)).verdict is Verdict.KEY_LIMITED


def test_a_key_expires_at_its_microsecond(checked: Checked) -> None:
    checked.put(expires_at=microseconds(NOON + SECOND))
    assert checked.check(instant=microseconds(NOON + SECOND - timedelta(microseconds=1))).verdict is Verdict.OK
    assert checked.check(instant=microseconds(NOON + SECOND)).verdict is Verdict.EXPIRED


def test_times_beyond_the_largest_number_count_as_forever() -> None:
    assert microseconds(datetime.max.replace(tzinfo=UTC)) == microseconds(None) == FOREVER


def test_two_keys_have_a_window_each_and_share_that_of_the_address(checked: Checked) -> None:
    checked.put("other")
    address = window(6)
    verdicts = [
        checked.check(secret_hash=name, address=address, limit=window(3).limit).verdict
        for name in ["hash", "other"] * 4
    ]
    assert verdicts == [Verdict.OK] * 6 + [Verdict.ADDRESS_LIMITED] * 2


def test_where_nothing_is_counted_keys_are_checked_all_the_same(checked: Checked) -> None:
    assert {checked.check(is_counted=False).verdict for _ in range(61)} == {Verdict.OK}
    assert (checked.counted("an address"), checked.counted("key:hash")) == (0, 0)
    assert checked.check(secret_hash="nobody's", is_counted=False) == KeyAnswer(Verdict.UNKNOWN)
    checked.put(is_enabled=False)
    assert checked.check(is_counted=False).verdict is Verdict.DISABLED


def test_a_record_comes_back_as_it_went() -> None:
    assert KeyRecord.from_json(GOOD.to_json()) == GOOD


@pytest.mark.parametrize(("amount", "address_amount", "passing"), [(10, 1000, 10), (30, 12, 12)])
def test_8_callers_with_4_requests_each_get_exactly_the_amount(
    checked: Checked, amount: int, address_amount: int, passing: int
) -> None:
    address = window(address_amount)

    def call(_: int) -> int:
        return sum(checked.check(address=address, limit=window(amount).limit).verdict is Verdict.OK for _ in range(4))

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns inside of every function
    try:
        assert sum(together(8, call)) == passing
    finally:
        sys.setswitchinterval(usual)
    assert (checked.counted("an address"), checked.counted("key:hash")) == (passing, passing)


def test_a_request_of_a_cost_counts_so_often_for_the_key_and_once_for_the_address(checked: Checked) -> None:
    assert checked.check(cost=5) == KeyAnswer(Verdict.OK, GOOD)
    assert (checked.counted("an address"), checked.counted("key:hash")) == (1, 5)


def test_a_request_that_costs_more_than_is_left_is_refused_whole_and_counts_for_nothing(checked: Checked) -> None:
    limit = window(6).limit
    checked.check(limit=limit, cost=4)
    checked.let_pass(20)
    assert checked.check(limit=limit, cost=3) == KeyAnswer(Verdict.KEY_LIMITED, seconds_left=40)
    assert (checked.counted("an address"), checked.counted("key:hash")) == (1, 4)
    assert checked.check(limit=limit, cost=2).verdict is Verdict.OK
    assert checked.check(limit=limit).verdict is Verdict.KEY_LIMITED
    checked.let_pass(40.1)
    assert checked.check(limit=limit, cost=6).verdict is Verdict.OK


def test_a_request_that_costs_more_than_a_whole_window_is_refused_for_a_window(checked: Checked) -> None:
    assert checked.check(limit=window(6).limit, cost=7) == KeyAnswer(Verdict.KEY_LIMITED, seconds_left=60)
    assert (checked.counted("an address"), checked.counted("key:hash")) == (0, 0)


def test_16_callers_of_mixed_costs_never_overdraw_a_window(checked: Checked) -> None:
    """The costs that pass add up to what is counted, and to the whole amount, as those of 1 fill the rest."""
    limit, address = window(50).limit, window(1000)

    def call(number: int) -> list[int]:
        costs = [1 + (number + turn) % 5 for turn in range(4)] + [1] * 5
        return [cost for cost in costs if checked.check(address=address, limit=limit, cost=cost).verdict is Verdict.OK]

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns inside of every function
    try:
        passed = [cost for each in together(16, call) for cost in each]
    finally:
        sys.setswitchinterval(usual)
    assert (sum(passed), checked.counted("key:hash"), checked.counted("an address")) == (50, 50, len(passed))


SECRET = "the-secret-of-a-key"
CHANGES: dict[str, tuple[dict[str, Any], type[ApiError] | None]] = {
    "good": ({}, None),
    "used up": ({"remaining_uses": 0}, None),
    "revoked": ({"revoked_at": NOON}, KeyNotFound),
    "disabled": ({"is_enabled": False}, KeyDisabled),
    "without the permission": ({"permissions": ["lookup:user"]}, KeyNotFound),
    "expired": ({"expires_at": NOON}, KeyExpired),
}


@pytest.mark.django_db
@pytest.mark.parametrize(("columns", "error"), CHANGES.values(), ids=CHANGES)
def test_a_recheck_is_free_and_returns_the_error(columns: dict[str, Any], error: type[ApiError] | None) -> None:
    key = ApiKeyFactory(secret=SECRET, **{"permissions": ["lookup:presence"], **columns})
    for _ in range(61):  # more than any limit of a minute
        found = authentication.recheck(key.secret_hash, permission="lookup:presence", now=NOON)
        assert (found and type(found)) is error
    key.refresh_from_db()
    assert (key.remaining_uses, key.last_used_at) == (columns.get("remaining_uses"), None)
    unknown = authentication.recheck(hashing.digest("nobody's"), permission="lookup:presence", now=NOON)
    assert type(unknown) is InvalidApiKey
