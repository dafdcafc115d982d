"""Connections to a replica, on which no read waits for longer than SECONDS, whatever hangs."""

from __future__ import annotations

import select
import time
from typing import Any

import psycopg
from psycopg import conninfo, errors, pq

from accounts.postgresql.watched import StatementServer

SECONDS = 1.0  # for an answer
CONNECT_SECONDS = 2  # libpq takes no less
_OPTIONS = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": CONNECT_SECONDS * 1000, "client_encoding": "UTF8"}
_DONE = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)


class NoAnswer(errors.OperationalError):
    """The server has not answered in time. Its connection is of no more use: the answer may still come."""


class BoundedServer(StatementServer):
    """Raises NoAnswer."""

    def __init__(self, server: pq.abc.PGconn) -> None:
        super().__init__(server)
        self._poll = select.poll()
        self._poll.register(server.socket, select.POLLIN)

    def _wait(self) -> None:
        give_up_at = time.monotonic() + SECONDS
        while self._server.is_busy():
            if not self._poll.poll(max(give_up_at - time.monotonic(), 0) * 1000):
                raise NoAnswer(f"no answer within {SECONDS:.0f} s")
            self._server.consume_input()


class ReplicaConnection:
    """One of this process. `prepared`: the names of the statements that the server has."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        """`parameters`: of psycopg (Any: libpq's values). Raises psycopg.Error."""
        self._connection = psycopg.connect(**parameters, autocommit=True)
        self.server = BoundedServer(self._connection.pgconn)
        self.prepared: set[bytes] = set()
        self.one(b"SELECT set_config('TimeZone', 'UTC', false)")

    @classmethod
    def to(cls, url: str) -> ReplicaConnection:
        """To the server at an address such as `postgres://user:password@host/name`."""
        return cls(parameters_of(url))

    def one(self, sql: bytes, *values: bytes) -> tuple[bytes | None, ...]:
        """The first row. Raises psycopg.Error."""
        result = self.server.exec_params(sql, values)
        if result.status not in _DONE:
            raise errors.error_from_result(result)
        return tuple(result.get_value(0, column) for column in range(result.nfields))

    @property
    def is_broken(self) -> bool:
        return self.server.status == pq.ConnStatus.BAD

    def close(self) -> None:
        self._connection.close()


def parameters_of(url: str) -> dict[str, Any]:
    """psycopg's, with time limits where the address names no others."""
    return {**_OPTIONS, **conninfo.conninfo_to_dict(url)}


def name_of(url: str) -> str:
    """`host:port`: what operators read, without a secret."""
    given = conninfo.conninfo_to_dict(url)
    return f"{given.get('host', 'localhost')}:{given.get('port', 5432)}"
