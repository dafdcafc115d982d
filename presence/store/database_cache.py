"""The presence store of the embedded default: a cache in the database, whose guarded writes lock the lease's row."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.db import connections, router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from infrastructure.databases import batches
from presence.store.caches import StoreCache

if TYPE_CHECKING:
    from presence.models import StoreEntry

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
