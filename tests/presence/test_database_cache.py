"""Django's cache on the database, as presence needs it: exact, loud, quick in batches. On SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from config import data_stores
from presence.models import StoreEntry
from presence.store import store
from presence.store.database_cache import PresenceDatabaseCache
from tests.lookup import statements
from tests.support.threads import together

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

pytestmark = [pytest.mark.embedded, pytest.mark.django_db]


@pytest.fixture
def cache() -> PresenceDatabaseCache:
    return opened()


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


def opened(table: str = "presence_storeentry") -> PresenceDatabaseCache:
    return PresenceDatabaseCache(table, {"TIMEOUT": None})


VALUES = [
    "text",
    "",
    "nul \x00, half a pair \ud800, 絵文字 🎮, 'quoted' \" %s",
    7,
    2**70,
    0.125,
    {"a": [1, None]},
    True,
]


@pytest.mark.parametrize("value", VALUES)
def test_what_was_set_is_what_is_got(cache: PresenceDatabaseCache, value: Any) -> None:
    cache.set("key", value)
    assert cache.get("key") == value
    cache.set_many({"key": "another"})
    cache.set_many({"key": value})
    assert cache.get_many(["key", "absent"]) == {"key": value}


def test_what_json_cannot_say_is_refused_and_nothing_of_the_batch_is_kept(cache: PresenceDatabaseCache) -> None:
    with pytest.raises(TypeError):
        cache.set_many({"good": 1, "bad": object()})
    assert cache.get_many(["good", "bad"]) == {}


def test_values_expire_to_the_fraction_of_a_second(cache: PresenceDatabaseCache, clock: time_machine.Traveller) -> None:
    cache.set_many({"short": 1}, 0.25)
    cache.set("long", 2, 30)
    cache.set("for-ever", 3)
    clock.move_to(NOON + timedelta(seconds=0.2499))
    assert cache.get_many(["short", "long", "for-ever"]) == {"short": 1, "long": 2, "for-ever": 3}
    clock.move_to(NOON + timedelta(seconds=0.25))
    assert cache.get_many(["short", "long", "for-ever"]) == {"long": 2, "for-ever": 3}
    assert [cache.has_key("short"), cache.has_key("long")] == [False, True]
    clock.move_to(NOON + timedelta(days=36500))
    assert cache.get_many(["short", "long", "for-ever"]) == {"for-ever": 3}


def test_what_expired_stays_until_it_is_cleared_and_nothing_else_goes(
    cache: PresenceDatabaseCache, clock: time_machine.Traveller
) -> None:
    cache.set_many({"short": 1, "shorter": 2}, 10)
    cache.set_many({"long": 3})
    clock.shift(10)
    assert cache.get_many(["short", "shorter", "long"]) == {"long": 3}
    assert StoreEntry.objects.count() == 3
    assert [cache.clear_expired(), cache.clear_expired()] == [2, 0]
    assert list(StoreEntry.objects.values_list("cache_key", flat=True)) == [":1:long"]


def test_a_key_is_added_once_until_it_expires(cache: PresenceDatabaseCache, clock: time_machine.Traveller) -> None:
    assert [cache.add("key", 1, 30), cache.add("key", 2, 30), cache.get("key")] == [True, False, 1]
    clock.shift(30)
    assert [cache.add("key", 3, 30), cache.get("key")] == [True, 3]


def test_touching_moves_the_end_of_what_is_there(cache: PresenceDatabaseCache, clock: time_machine.Traveller) -> None:
    cache.set("key", 1, 10)
    assert [cache.touch("key", 30), cache.touch("absent", 30)] == [True, False]
    clock.shift(20)
    assert cache.get("key") == 1
    clock.shift(10)
    assert [cache.touch("key", 30), cache.get("key")] == [False, None]  # at its end
    clock.shift(1)
    assert [cache.touch("key", 30), cache.get("key")] == [False, None]


def test_counting_needs_something_to_count_from(cache: PresenceDatabaseCache, clock: time_machine.Traveller) -> None:
    with pytest.raises(ValueError, match="not found"):
        cache.incr("count")
    for nothing in ("text", None, 1.5):
        cache.set("count", nothing)
        with pytest.raises(ValueError, match="not found"):
            cache.incr("count")
    cache.set("count", 2**40, 30)
    assert [cache.incr("count"), cache.incr("count", 5), cache.decr("count"), cache.get("count")] == [
        2**40 + 1,
        2**40 + 6,
        2**40 + 5,
        2**40 + 5,
    ]
    clock.shift(30)
    with pytest.raises(ValueError, match="not found"):
        cache.incr("count")


def test_deleting_says_whether_there_was_something(cache: PresenceDatabaseCache) -> None:
    cache.set_many({"a": 1, "b": 2, "c": 3})
    assert [cache.delete("a"), cache.delete("a")] == [True, False]
    cache.delete_many(["b", "absent"])
    cache.delete_many([])
    assert cache.get_many(["a", "b", "c"]) == {"c": 3}
    cache.clear()
    assert cache.get_many(["c"]) == {}


def test_a_batch_is_one_statement_and_nothing_is_counted(cache: PresenceDatabaseCache) -> None:
    keys = [f"key:{number}" for number in range(900)]
    asked = statements.names(lambda: cache.set_many(dict.fromkeys(keys, "value")))
    assert [name for name in asked if "presence" in name] == ["INSERT presence_storeentry"]
    read = statements.names(lambda: cache.get_many(keys))
    assert [name for name in read if "presence" in name] == ["SELECT presence_storeentry"]
    assert statements.names(lambda: cache.get_many([])) == []
    assert statements.names(lambda: cache.set_many({})) == []


def test_more_keys_than_a_statement_may_name_are_got_and_deleted(cache: PresenceDatabaseCache) -> None:
    values = {f"key:{number}": number for number in range(10_500)}
    cache.set_many(values)
    assert cache.get_many(values) == values
    cache.delete_many(list(values))
    assert StoreEntry.objects.count() == 0


def test_a_damaged_value_is_absent_and_costs_no_other(
    cache: PresenceDatabaseCache, caplog: pytest.LogCaptureFixture
) -> None:
    cache.set_many({"good": 1, "bad": 2, "nested": 3})
    StoreEntry.objects.filter(cache_key=":1:bad").update(value="gANYYQ==")
    StoreEntry.objects.filter(cache_key=":1:nested").update(value="[" * 100_000)
    assert cache.get_many(["good", "bad", "nested"]) == {"good": 1}
    assert sorted(caplog.messages) == [f":1:{key} of the presence store is damaged." for key in ("bad", "nested")]


@pytest.mark.django_db(transaction=True)
class TestTogether:
    def test_one_of_many_adds_a_key(self) -> None:
        assert sorted(together(6, lambda number: opened().add("key", number, 30))) == [False] * 5 + [True]

    def test_one_of_many_takes_over_a_key_that_expired(self) -> None:
        opened().set("key", -1, -1)
        assert sorted(together(6, lambda number: opened().add("key", number, 30))) == [False] * 5 + [True]

    def test_no_two_count_to_the_same_number(self) -> None:
        opened().set("count", 0)
        counts = together(6, lambda number: [opened().incr("count") for _ in range(10)])
        assert sorted(chain.from_iterable(counts)) == list(range(1, 61))

    def test_batches_in_any_order_wait_for_each_other(self) -> None:
        keys = [f"key:{number}" for number in range(300)]

        def write(number: int) -> None:
            for order in (keys, keys[::-1]):
                opened().set_many(dict.fromkeys(order, number))

        together(4, write)
        assert len(set(opened().get_many(keys).values())) == 1


def test_what_expired_goes_and_what_counts_stays(settings: Settings) -> None:
    settings.CACHES = data_stores.caches("")
    store.opened().keep_miss(268473310986240001, "notMember")  # for 10 min
    store.opened().keep_miss(268473310986240002, "notFound")
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        assert call_command("sweep_presence") == "Removed 1 expired entries."
    assert StoreEntry.objects.count() == 1


def test_redis_clears_what_expired_by_itself(settings: Settings) -> None:
    settings.CACHES = {**settings.CACHES, "presence": data_stores.caches("redis://127.0.0.1:1/0")["presence"]}
    assert call_command("sweep_presence") == "Removed 0 expired entries."
