"""The engine that DATABASES names: Django's, whose connections are `watched.Connection`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.postgresql.schema import DatabaseSchemaEditor

from accounts.databases.postgresql import watched

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
    Database: Any = SimpleNamespace(**{**vars(psycopg), "connect": watched.Connection.connect})

    def __init__(self, *args: Any, **options: Any) -> None:
        """As the base class has it."""
        super().__init__(*args, **options)
        if pool := self.settings_dict["OPTIONS"].get("pool"):
            pool["connection_class"] = watched.Connection

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """As the base class has it; a pool may hold connections that the server has closed since."""
        if self.pool:
            watched.server_at(**conn_params).refuse_early()
        connection = super().get_new_connection(conn_params)
        while self.pool and connection.has_news() and not _is_alive(connection):
            connection._pool.putconn(connection)
            connection = super().get_new_connection(conn_params)
        return connection


def _is_alive(connection: watched.Connection) -> bool:
    """Whether the server answers on the connection. 1 query."""
    from psycopg_pool import ConnectionPool  # which has the connection

    try:
        ConnectionPool.check_connection(connection)
    except psycopg.Error:
        return False
    return True
