"""What readers ask the worker to look up: each id once in a while, in order, and never lost between two of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine
from django.core.cache.backends.base import BaseCache

from presence import store as store_module
from presence.store import PresenceStore
from tests.presence.kept import CACHES, cache_of, damage, database_cache, round_trips, seconds_left
from tests.support.threads import together

ADA, BEA, CYD = 80351110224678912, 80351110224678913, 80351110224678914
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture(params=CACHES)
def cache(request: pytest.FixtureRequest) -> BaseCache:
    return cache_of(request.param)


@pytest.fixture
def store(cache: BaseCache) -> PresenceStore:
    return PresenceStore(cache)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


def test_what_was_asked_is_told_once_in_its_order(store: PresenceStore) -> None:
    for chat_id in (CYD, ADA, CYD, BEA, ADA):
        store.request_refresh(chat_id)
    ids, position = store.pending_refreshes(0)
    assert ids == [CYD, ADA, BEA]
    assert store.pending_refreshes(position) == ([], position)
    store.request_refresh(BEA + 100)
    assert store.pending_refreshes(position) == ([BEA + 100], position + 1)


def test_an_id_is_asked_for_again_after_its_pause_and_forgotten_after_a_minute(
    store: PresenceStore, cache: BaseCache
) -> None:
    store.request_refresh(ADA)
    _, position = store.pending_refreshes(0)
    assert seconds_left(cache, f"asked:{ADA}") == pytest.approx(30, abs=20)
    assert seconds_left(cache, f"ask:{position}") == pytest.approx(60, abs=20)


def test_the_same_by_the_clock(clock: time_machine.Traveller) -> None:
    """Redis has a clock of its own."""
    store = PresenceStore(database_cache())
    store.request_refresh(ADA)
    ids, position = store.pending_refreshes(0)
    clock.shift(29)
    store.request_refresh(ADA)
    assert (ids, store.pending_refreshes(position)) == ([ADA], ([], position))
    clock.shift(1)
    store.request_refresh(ADA)
    assert store.pending_refreshes(position) == ([ADA], position + 1)
    clock.shift(60)
    assert store.pending_refreshes(0) == ([], position + 1)


def test_a_reader_that_is_slow_to_write_its_slot_is_heard_all_the_same(store: PresenceStore, cache: BaseCache) -> None:
    store.request_refresh(ADA)
    _, position = store.pending_refreshes(0)
    assert store_module.LAST_ASK == "ask:last"
    slow = cache.incr("ask:last")  # it has its number
    store.request_refresh(BEA)
    assert store.pending_refreshes(position) == ([BEA], position + 2)
    cache.set(f"ask:{slow}", CYD, 60)
    assert store.pending_refreshes(position + 2) == ([CYD], position + 2)
    assert store.pending_refreshes(position + 2) == ([], position + 2)


def test_numbers_go_on_after_the_store_was_emptied(store: PresenceStore, cache: BaseCache) -> None:
    store.request_refresh(ADA)
    _, position = store.pending_refreshes(0)
    cache.clear()
    assert store.pending_refreshes(position) == ([], position)
    store.request_refresh(BEA)
    ids, later = store.pending_refreshes(position)
    assert (ids, later > position) == ([BEA], True)


def test_a_clock_that_was_set_back_loses_nothing(store: PresenceStore) -> None:
    store.request_refresh(ADA)
    _, position = store.pending_refreshes(0)
    assert store.pending_refreshes(position + 10**9) == ([ADA], position)


def test_of_very_many_the_newest_are_told(store: PresenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "ASKS_READ", 20)
    for chat_id in range(ADA, ADA + 25):
        store.request_refresh(chat_id)
    assert store.pending_refreshes(0)[0] == list(range(ADA + 5, ADA + 25))


@pytest.mark.parametrize("key", ["ask:last", "slot"])
def test_a_damaged_value_is_one_ask_lost_at_most(store: PresenceStore, cache: BaseCache, key: str) -> None:
    store.request_refresh(ADA)
    _, position = store.pending_refreshes(0)
    store.request_refresh(BEA)
    damage(cache, f"ask:{position + 1}" if key == "slot" else key)
    assert store.pending_refreshes(position)[0] == []
    store.request_refresh(CYD)
    assert CYD in store.pending_refreshes(position)[0]


def test_asking_for_an_id_again_is_one_round_trip(store: PresenceStore, cache: BaseCache) -> None:
    store.request_refresh(ADA)
    names = round_trips(cache, lambda: store.request_refresh(ADA))
    assert [name for name in names if name not in {"SAVEPOINT", "RELEASE"}] in (
        ["INSERT presence_storeentry"],
        ["set"],
    )


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", CACHES)
class TestTogether:
    def test_many_readers_ask_for_one_id_once(self, name: str) -> None:
        together(6, lambda number: PresenceStore(cache_of(name)).request_refresh(ADA))
        assert PresenceStore(cache_of(name)).pending_refreshes(0)[0] == [ADA]

    def test_many_readers_ask_for_many_ids_and_none_is_lost(self, name: str) -> None:
        def ask(number: int) -> None:
            for chat_id in range(number * 10, number * 10 + 10):
                PresenceStore(cache_of(name)).request_refresh(ADA + chat_id)

        together(6, ask)
        assert sorted(PresenceStore(cache_of(name)).pending_refreshes(0)[0]) == list(range(ADA, ADA + 60))
