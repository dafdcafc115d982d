"""The lease of the gateway worker: one of several writes; the store's clock and the store's check alone decide."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace

import pytest
import time_machine
from django.core.cache.backends.base import BaseCache
from django.utils import timezone

from presence.store.redis_cache import PresenceRedisCache
from presence.store.store import LEASE_SECONDS, LeaseLost, PresenceStore, StoreUnavailable
from presence.worker.lease import Lease
from tests.presence import store_contents
from tests.presence.store_contents import CACHES, age, cache_of, record
from tests.support.threads import together

ADA, BOB = 268473310000000011, 268473310000000012
pytestmark = pytest.mark.django_db


@pytest.fixture(params=CACHES)
def cache(request: pytest.FixtureRequest) -> BaseCache:
    return cache_of(request.param)


@pytest.fixture
def store(cache: BaseCache) -> PresenceStore:
    return PresenceStore(cache)


@pytest.fixture
def leases(store: PresenceStore) -> list[Lease]:
    """Of two workers."""
    return [Lease(store), Lease(store)]


def holds(*leases: Lease) -> list[bool]:
    return [lease.holds(time.monotonic()) for lease in leases]


def write(store: PresenceStore, lease: Lease) -> bool:
    """Whether the store takes a write of this worker's term."""
    try:
        store.write({ADA: record(ADA).to_text()}, [BOB], token=lease.token)
    except LeaseLost:
        return False
    return True


@contextmanager
def host_clock(seconds: float) -> Iterator[None]:
    """The clock of this worker's host is so far ahead."""
    with time_machine.travel(timezone.now() + timedelta(seconds=seconds)):
        yield


def test_the_first_one_gets_it_and_the_second_waits(store: PresenceStore, leases: list[Lease]) -> None:
    first, second = leases
    assert holds(*leases) == [False, False]
    assert [write(store, lease) for lease in leases] == [False, False]
    assert [first.take(), second.take(), second.renew()] == [True, False, False]
    assert holds(*leases) == [True, False]
    assert [write(store, lease) for lease in leases] == [True, False]


def test_as_long_as_it_is_renewed_no_other_one_gets_it(cache: BaseCache, leases: list[Lease]) -> None:
    first, second = leases
    first.take()
    token = first.token
    for _ in range(4):
        age(cache, "lease", LEASE_SECONDS - 1)
        assert [first.take(), second.take()] == [True, False]
    assert first.token == token


@pytest.mark.embedded
@pytest.mark.parametrize("ahead", [-4, 4, 86_400])
@pytest.mark.parametrize("is_holder", [True, False])
def test_a_wrong_clock_of_a_host_takes_no_part(
    store: PresenceStore, leases: list[Lease], ahead: float, is_holder: bool
) -> None:
    holder, other = leases
    with host_clock(ahead if is_holder else 0):
        assert holder.take()
    for _ in range(3):
        with host_clock(0 if is_holder else ahead):
            assert not other.take()
        with host_clock(ahead if is_holder else 0):
            assert [holder.renew(), write(store, holder), *holds(holder)] == [True, True, True]


@pytest.mark.parametrize(("seconds", "is_free"), [(LEASE_SECONDS - 0.5, False), (LEASE_SECONDS, True)])
def test_what_a_killed_worker_held_is_free_after_its_time(
    cache: BaseCache, leases: list[Lease], seconds: float, is_free: bool
) -> None:
    killed, second = leases
    killed.take()
    age(cache, "lease", seconds)
    assert second.take() is is_free


@pytest.mark.embedded
def test_a_late_write_of_an_earlier_term_is_refused(
    cache: BaseCache, store: PresenceStore, leases: list[Lease]
) -> None:
    """Its worker stood still, and knows nothing of the new one."""
    stopped, second = leases
    stopped.take()
    age(cache, "lease", LEASE_SECONDS)
    second.take()
    newer = record(ADA, presence=None)
    store.write({ADA: newer.to_text(), BOB: record(BOB).to_text()}, [], token=second.token)
    assert holds(stopped) == [True]  # as far as it knows
    assert write(store, stopped) is False
    assert store_contents.records(store, [ADA, BOB]) == {ADA: newer, BOB: record(BOB)}
    assert [stopped.renew(), *holds(stopped), second.renew()] == [False, False, True]


def test_no_write_is_taken_after_the_end_even_if_the_lease_is_free(
    cache: BaseCache, store: PresenceStore, leases: list[Lease]
) -> None:
    paused, other = leases
    paused.take()
    token = paused.token
    age(cache, "lease", LEASE_SECONDS)
    assert write(store, paused) is False
    assert paused.take() is True  # a new term: another worker may have had one in between
    assert (paused.token != token, write(store, paused), other.take()) == (True, True, False)


def test_a_refused_write_ends_the_term_it_was_of_and_no_other(cache: BaseCache, leases: list[Lease]) -> None:
    first, _ = leases
    first.take()
    first.lose("an earlier term")
    assert holds(first) == [True]
    first.lose(first.token)
    assert holds(first) == [False]


def test_given_back_it_is_free_at_once(leases: list[Lease]) -> None:
    first, second = leases
    first.take()
    first.release()
    assert holds(first) == [False]
    assert second.take() is True
    first.release()
    assert [first.renew(), second.renew()] == [False, True]


def test_a_store_that_was_emptied_takes_no_write_before_a_new_term(
    cache: BaseCache, store: PresenceStore, leases: list[Lease]
) -> None:
    first, _ = leases
    first.take()
    cache.clear()
    assert [write(store, first), first.take(), write(store, first)] == [False, True, True]


def test_the_holder_counts_its_time_from_the_question_on(leases: list[Lease], monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that answers late has counted for as long."""
    lease, _ = leases
    begun = time.monotonic()
    clock = iter([begun, begun + 3])
    with monkeypatch.context() as patch:
        patch.setattr("presence.worker.lease.time", SimpleNamespace(monotonic=lambda: next(clock)))
        lease.take()
        lease.renew()
    assert [lease.holds(begun + 3 + LEASE_SECONDS - 0.001), lease.holds(begun + 3 + LEASE_SECONDS)] == [True, False]


@pytest.mark.django_db(transaction=True)
class TestTogether:
    @pytest.mark.embedded
    def test_of_many_one_gets_it(self, cache: BaseCache) -> None:
        def take(number: int) -> bool:
            return Lease(PresenceStore(cache_of_thread(cache))).take()

        assert sorted(together(6, take)) == [False] * 5 + [True]


def cache_of_thread(cache: BaseCache) -> BaseCache:
    """The same store, as another worker sees it."""
    return cache_of("settings" if isinstance(cache, PresenceRedisCache) else "database")


@pytest.mark.django_db(transaction=True)
def test_while_the_store_is_away_a_term_goes_on_for_its_time_and_no_longer() -> None:
    lease = Lease(PresenceStore(cache_of("database")))
    lease.take()
    taken = time.monotonic()
    with store_contents.table_missing("presence_storeentry"):
        for act in (lease.take, lease.renew):
            with pytest.raises(StoreUnavailable):
                act()
        assert [lease.holds(taken), lease.holds(taken + LEASE_SECONDS)] == [True, False]
    assert lease.renew() is True
