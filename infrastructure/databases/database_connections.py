"""Connections to PostgreSQL end with the threads that hold them.

A server starts and ends threads as requests come. Django's connections refer to themselves, so Python would collect
those of ended threads only now and then, and the database would count connections that nothing can use.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

if TYPE_CHECKING:
    import psycopg

_thread = threading.local()


class _Held:
    """Closes a connection when its thread ends, as Python then drops the thread's locals."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


def of_thread() -> BaseDatabaseWrapper:
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
