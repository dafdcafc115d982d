"""SQL by hand: statements that are prepared once for each connection, for the paths where each request runs one.

On PostgreSQL they go past the cursors of Django and psycopg, which take longer than a short statement does, to libpq
itself; on SQLite to its connection, which keeps prepared statements. Inside a transaction, and where queries are
counted or wrapped, they go through Django's cursor: a transaction of Django's begins with its first query.

Connections to PostgreSQL end with the threads that hold them. A server starts and ends threads as requests come.
Django's connections refer to themselves, so Python would collect those of ended threads only now and then, and the
database would count connections that nothing can use.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from time import perf_counter
from typing import Any, cast

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from infrastructure.metrics import engine_time
from infrastructure.requests.request_context import Prefetch
from infrastructure.settings_cache import from_settings

if connection.vendor == "postgresql":  # with SQLite, psycopg would take 9 MB of each process for nothing
    import psycopg
    from psycopg import errors, pq

    from infrastructure.databases.postgresql.base import Connection, NoAnswer

    _DONE = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)

Value = str | int | datetime | None
Row = tuple[Any, ...]  # of the kinds that the statement's `columns` name
ReadRow = Callable[..., Row]  # from what a driver gives

_NUMBERED = re.compile(r"\$([0-9]+)")
_NOT_PREPARED = (b"26000", b"0A000")  # SQLSTATE: lost (PgBouncer, DISCARD), or a migration changed its columns

_thread = threading.local()


class _Held:
    """Closes a connection when its thread ends, as Python then drops the thread's locals."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


def thread_connection() -> BaseDatabaseWrapper:
    """Return Django's connection of this thread, found without the checks that `connections` does at each use."""
    found: BaseDatabaseWrapper | None = getattr(_thread, "found", None)
    if found is None:
        found = _thread.found = connections[DEFAULT_DB_ALIAS]
    return found


def hold(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Receive Django's `connection_created`. Connections of a pool go back to it after each request."""
    if connection.vendor == "postgresql" and "pool" not in connection.settings_dict["OPTIONS"]:
        held = [one for one in getattr(_thread, "held", []) if not one.connection.closed]
        _thread.held = [*held, _Held(connection.connection)]


class Statement:
    """`sql`, which PostgreSQL and SQLite both understand, with the placeholders $1, $2…

    `columns`: a letter for each column of the answer, any of which may be None: t is text as UTF-8 bytes, s text, i an
    integer, b a boolean, d a timestamp. `is_read`: it may run twice where its connection turns out to have ended.
    """

    def __init__(self, sql: str, columns: str, *, is_read: bool = True) -> None:
        self._sql = sql.encode()
        self.name = b"by_hand_" + hashlib.sha256(self._sql).hexdigest()[:24].encode()
        self._sqlite = _NUMBERED.sub(r"?\1", sql)
        self._django = _NUMBERED.sub("%s", sql.replace("%", "%%"))
        self._order = [int(number) - 1 for number in _NUMBERED.findall(sql)]
        self._columns = columns
        self._row = _row_function(columns, connection.vendor)
        self._is_read = is_read

    def one(self, *values: Value) -> Row | None:
        """Return the first row, or None. 1 query. Raises Django's database errors."""
        rows = self.all(*values)
        return rows[0] if rows else None

    def all(self, *values: Value) -> list[Row]:
        """Return all rows. 1 query. Raises Django's database errors."""
        database = thread_connection()
        if _is_djangos(database):
            return self._through_django(values)
        if not engine_time.is_on():
            return self._directly(database, values)
        began_at = perf_counter()
        try:
            return self._directly(database, values)
        finally:
            engine_time.note(database.vendor, engine_time.READ if self._is_read else engine_time.WRITE, began_at)

    def _directly(self, database: BaseDatabaseWrapper, values: Sequence[Value]) -> list[Row]:
        if database.connection is None:
            database.ensure_connection()
        if database.vendor == "postgresql":
            result = self._through_libpq(database, values)
            get, read = result.get_value, self._row
            return [read(get, row) for row in range(result.ntuples)]
        with database.wrap_database_errors:
            found = database.connection.execute(self._sqlite, _adapted(values)).fetchall()
        return list(map(self._row, found))

    def _through_django(self, values: Sequence[Value]) -> list[Row]:
        adapted = _adapted(values)
        with connection.cursor() as cursor:
            cursor.execute(self._django, [adapted[index] for index in self._order])
            return list(map(_row_function(self._columns, _CURSOR), cursor.fetchall()))

    def _through_libpq(self, database: BaseDatabaseWrapper, values: Sequence[Value]) -> pq.abc.PGresult:
        try:
            return self._executed(database.connection, values)
        except psycopg.Error as error:
            is_ended = isinstance(error, psycopg.OperationalError) and not database.is_usable()
            if is_ended:
                database.close()
            if not is_ended or isinstance(error, NoAnswer) or not self._is_read:
                with database.wrap_database_errors:
                    raise
        database.ensure_connection()
        with database.wrap_database_errors:
            return self._executed(database.connection, values)

    def _executed(self, raw: Connection, values: Sequence[Value]) -> pq.abc.PGresult:
        """Return the result of the statement. Raises psycopg.Error."""
        if raw.ahead is not None:
            is_this = raw.ahead == (self, values)
            result = raw.drop_ahead()
            if is_this and _sqlstate(result) not in _NOT_PREPARED:
                return _checked(raw, result)
        encoded = _encoded(values)
        if not _is_preparing():
            raw.pgconn.send_query_params(self._sql, encoded)
            return _checked(raw, raw.result())
        if self.name not in raw.prepared:
            self._prepare(raw)
        raw.pgconn.send_query_prepared(self.name, encoded)
        result = raw.result()
        if result.status not in _DONE and result.error_field(pq.DiagnosticField.SQLSTATE) in _NOT_PREPARED:
            raw.pgconn.send_query(b"DEALLOCATE " + self.name)
            raw.result()  # an error, where the server does not have it, changes nothing
            self._prepare(raw)
            raw.pgconn.send_query_prepared(self.name, encoded)
            result = raw.result()
        return _checked(raw, result)

    def _prepare(self, raw: Connection) -> None:
        raw.pgconn.send_prepare(self.name, self._sql)
        _checked(raw, raw.result())
        raw.prepared.add(self.name)


def _is_djangos(database: BaseDatabaseWrapper) -> bool:
    """Return whether a statement has to go through Django's cursor: in a transaction, or where it is wrapped."""
    is_wrapped = database.execute_wrappers and database.execute_wrappers not in engine_time.OWN_WRAPPERS
    return bool(database.in_atomic_block or is_wrapped or database.force_debug_cursor)


BoundStatement = tuple[Statement, tuple[Value, ...]]  # with its values


class SentAhead(Prefetch):
    """A statement, a read, that is sent to PostgreSQL before it is known whether its result is needed.

    `ask`: called for it where it is sent. `one` and `all` of the statement then take the result, where the values are
    equal, in the same thread. It is sent only where that needs nothing else: prepared, outside a transaction.
    """

    def __init__(self, ask: Callable[[], BoundStatement | None]) -> None:
        self._ask = ask

    def send(self) -> None:
        database = thread_connection()
        raw = database.connection
        if database.vendor != "postgresql" or raw is None or _is_djangos(database) or not _is_preparing():
            return
        if raw.ahead is not None or (sent := self._ask()) is None:
            return
        statement, values = sent
        if statement.name not in raw.prepared:
            return
        try:
            raw.pgconn.send_query_prepared(statement.name, _encoded(values))
        except psycopg.OperationalError:  # it has ended: `one` and `all` replace it
            return
        raw.ahead = sent

    def drop(self) -> None:
        database = thread_connection()
        raw = database.connection
        if getattr(raw, "ahead", None) is None:
            return
        try:
            is_done = raw.drop_ahead().status in _DONE
        except psycopg.OperationalError:
            is_done = False
        if not is_done:  # what ends the request then asks whether the connection has ended
            database.errors_occurred = True


def _sqlstate(result: pq.abc.PGresult) -> bytes | None:
    """Return the code of an error, None for a result."""
    return None if result.status in _DONE else result.error_field(pq.DiagnosticField.SQLSTATE)


@from_settings
def _is_preparing() -> bool:
    return settings.DATABASE_PREPARED_STATEMENTS


def _checked(raw: Connection, result: pq.abc.PGresult) -> pq.abc.PGresult:
    """Return `result`, unless it is an error: raises psycopg's exception for it."""
    if result.status in _DONE:
        return result
    if raw.pgconn.status == pq.ConnStatus.BAD:
        raise errors.OperationalError("The connection to the database has ended.")
    raise errors.error_from_result(result)


def _encoded(values: Sequence[Value]) -> list[bytes | None]:
    """Return values as PostgreSQL reads them."""
    return [
        None if value is None else (value.isoformat() if isinstance(value, datetime) else str(value)).encode()
        for value in values
    ]


def _adapted(values: Sequence[Value]) -> Sequence[Any]:
    """Return the values as the driver of Django's connection takes them."""
    if datetime not in map(type, values):
        return values
    return [
        connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value for value in values
    ]


def _timestamp(value: bytes | str | datetime) -> datetime:
    """Return a timestamp with its time zone, which SQLite leaves out."""
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


# From what a driver gives to the value, by kind, as source. Other kinds are what it gives.
_GIVEN = "None if (v := {given}) is None else "
_FROM_TEXT = {
    "s": f"{_GIVEN}v.decode()",
    "i": f"{_GIVEN}int(v)",
    "b": f"{_GIVEN}v == b't'",
    "d": f"{_GIVEN}timestamp(v)",
}
_FROM_SQLITE = {"t": f"{_GIVEN}v.encode()", "b": f"{_GIVEN}bool(v)", "d": f"{_GIVEN}timestamp(v)"}
_CURSOR = "cursor"  # of Django, in place of the vendor
_DRIVERS = {  # parameters of the function, what a column is given by, and the kinds
    "postgresql": ("get, row", "get(row, {at})", _FROM_TEXT),
    "sqlite": ("row", "row[{at}]", _FROM_SQLITE),
    _CURSOR: ("row", "row[{at}]", {**_FROM_SQLITE, "s": f"{_GIVEN}str(v)", "i": f"{_GIVEN}int(v)"}),
}


@functools.cache
def _row_function(columns: str, driver: str) -> ReadRow:
    """Return a function to the row from that of a driver; from `get_value` of a result of libpq and a row's number.

    A function for each kind of row takes a third of the time of a list of converters: every lookup reads up to 28
    values.
    """
    parameters, given, kinds = _DRIVERS[driver]
    cells = "".join(
        kinds.get(kind, "{given}").format(given=given.format(at=at)) + ", " for at, kind in enumerate(columns)
    )
    source = f"lambda {parameters}: ({cells})"
    return cast("ReadRow", eval(source, {"timestamp": _timestamp}))  # noqa: S307 - made of the lines above alone


# --- Many rows or values as one value: as a parameter, since thousands of placeholders take longer to read than the
# rows to write, or as a column of the answer. The same statement runs on PostgreSQL and SQLite.
_ROWS = {"postgresql": "json_array_elements(%s::json) AS n(value)", "sqlite": "json_each(%s) AS n"}
_COLLECTED = {"postgresql": "json_agg(json_build_array({}))", "sqlite": "json_group_array(json_array({}))"}
_LISTED = {  # PostgreSQL reads the list once, and then walks an index for each value
    "postgresql": "{0} = ANY (ARRAY(SELECT CAST(value AS {1}) FROM json_array_elements_text({2}::json)))",
    "sqlite": "{0} IN (SELECT value FROM json_each({2}))",
}
_CAST = {
    "postgresql": {"timestamp": "CAST(n.value->>{at} AS timestamptz)", "date": "CAST(n.value->>{at} AS date)"},
    "sqlite": {"timestamp": "n.value->>{at}", "date": "n.value->>{at}"},
}


def rows_source() -> str:
    """Return the source of rows for FROM; the columns are then `n.value->>0` and so on, which are texts."""
    return _ROWS[connection.vendor]


def row_column(at: int, kind: str) -> str:
    """Return the column `at` of a row, of kind "timestamp" or "date"."""
    return _CAST[connection.vendor][kind].format(at=at)


def collected_rows(columns: Sequence[str]) -> str:
    """Return the column that holds all rows of its SELECT as an array of arrays in JSON; PostgreSQL: NULL for none."""
    return f"CAST({_COLLECTED[connection.vendor].format(', '.join(columns))} AS text)"


def is_listed(column: str, kind: str, values: str) -> str:
    """Return the condition that `column`, of the SQL type `kind`, is one of the parameter `values`, a JSON array."""
    return _LISTED[connection.vendor].format(column, kind, values)


def rows_parameter(rows: Sequence[Sequence[Any]]) -> str:
    """Return `rows` (numbers, texts, dates and timestamps) as the statement's parameter."""
    return json.dumps([[_json_value(value) for value in row] for row in rows])


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return str(connection.ops.adapt_datetimefield_value(value))
    return str(value) if isinstance(value, date) else value
