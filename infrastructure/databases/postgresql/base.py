"""The engine that DATABASES names: Django's, whose connections have a deadline."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.postgresql.schema import DatabaseSchemaEditor

from infrastructure.databases.postgresql.deadline import Connection

LOCK_SECONDS = 1  # that a migration waits for a lock, and with it every request that needs the table


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
