"""The engine that DATABASES names: Django's, whose connections have a deadline.

No statement waits for longer: a server that hangs takes statements and answers none, and neither `connect_timeout` nor
`tcp_user_timeout` bounds that wait. Web servers and the presence worker (`databases.waits`) set the deadline above
their `statement_timeout`, which ends long statements of a server that works. Jobs and other commands have no deadline:
an error would cost more than the wait.
"""

from __future__ import annotations

import select
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.postgresql.schema import DatabaseSchemaEditor
from psycopg import errors, generators

if TYPE_CHECKING:
    from django.db.backends.ddl_references import Statement
    from django.db.models import Field, Model
    from psycopg.abc import RV, PQGen
    from psycopg.pq.abc import PGresult

LOCK_SECONDS = 1  # that a migration waits for a lock, and with it every request that needs the table
deadline: float | None = None  # seconds, of this process


class NoAnswer(errors.OperationalError):
    """The server has not answered within the deadline."""


class Connection(psycopg.Connection[Any]):
    """`prepared`: the names of the statements that were prepared by hand. `ahead`: the statement, with its values, that
    was sent before it was needed and whose result is still to be received."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.prepared = set[bytes]()
        self.ahead: object = None
        self._arrivals = select.poll()  # of what the server sends
        self._arrivals.register(self.pgconn.socket, select.POLLIN)

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Run `gen` to its end. Raises NoAnswer after the deadline, unless `timeout` is given."""
        if self.ahead is not None:
            self.drop_ahead()
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, deadline)
        except errors._WaitTimeout:
            raise self._given_up() from None

    def result(self, *, may_have_come: bool = False) -> PGresult:
        """Return the last result of what was sent by hand. Raises NoAnswer after the deadline.

        `may_have_come`: it was sent a while ago, and is looked for before it is waited for.
        """
        server = self.pgconn
        last: PGresult | None = None
        if server.flush():  # of a large value a part was sent
            results: list[PGresult] = self.wait(generators.execute(server))
            return results[-1]
        milliseconds = None if deadline is None else deadline * 1000
        while True:
            if not may_have_come and not self._arrivals.poll(milliseconds):
                raise self._given_up()
            may_have_come = False
            server.consume_input()
            while not server.is_busy():
                result = server.get_result()
                if result is not None:
                    last = result
                elif last is not None:
                    return last  # libpq takes the next statement now
                else:
                    raise errors.OperationalError("The connection to the database has ended.")

    def drop_ahead(self) -> PGresult:
        """Return the result of the statement that was sent ahead; libpq then takes the next one. Raises as `result`."""
        self.ahead = None
        return self.result(may_have_come=True)

    def has_news(self) -> bool:
        """Return whether the server has sent anything since the last result, such as its end. No round trip."""
        return self.closed or bool(self._arrivals.poll(0))

    def _given_up(self) -> NoAnswer:
        self.pgconn.finish()  # a late answer must not reach the next statement
        return NoAnswer(f"The database has not answered within {deadline} s.")


class SchemaEditor(DatabaseSchemaEditor):
    """Django's. A migration in a transaction gives up soon where it does not get a lock, and runs as long as it needs.

    An ALTER TABLE that waits for a long transaction makes every later read of the table wait behind it. `manage.py
    migrate` tries again. A migration without a transaction waits: what it does concurrently blocks no requests.
    """

    def __enter__(self) -> SchemaEditor:
        """Begin as Django does, then set both limits of the transaction."""
        super().__enter__()
        if self.atomic_migration:
            self.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'", params=None)
            self.execute("SET LOCAL statement_timeout = 0", params=None)
        return self

    def _create_like_index_sql(self, model: type[Model], field: Field[Any, Any]) -> Statement | None:
        """Return no second index of a primary or foreign key: ids are found by whole values only."""
        if field.primary_key or field.is_relation:
            return None
        index: Statement | None = super()._create_like_index_sql(model, field)  # type: ignore[misc]  # not in the stubs
        return index


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = SchemaEditor
    # What Django calls of its driver: the classes of errors, and `connect`.
    Database: Any = SimpleNamespace(**{**vars(psycopg), "connect": Connection.connect})

    def __init__(self, *args: Any, **options: Any) -> None:
        """Create the wrapper of one entry of DATABASES."""
        super().__init__(*args, **options)
        if pool := self.settings_dict["OPTIONS"].get("pool"):
            pool["connection_class"] = Connection

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection that the server has not closed. Those of a pool may have been idle for long."""
        connection = super().get_new_connection(conn_params)
        while self.pool and connection.has_news() and not _is_alive(connection):
            connection._pool.putconn(connection)
            connection = super().get_new_connection(conn_params)
        return connection


def _is_alive(connection: Connection) -> bool:
    """Return whether the server answers on the connection. 1 query."""
    from psycopg_pool import ConnectionPool  # which has the connection

    try:
        ConnectionPool.check_connection(connection)
    except psycopg.Error:
        return False
    return True
