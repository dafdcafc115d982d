"""The contract of the presence store, on both forms of its cache: that of the settings, and the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import pytest
import time_machine
from django.core.cache.backends.base import BaseCache

from presence.store import store as store_module
from presence.store.database_cache import PresenceDatabaseCache
from presence.store.records import Banner, Profile, Snapshot
from presence.store.store import PresenceStore
from tests.presence import store_contents
from tests.presence.store_contents import CACHES, cache_of, damage, database_cache, record, round_trips, seconds_left
from tests.support.threads import together

ADA, BEA, CYD = 80351110224678912, 80351110224678913, 2**63 - 1
NOON = 1_772_366_400.0
NOTHING = Snapshot(alive_at=None, record=None, banner=None, profile=None, miss="")
BANNER = Banner("a_1f0c", NOON)
PROFILE = Profile("Says \x00 and \ud800 and 🎮", ("premium", "orb_profile_badge"), NOON, is_failure=False)

pytestmark = pytest.mark.django_db


@pytest.fixture(params=CACHES)
def cache(request: pytest.FixtureRequest) -> BaseCache:
    return cache_of(request.param)


@pytest.fixture
def store(cache: BaseCache) -> PresenceStore:
    return PresenceStore(cache)


def written(store: PresenceStore, generation: int, *ids: int, alive_at: float = NOON) -> None:
    """A dump of these members, from its beginning to its stamp."""
    store_contents.write(store, {chat_id: record(chat_id, generation=generation).to_text() for chat_id in ids}, [])
    store_contents.set_complete(store, generation)
    assert store_contents.stamp(store, alive_at, generation=generation) is True


class TestGlance:
    def test_an_empty_store_knows_nothing(self, store: PresenceStore) -> None:
        assert store.snapshot(ADA) == NOTHING
        assert (store.alive_at(), store.generation(), store.stats()) == (None, 0, None)

    def test_everything_that_is_known_of_one_id_and_nothing_of_another(self, store: PresenceStore) -> None:
        written(store, 1, ADA)
        store.keep_banner(ADA, BANNER)
        store.keep_profile(ADA, PROFILE)
        store.keep_miss(ADA, "notMember")
        assert store.snapshots([ADA, BEA]) == {
            ADA: Snapshot(NOON, record(ADA), BANNER, PROFILE, "notMember"),
            BEA: Snapshot(NOON, None, None, None, ""),
        }

    @pytest.mark.parametrize("count", [1, 150])
    def test_it_is_one_round_trip(self, store: PresenceStore, cache: BaseCache, count: int) -> None:
        written(store, 1, *range(ADA, ADA + count))
        asked = round_trips(cache, lambda: store.snapshots(range(ADA, ADA + count)))
        asked = [name for name in asked if name not in ("SAVEPOINT", "RELEASE")]  # PostgreSQL's, for the test's own
        assert asked == (["SELECT presence_storeentry"] if isinstance(cache, PresenceDatabaseCache) else ["mget"])

    def test_what_was_dropped_is_gone(self, store: PresenceStore) -> None:
        store.keep_banner(ADA, BANNER)
        store.keep_miss(ADA, "notFound")
        store_contents.drop_banner(store, ADA)
        assert store.snapshot(ADA) == replace(NOTHING, miss="notFound")
        store_contents.write(store, {ADA: record(ADA).to_text()}, [])
        store_contents.write(store, {}, [ADA])
        assert store.snapshot(ADA) == NOTHING


class TestGenerations:
    def test_a_record_of_an_older_generation_counts_as_absent(self, store: PresenceStore) -> None:
        written(store, 1, ADA, BEA)
        store_contents.write(store, {ADA: record(ADA, generation=2).to_text()}, [])
        assert store.snapshot(BEA).record == record(BEA)  # until the second one is whole
        store_contents.set_complete(store, 2)
        snapshots = store.snapshots([ADA, BEA, CYD]).values()
        assert [snapshot.record for snapshot in snapshots] == [record(ADA, generation=2), None, None]
        assert store_contents.records(store, [BEA, CYD, ADA]) == {BEA: record(BEA), ADA: record(ADA, generation=2)}
        assert store.generation() == 2

    def test_no_stamp_is_given_to_a_generation_that_is_not_the_completed_one(self, store: PresenceStore) -> None:
        assert store_contents.stamp(store, NOON, generation=1) is False
        assert store_contents.stamp(store, NOON, generation=0) is False
        written(store, 2, ADA)
        assert [store_contents.stamp(store, NOON + 1, generation=of) for of in (1, 3, 0)] == [False, False, False]
        assert store.alive_at() == NOON
        assert store_contents.stamp(store, NOON + 0.125, generation=2) is True
        assert (store.alive_at(), store.snapshot(ADA).alive_at) == (NOON + 0.125, NOON + 0.125)

    def test_a_stamp_that_came_a_moment_after_the_store_was_emptied_counts_for_nothing(
        self, store: PresenceStore, cache: BaseCache
    ) -> None:
        written(store, 3, ADA)
        stamp = cache.get(store_module.ALIVE)
        cache.clear()
        cache.set(store_module.ALIVE, stamp)
        assert (store.alive_at(), store.snapshot(ADA)) == (None, NOTHING)
        store_contents.set_complete(store, 1)
        assert store.alive_at() is None


@pytest.mark.embedded
class TestMarks:
    def test_the_last_write_that_had_one_is_named(self, store: PresenceStore) -> None:
        assert store.mark() == ""
        for texts, gone in (({ADA: record(ADA).to_text()}, []), ({}, [ADA]), ({}, [])):
            store_contents.write(store, texts, gone, mark=f"{len(texts)} {len(gone)}")
            assert store.mark() == f"{len(texts)} {len(gone)}"
        store_contents.write(store, {ADA: record(ADA).to_text()}, [BEA])
        assert store.mark() == "0 0"

    def test_nothing_is_stamped_after_another_write(self, store: PresenceStore, cache: BaseCache) -> None:
        written(store, 1, ADA)
        assert store_contents.stamp(store, NOON + 1, generation=1, mark="a 1") is False
        store_contents.write(store, {}, [], mark="a 1")
        assert store_contents.stamp(store, NOON + 2, generation=1, mark="a 1") is True
        store_contents.write(store, {}, [], mark="b 7")
        assert store_contents.stamp(store, NOON + 3, generation=1, mark="a 1") is False
        cache.delete(store_module.MARK)
        assert store_contents.stamp(store, NOON + 4, generation=1, mark="a 1") is False
        assert store.alive_at() == NOON + 2

    @pytest.mark.parametrize("mark", [None, 7, {}, True])
    def test_a_damaged_one_is_none(self, store: PresenceStore, cache: BaseCache, mark: object) -> None:
        """None: one that the cache itself cannot read."""
        cache.set(store_module.MARK, mark)
        if mark is None:
            damage(cache, store_module.MARK)
        assert store.mark() == ""

    def test_it_comes_with_the_last_of_the_records_and_after_the_deletions(
        self, store: PresenceStore, cache: BaseCache
    ) -> None:
        texts = {chat_id: record(chat_id).to_text() for chat_id in range(ADA, ADA + 2001)}
        token = store_contents.token_of(store)
        asked = round_trips(cache, lambda: store.write(texts, [1], token=token, mark="a 1"))
        if isinstance(cache, PresenceDatabaseCache):
            verbs = [name.split()[0] for name in asked if name.endswith("presence_storeentry")]
            assert [verb for verb, _ in groupby(verbs)] == ["SELECT", "DELETE", "INSERT"] * 2
        else:
            assert asked.count("evalsha") == 2
            assert not {"set", "del", "multi"} & set(asked)


@pytest.mark.embedded
class TestFlush:
    def test_records_are_replaced_and_the_departed_deleted(self, store: PresenceStore) -> None:
        written(store, 1, ADA, BEA, CYD)
        newer = record(ADA, presence=None, last_online=1_772_366_399)
        store_contents.write(store, {ADA: newer.to_text()}, [BEA, BEA + 100])
        assert store_contents.records(store, [ADA, BEA, CYD]) == {ADA: newer, CYD: record(CYD)}


@pytest.mark.parametrize(
    ("write", "key", "lifetime"),
    [
        (lambda store: written(store, 1, ADA), f"m:{ADA}", 3 * 86400),
        (lambda store: store.keep_banner(ADA, BANNER), f"banner:{ADA}", 86400),
        (lambda store: store.keep_profile(ADA, PROFILE), f"profile:{ADA}", 7 * 86400),
        (lambda store: store.keep_miss(ADA, "notMember"), f"miss:{ADA}", 600),
        (lambda store: store.keep_miss(ADA, "notFound"), f"miss:{ADA}", 86400),
        (lambda store: store.keep_departures([BEA], token=store_contents.token_of(store)), f"miss:{BEA}", 600),
        (lambda store: store.keep_stats({"a": 1}), "stats", 86400),
        (lambda store: written(store, 1, ADA), "alive", None),
        (lambda store: written(store, 1, ADA), "complete", None),
    ],
)
def test_each_thing_is_kept_for_its_time(
    store: PresenceStore, cache: BaseCache, write: Any, key: str, lifetime: int | None
) -> None:
    write(store)
    assert seconds_left(cache, key) == (lifetime and pytest.approx(lifetime, abs=20))


class TestDamage:
    def test_a_value_that_cannot_be_read_costs_the_others_nothing(
        self, store: PresenceStore, cache: BaseCache, caplog: pytest.LogCaptureFixture
    ) -> None:
        written(store, 1, ADA, BEA, CYD)
        store.keep_banner(ADA, BANNER)
        damage(cache, f"m:{ADA}")
        store_contents.write(store, {BEA: '{"m": '}, [])
        snapshots = store.snapshots([ADA, BEA, CYD])
        assert [snapshot.record for snapshot in snapshots.values()] == [None, None, record(CYD)]
        assert (snapshots[ADA].banner, snapshots[ADA].alive_at) == (BANNER, NOON)
        assert store_contents.records(store, [ADA, BEA, CYD]) == {CYD: record(CYD)}
        assert "damaged" in caplog.text

    @pytest.mark.parametrize("key", ["alive", "complete", f"banner:{ADA}", f"profile:{ADA}", f"miss:{ADA}"])
    @pytest.mark.parametrize("value", [None, "text", '{"at":"x","g":[]}', 7.5])
    def test_a_damaged_value_counts_as_absent(
        self, store: PresenceStore, cache: BaseCache, key: str, value: object
    ) -> None:
        """None: one that the cache itself cannot read."""
        written(store, 1, ADA)
        store.keep_banner(ADA, BANNER)
        store.keep_profile(ADA, PROFILE)
        store.keep_miss(ADA, "notFound")
        whole = store.snapshot(ADA)
        cache.set(key, value)
        if value is None:
            damage(cache, key)
        absent: dict[str, dict[str, Any]] = {  # Any: of any column
            "alive": {"alive_at": None},
            "complete": {"alive_at": None},
            f"banner:{ADA}": {"banner": None},
            f"profile:{ADA}": {"profile": None},
            f"miss:{ADA}": {"miss": ""},
        }
        assert store.snapshot(ADA) == replace(whole, **absent[key])


# --- Requests of readers: each id once in a while, in order, and never lost between two of them ---


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(datetime.fromtimestamp(NOON, UTC), tick=False) as clock:
        yield clock


def test_what_was_asked_is_returned_once_in_its_order(store: PresenceStore) -> None:
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


def test_of_very_many_the_newest_are_returned(store: PresenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
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
