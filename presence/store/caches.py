"""What the presence store needs of the cache that holds it: `StoreCache`, with two forms.

| Form | For | A write of the worker is one step |
| --- | --- | --- |
| `PresenceRedisCache` | production | a script on Redis |
| `PresenceDatabaseCache` | the embedded default | a transaction that locks the lease's row |

Both raise what their server raises; `answering` turns that into StoreUnavailable. `tests/presence/test_store*.py` and
`test_lease.py` hold both forms to one contract.
"""

from __future__ import annotations

import json
import logging
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.db import DatabaseCache
from django.db import Error as AnyDatabaseError
from django.db import connections, router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django_redis.cache import RedisCache
from django_redis.exceptions import ConnectionInterrupted
from redis import RedisError
from redis.exceptions import ResponseError

from infrastructure.databases import batches
from infrastructure.redis_connection import Command, RedisConnection, Script
from infrastructure.requests.request_context import Prefetch

if TYPE_CHECKING:
    from presence.models import StoreEntry

# What a cache raises for a value that it cannot read: unpickling may end in any of these.
DAMAGED = (
    ArithmeticError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    pickle.PickleError,
    TypeError,
    ValueError,
)


class StoreUnavailable(Exception):
    """The cache did not answer, or did not keep a write. The message holds no secrets."""


class LeaseLost(Exception):
    """The store refused a write: the lease ended, or another term has begun."""


class StoreCache(ABC, BaseCache):
    """Django's cache, and a lease that guards writes.

    `lease`: the key of the lease. `token`: names one holder's one term; no two terms share a token. `get_many` is one
    round trip. Any, here and in the forms: a cache's value.
    """

    @abstractmethod
    def take(self, lease: str, token: str, seconds: float) -> bool:
        """Take a free lease for so long. Return False where it is held."""

    @abstractmethod
    def renew(self, lease: str, token: str, seconds: float) -> bool:
        """Hold the lease for so long from now. Return False where it ended or is another term's."""

    @abstractmethod
    def release(self, lease: str, token: str) -> None:
        """Free the lease if it is this term's."""

    @abstractmethod
    def write_as(
        self, lease: str, token: str, values: Mapping[str, Any], removed: Collection[str], timeout: float | None
    ) -> bool:
        """Keep `values` for `timeout` seconds (None: without end) and delete `removed`, all in one transaction.

        Return False, with nothing changed, where the lease ended or is another term's.
        """

    def prefetch(self, names: Sequence[str]) -> Prefetch | None:
        """Return the read of `raw`, where the check of an API key can send it along."""
        return None

    def raw(self, names: Sequence[str]) -> Sequence[Any]:
        """Return the values as the server holds them, None for absent ones. 1 round trip."""
        found = self.get_many(names)
        return [found.get(name) for name in names]

    def decoded(self, names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
        """Return what `get_many` returns, from the answer of `raw`."""
        return {name: value for name, value in zip(names, values, strict=True) if value is not None}

    def eviction(self) -> str:
        """Return the policy under which the server drops values when it is short of memory; "" where it drops none."""
        return ""

    def clear_expired(self, after_batch: Callable[[], None] = lambda: None) -> int:
        """Delete what has expired, where the server does not do so by itself. Return how many entries."""
        return 0


@contextmanager
def answering() -> Iterator[None]:
    try:
        yield
    except (RedisError, ConnectionInterrupted, AnyDatabaseError, OSError) as error:
        from accounts import jobs  # it needs models, and a cache may be made before they are loaded

        if isinstance(error, AnyDatabaseError):
            jobs.let_go_of_connections()  # a broken one would fail each time
        raise StoreUnavailable(jobs.described(error)) from error


PICKLE = b"\x80"  # what a pickle begins with
KEEPS_ALL = "noeviction"
# KEYS: the lease. ARGV: the token; how many milliseconds to hold the lease from now, 0 to free it.
HOLD = Script("""
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
""")
# KEYS: the lease, then keys to set, then keys to delete. ARGV: the token; the lifetime in milliseconds, 0 for none;
# the values of the keys to set.
WRITE = Script("""
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for i = 2, #KEYS do
  local value = ARGV[i + 1]
  if not value then redis.call('DEL', KEYS[i])
  elseif ARGV[2] == '0' then redis.call('SET', KEYS[i], value)
  else redis.call('SET', KEYS[i], value, 'PX', ARGV[2]) end
end
return 1
""")


class PresenceRedisCache(StoreCache, RedisCache):
    """Every method raises RedisError, or django-redis's own ConnectionInterrupted, where Redis does not do it."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        RedisCache.__init__(self, server, params)
        self._prefix = str(self.make_key(""))
        # To the server of this cache, which need not be one that the settings name.
        self._redis = RedisConnection(client=lambda: self.client.get_client(write=True))
        self._shares_server_with_limits = server == settings.CACHES["default"].get("LOCATION")

    def get_many(self, keys: Iterable[str], version: int | None = None) -> dict[str, Any]:
        """Read the keys by one MGET. A value that cannot be read raises what unpickling it raises."""
        if version is not None:
            return dict(super().get_many(keys, version))
        names = list(keys)
        return self.decoded(names, self.raw(names)) if names else {}

    def prefetch(self, names: Sequence[str]) -> Prefetch | None:
        if not self._shares_server_with_limits:
            return None
        prefetch = Prefetch()
        prefetch.command = self._command(names)
        return prefetch

    def raw(self, names: Sequence[str]) -> Sequence[Any]:
        values: Sequence[Any] = self._redis.call(*self._command(names))
        return values

    def decoded(self, names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
        return {name: self._value(value) for name, value in zip(names, values, strict=True) if value is not None}

    def _command(self, names: Sequence[str]) -> Command:
        return "MGET", *[self._prefix + name for name in names]

    def _value(self, value: bytes) -> Any:
        if value.startswith(PICKLE):
            return pickle.loads(value)  # noqa: S301 - as django-redis does: who writes there runs this service
        return self.client.decode(value)

    def take(self, lease: str, token: str, seconds: float) -> bool:
        return bool(self.add(lease, token, seconds))

    def renew(self, lease: str, token: str, seconds: float) -> bool:
        return self._run(HOLD, [lease], token, [int(seconds * 1000)])

    def release(self, lease: str, token: str) -> None:
        self._run(HOLD, [lease], token, [0])

    def write_as(
        self, lease: str, token: str, values: Mapping[str, Any], removed: Collection[str], timeout: float | None
    ) -> bool:
        milliseconds = 0 if timeout is None else int(timeout * 1000)
        encoded = [self.client.encode(value) for value in values.values()]
        return self._run(WRITE, [lease, *values, *removed], token, [milliseconds, *encoded])

    def eviction(self) -> str:
        """Return the policy by INFO, as managed servers forbid CONFIG."""
        try:
            memory = self.client.get_client(write=True).info("memory")
        except ResponseError:  # forbidden, too
            return ""
        policy = str(memory.get("maxmemory_policy", KEEPS_ALL))
        return policy if memory.get("maxmemory") and policy != KEEPS_ALL else ""

    def _run(self, script: Script, keys: list[str], token: str, arguments: list[Any]) -> bool:
        """Return whether the script wrote, which it does only for the lease's holder."""
        names = [self._prefix + key for key in keys]
        return bool(self._redis.script(script, names, [self.client.encode(token), *arguments])[0])


NEVER = datetime(9999, 12, 31, tzinfo=UTC)
KEYS_AT_ONCE = 10_000  # where the database sets no limit

logger = logging.getLogger(__name__)


class PresenceDatabaseCache(StoreCache, DatabaseCache):
    """Its values are JSON. Every method raises DatabaseError where the database does not do it.

    The base class counts the table before each write and culls live entries, hides a failed write, keeps pickles, and
    rounds timeouts to seconds. Here a batch is one transaction, and an entry stays until it expires; then it is
    invisible, and deleted by `clear_expired` or the next write of its key. The lease ends by the database's clock.
    """

    def __init__(self, table: str, params: dict[str, Any]) -> None:
        super().__init__(table, params)
        self._table = table

    def get_many(self, keys: Iterable[str], version: int | None = None) -> dict[str, Any]:
        """Read as many keys as a statement may name by one SELECT. A damaged value is logged and counts as absent."""
        names = {self.make_and_validate_key(key, version=version): key for key in keys}
        connection = self._connection(writes=False)
        found: dict[str, Any] = {}
        for some in _parts(list(names), connection):
            sql = f"SELECT cache_key, value FROM {self._quoted} WHERE cache_key IN ({_marks(some)}) AND expires > %s"
            with _undisturbed(connection), connection.cursor() as cursor:
                cursor.execute(sql, [*some, _column(connection, timezone.now())])
                found.update((names[name], _value(name, text)) for name, text in cursor.fetchall())
        return {key: value for key, value in found.items() if value is not None}

    def set_many(
        self, data: Mapping[str, Any], timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> list[str]:
        """Keep all or raise; the list of failed keys is always empty."""
        connection = self._connection(writes=True)
        expires = self._expires(connection, timeout)
        rows = [
            (self.make_and_validate_key(key, version=version), _text(value), expires) for key, value in data.items()
        ]
        rows.sort()  # two writers that meet lock the rows in one order
        sql = (
            f"INSERT INTO {self._quoted} (cache_key, value, expires) VALUES (%s, %s, %s) "
            "ON CONFLICT (cache_key) DO UPDATE SET value = EXCLUDED.value, expires = EXCLUDED.expires"
        )
        if rows:
            with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
                cursor.executemany(sql, rows)
        return []

    def set(self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        self.set_many({key: value}, timeout, version)

    def add(self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Return whether the key was free; of concurrent calls one returns True."""
        connection = self._connection(writes=True)
        name = self.make_and_validate_key(key, version=version)
        sql = (
            f"INSERT INTO {self._quoted} (cache_key, value, expires) VALUES (%s, %s, %s) ON CONFLICT (cache_key) "
            "DO UPDATE SET value = EXCLUDED.value, expires = EXCLUDED.expires "
            f"WHERE {self._quoted}.expires <= %s"
        )
        now = _column(connection, timezone.now())
        return self._changed(connection, sql, [name, _text(value), self._expires(connection, timeout), now]) > 0

    def touch(self, key: str, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        connection = self._connection(writes=True)
        name = self.make_and_validate_key(key, version=version)
        sql = f"UPDATE {self._quoted} SET expires = %s WHERE cache_key = %s AND expires > %s"
        values = [self._expires(connection, timeout), name, _column(connection, timezone.now())]
        return self._changed(connection, sql, values) > 0

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Return the sum; concurrent calls get different ones. ValueError where no number is stored."""
        connection = self._connection(writes=True)
        name = self.make_and_validate_key(key, version=version)
        lock = connection.ops.for_update_sql() if connection.features.has_select_for_update else ""
        old = f"SELECT value FROM {self._quoted} WHERE cache_key = %s AND expires > %s {lock}"
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute(old, [name, _column(connection, timezone.now())])
            row = cursor.fetchone()
            number = _value(name, row[0]) if row else None
            if not isinstance(number, int):
                raise ValueError(f"Key '{key}' not found")
            cursor.execute(f"UPDATE {self._quoted} SET value = %s WHERE cache_key = %s", [_text(number + delta), name])
        return number + delta

    def delete_many(self, keys: Iterable[str], version: int | None = None) -> None:
        self._base_delete_many([self.make_and_validate_key(key, version=version) for key in keys])

    def has_key(self, key: str, version: int | None = None) -> bool:
        return key in self.get_many([key], version)

    def clear_expired(self, after_batch: Callable[[], None] = lambda: None) -> int:
        """Delete expired entries in batches."""
        expired = self._entries().filter(expires__lte=timezone.now())
        return batches.delete(expired, by="expires", after_batch=after_batch)

    def _base_delete_many(self, keys: Sequence[str]) -> bool:
        """Delete keys under the base class's name."""
        connection = self._connection(writes=True)
        with transaction.atomic(using=connection.alias):
            statements = [
                (f"DELETE FROM {self._quoted} WHERE cache_key IN ({_marks(some)})", some)
                for some in _parts(sorted(keys), connection)
            ]
            return sum([self._changed(connection, sql, some) for sql, some in statements]) > 0

    def take(self, lease: str, token: str, seconds: float) -> bool:
        name, value, expires = self.make_and_validate_key(lease), _text(token), Now() + timedelta(seconds=seconds)
        entries = self._entries()
        if entries.filter(pk=name, expires__lte=Now()).update(value=value, expires=expires):
            return True
        entries.bulk_create([entries.model(cache_key=name, value=value, expires=expires)], ignore_conflicts=True)
        return entries.filter(pk=name, value=value).exists()

    def renew(self, lease: str, token: str, seconds: float) -> bool:
        return self._held(lease, token).update(expires=Now() + timedelta(seconds=seconds)) > 0

    def release(self, lease: str, token: str) -> None:
        self._held(lease, token).delete()

    def write_as(
        self, lease: str, token: str, values: Mapping[str, Any], removed: Collection[str], timeout: float | None
    ) -> bool:
        """Write while the lease's row is locked, so that another term begins before this write or after it."""
        with transaction.atomic(using=self._connection(writes=True).alias):
            if not self._held(lease, token).select_for_update().exists():
                return False
            self.delete_many(removed)
            self.set_many(values, timeout)
        return True

    def _entries(self) -> QuerySet[StoreEntry]:
        from presence.models import StoreEntry  # caches may be made before models are

        return StoreEntry.objects.using(self._connection(writes=True).alias)

    def _held(self, lease: str, token: str) -> QuerySet[StoreEntry]:
        """Return the row of the lease, where it is this term's."""
        name = self.make_and_validate_key(lease)
        return self._entries().filter(pk=name, value=_text(token), expires__gt=Now())

    @property
    def _quoted(self) -> str:
        return self._connection(writes=True).ops.quote_name(self._table)

    def _connection(self, *, writes: bool) -> BaseDatabaseWrapper:
        database = router.db_for_write if writes else router.db_for_read
        return connections[database(self.cache_model_class)]

    def _changed(self, connection: BaseDatabaseWrapper, sql: str, values: Sequence[Any]) -> int:
        """Return the rows that the statement changed. In a caller's transaction its failure undoes only itself."""
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute(sql, values)
            return int(cursor.rowcount)

    def _expires(self, connection: BaseDatabaseWrapper, timeout: float | None) -> Any:
        at = self.get_backend_timeout(timeout)
        return _column(connection, NEVER if at is None else datetime.fromtimestamp(at, UTC))


def _undisturbed(connection: BaseDatabaseWrapper) -> AbstractContextManager[None]:
    """Return a savepoint in a caller's transaction, which a failed statement would end on PostgreSQL."""
    is_needed = connection.vendor == "postgresql" and connection.in_atomic_block
    return transaction.atomic(using=connection.alias) if is_needed else nullcontext()


def _column(connection: BaseDatabaseWrapper, at: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(at)


def _marks(keys: Collection[str]) -> str:
    return ", ".join(["%s"] * len(keys))


def _parts(keys: Sequence[str], connection: BaseDatabaseWrapper) -> Iterator[Sequence[str]]:
    size = (connection.features.max_query_params or KEYS_AT_ONCE) - 1  # one is the time
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


def _text(value: Any) -> str:
    """Return JSON in ASCII, which every database takes. Raises TypeError for what JSON cannot say."""
    return json.dumps(value)


def _value(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (RecursionError, ValueError):
        logger.warning("%s of the presence store is damaged.", name)
        return None
