"""The presence store from below: what its cache holds, how often it is asked, and how it is hurt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.db import connection
from django.db.models import F
from django.utils import timezone
from django_redis import get_redis_connection

from presence.models import StoreEntry
from presence.store.database_cache import PresenceDatabaseCache
from presence.store.records import Record
from presence.store.store import PresenceStore
from tests.lookup import statements

# Where the settings name Redis, the other one is tested all the same.
CACHES = ["settings", "database"] if settings.REDIS_URL else ["settings"]
TERM = "the test's own term"
UNREADABLE = "gANYYQ=="  # neither JSON nor a pickle


def database_cache() -> PresenceDatabaseCache:
    """On the database of the tests, whichever cache the settings name."""
    return PresenceDatabaseCache("presence_storeentry", {"TIMEOUT": None})


def cache_of(name: str) -> BaseCache:
    """`settings`: the one that is set. `database`: Django's cache on the database."""
    return caches["presence"] if name == "settings" else database_cache()


def damage(cache: BaseCache, key: str) -> None:
    """Put something there that the cache itself cannot read."""
    if isinstance(cache, PresenceDatabaseCache):
        assert StoreEntry.objects.filter(cache_key=cache.make_key(key)).update(value=UNREADABLE) == 1
    else:
        get_redis_connection("presence").set(cache.make_key(key), UNREADABLE)


def seconds_left(cache: BaseCache, key: str) -> float | None:
    """Until the value expires; None where it never does."""
    if isinstance(cache, PresenceDatabaseCache):
        expires: datetime = StoreEntry.objects.get(cache_key=cache.make_key(key)).expires
        return None if expires.year == 9999 else (expires - timezone.now()).total_seconds()
    left = get_redis_connection("presence").pttl(cache.make_key(key))
    return None if left == -1 else left / 1000


def age(cache: BaseCache, key: str, seconds: float) -> None:
    """Let the store's clock go on by so much for this key."""
    if isinstance(cache, PresenceDatabaseCache):
        entry = StoreEntry.objects.filter(cache_key=cache.make_key(key))
        gone_by = timedelta(seconds=seconds, milliseconds=2)  # SQLite's clock counts whole ones
        assert entry.update(expires=F("expires") - gone_by) == 1
    else:
        redis, name = get_redis_connection("presence"), cache.make_key(key)
        redis.pexpire(name, redis.pttl(name) - int(seconds * 1000))  # one that is not positive deletes the key


def round_trips(cache: BaseCache, act: Callable[[], object]) -> list[str]:
    """The commands that the cache's server got while `act` ran, in the words of that server."""
    if isinstance(cache, PresenceDatabaseCache):
        return statements.names(act)
    redis = get_redis_connection("presence")
    number = redis.connection_pool.connection_kwargs.get("db", 0)
    with redis.monitor() as monitor:  # what others do with databases of their own is seen, too
        act()
        redis.echo(_END)
        heard: list[str] = []
        for entry in monitor.listen():
            if entry["db"] == number and entry["client_type"] != "lua":  # what a script does is no round trip
                if _END in entry["command"]:
                    return heard
                name = entry["command"].split()[0].lower()
                heard += [name] if name not in _GREETINGS else []
    raise AssertionError("Redis tells no more")


_END = "the-end-of-what-is-counted"
_GREETINGS = {"auth", "client", "hello", "select"}  # of a new connection


def record(number: int = 1, **changes: Any) -> Record:
    """A member's record; `number` tells them apart."""
    columns: dict[str, Any] = {
        "member": {"user": {"id": str(number), "username": f"member{number}"}},
        "presence": {"status": "online", "client_status": {"desktop": "online"}, "activities": []},
        "generation": 1,
        "touched_at": 1_772_366_400.25,
        "last_online": None,
    }
    return Record(**{**columns, **changes})


def records(store: PresenceStore, chat_ids: Sequence[int]) -> dict[int, Record]:
    """The records of these members, of any generation."""
    read = ((chat_id, Record.from_text(text)) for chat_id, text in store.texts(chat_ids).items())
    return {chat_id: record for chat_id, record in read if record is not None}


def token_of(store: PresenceStore) -> str:
    """The token of a term that the test itself leads; it begins where no other one runs."""
    store.take_lease(TERM)
    assert store.renew_lease(TERM)
    return TERM


def write(store: PresenceStore, texts: Mapping[int, str], gone: Collection[int], *, mark: str = "") -> None:
    store.write(texts, gone, token=token_of(store), mark=mark)


def set_complete(store: PresenceStore, generation: int) -> None:
    store.set_complete(generation, token=token_of(store))


def stamp(store: PresenceStore, alive_at: float, *, generation: int, mark: str = "") -> bool:
    return store.stamp(alive_at, generation=generation, token=token_of(store), mark=mark)


def drop_banner(store: PresenceStore, chat_id: int) -> None:
    store.drop_banners([chat_id], token=token_of(store))


_SETTINGS = {
    "sqlite": ("PRAGMA query_only = ON", "PRAGMA query_only = OFF"),
    "postgresql": ("SET default_transaction_read_only = on", "SET default_transaction_read_only = off"),
}


@contextmanager
def read_only() -> Iterator[None]:
    """It refuses writes. For tests outside a transaction."""
    begin, end = _SETTINGS[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(begin)
        try:
            yield
        finally:
            cursor.execute(end)


@contextmanager
def table_missing(table: str) -> Iterator[None]:
    """The table has another name. For tests outside a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            yield
        finally:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
