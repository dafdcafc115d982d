"""A store that does not answer says so: every act of it, and never a guess."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache.backends.base import BaseCache
from django.db import connection

from presence.store.records import Banner, Profile
from presence.store.redis_cache import PresenceRedisCache
from presence.store.store import PresenceStore, StoreUnavailable
from tests.presence import store_contents
from tests.presence.store_contents import database_cache, record

ADA = 80351110224678912
WRITES: dict[str, Any] = {  # Any: what they give back differs
    "write": lambda store: store_contents.write(store, {ADA: record(ADA).to_text()}, []),
    "delete": lambda store: store_contents.write(store, {}, [ADA]),
    "stamp": lambda store: store_contents.stamp(store, 1.5, generation=1),
    "set_complete": lambda store: store_contents.set_complete(store, 2),
    "keep_banner": lambda store: store.keep_banner(ADA, Banner(None, 1.5)),
    "drop_banner": lambda store: store_contents.drop_banner(store, ADA),
    "keep_profile": lambda store: store.keep_profile(ADA, Profile(None, (), 1.5, is_failure=True)),
    "keep_miss": lambda store: store.keep_miss(ADA, "notFound"),
    "keep_departures": lambda store: store.keep_departures([ADA], token=store_contents.token_of(store)),
    "ask": lambda store: store.request_refresh(ADA),
    "keep_stats": lambda store: store.keep_stats({}),
}
READS: dict[str, Any] = {
    "snapshot": lambda store: store.snapshot(ADA),
    "alive_at": lambda store: store.alive_at(),
    "generation": lambda store: store.generation(),
    "texts": lambda store: store.texts([ADA]),
    "asked": lambda store: store.pending_refreshes(0),
    "stats": lambda store: store.stats(),
}
ACTS = {**WRITES, **READS}


@pytest.fixture(scope="module")
def closed_port() -> Iterator[int]:
    """A port that is bound and refuses connections."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def test_a_redis_that_does_not_run_is_reported(closed_port: int) -> None:
    assert refused(PresenceStore(redis(closed_port)), ACTS) == list(ACTS)


@pytest.mark.parametrize("name", ["snapshot", "write"])
def test_a_redis_that_hangs_is_reported(name: str) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(StoreUnavailable, match="TimeoutError"):
            ACTS[name](PresenceStore(redis(silent.getsockname()[1])))


def redis(port: int) -> BaseCache:
    patience = {"SOCKET_CONNECT_TIMEOUT": 0.2, "SOCKET_TIMEOUT": 0.2}
    cache: BaseCache = PresenceRedisCache(f"redis://127.0.0.1:{port}/0", {"TIMEOUT": None, "OPTIONS": patience})
    return cache


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
class TestDatabase:
    def test_a_missing_table_is_reported_and_forgotten_when_it_is_there_again(self) -> None:
        store = filled()
        with store_contents.table_missing("presence_storeentry"):
            assert refused(store, ACTS) == list(ACTS)
        assert refused(store, ACTS) == []
        assert store.alive_at() == 1.5

    def test_a_database_that_cannot_be_written_is_reported_and_still_read(self) -> None:
        store = filled()
        for act in WRITES.values():
            with store_contents.read_only(), pytest.raises(StoreUnavailable):  # the connection is a new one afterwards
                act(store)
        with store_contents.read_only():
            assert refused(store, READS) == []
        assert store.snapshot(ADA).record == record(ADA)


def refused(store: PresenceStore, acts: dict[str, Any]) -> list[str]:
    """Which of them the store says that it did not do."""
    names = []
    for name, act in acts.items():
        try:
            act(store)
        except StoreUnavailable:
            names.append(name)
    return names


def filled() -> PresenceStore:
    store = PresenceStore(database_cache())
    store_contents.write(store, {ADA: record(ADA).to_text()}, [])
    store_contents.set_complete(store, 1)
    assert store_contents.stamp(store, 1.0, generation=1) is True
    return store


if connection.vendor == "postgresql":  # SQLite has no connection that could break

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("name", ["snapshot", "write"])
    def test_a_connection_that_broke_is_replaced_for_the_next_act(name: str) -> None:
        store = filled()
        connection.connection.close()
        with pytest.raises(StoreUnavailable, match="OperationalError"):
            ACTS[name](store)
        ACTS[name](store)
