"""Connections that do not wait for a PostgreSQL that hangs: one that takes connections and statements and answers none.

`connect_timeout` bounds a connection alone, and `tcp_user_timeout` nothing of this, since the system of a server that
hangs confirms what it receives. A long statement is none of it: after PAUSE seconds without an answer the server is
asked on a connection of its own, and the wait goes on where it answers that. Where it does not, what waits ends with
ServerHangs, and new connections are refused at once but for one that tries, so that one thread waits and not all.

Only web servers call `bound_waits`: in jobs and commands an error would cost more than the wait.
"""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any

import psycopg
from psycopg import OperationalError, errors, pq
from psycopg.waiting import READY_NONE

PAUSE = 1.0  # seconds without an answer after which the server is asked
LIMIT = 2.0  # seconds that this question takes at most, the connection for it included
FRESH = 1.0  # seconds for which its answer counts
NO_ANSWER = "The database does not answer."
Values = Sequence[bytes | None]  # as PostgreSQL reads them


class ServerHangs(OperationalError):
    """The server answers nothing."""


class Server:
    """What is known of the server at one address. `params`: psycopg's for a connection to it."""

    def __init__(self, params: dict[str, Any]) -> None:
        self._params = params
        self._lock = threading.Lock()
        self._asked_at = float("-inf")
        self._hangs = False
        self._trial = threading.Lock()  # held by the thread that tries to connect to a server that hangs

    def connect(self, connect: Callable[[], Connection]) -> Connection:
        """What `connect` returns. ServerHangs at once, where another thread has just found that out."""
        if not self._hangs:
            return self._tried(connect)
        self.refuse_early()
        if not self._trial.acquire(blocking=False):
            raise ServerHangs(NO_ANSWER)
        try:
            return self._tried(connect)
        finally:
            self._trial.release()

    def refuse_early(self) -> None:
        """ServerHangs where that was found out within FRESH seconds, or another thread tries to connect."""
        if self._hangs and (self._trial.locked() or time.monotonic() - self._asked_at < FRESH):
            raise ServerHangs(NO_ANSWER)

    def check(self) -> None:
        """ServerHangs where the server does not answer on a connection of its own either. One thread asks for all."""
        with self._lock:
            if time.monotonic() - self._asked_at >= FRESH:
                self._note(hangs=not self._answers())
            if self._hangs:
                raise ServerHangs(NO_ANSWER)

    def _tried(self, connect: Callable[[], Connection]) -> Connection:
        try:
            connection = connect()
        except errors.ConnectionTimeout:
            self._note(hangs=True)
            raise
        except psycopg.Error:  # the server answered, or refused the connection
            self._note(hangs=False)
            raise
        self._hangs = False
        return connection

    def _note(self, *, hangs: bool) -> None:
        self._hangs, self._asked_at = hangs, time.monotonic()

    def _answers(self) -> bool:
        params = {**self._params, "connect_timeout": int(LIMIT), "autocommit": True}
        try:
            with _Question.connect(**params) as connection:
                connection.execute("SELECT 1")
        except (errors.ConnectionTimeout, TimeoutError):
            return False
        except psycopg.Error:  # full, or shutting down: the statement that waits will hear of it
            return True
        return True


class _Question(psycopg.Connection[Any]):
    """Waits LIMIT seconds for an answer."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = LIMIT) -> Any:
        """As the base class has it."""
        give_up_at = time.monotonic() + LIMIT

        def give_up() -> None:
            if time.monotonic() >= give_up_at:
                self.pgconn.finish()
                raise TimeoutError

        return super().wait(_ticking(gen, give_up), interval)


class Connection(psycopg.Connection[Any]):
    """A connection whose waits are bounded, as the module describes."""

    server: Server
    arrivals: select.poll  # of what the server sends

    @classmethod
    def connect(cls, conninfo: str = "", **params: Any) -> Connection:
        """As the base class has it."""
        server = server_at(conninfo, **params)
        plain = super().connect
        connection = server.connect(lambda: plain(conninfo, **params)) if _is_bounded else plain(conninfo, **params)
        connection.server = server
        connection.arrivals = select.poll()
        connection.arrivals.register(connection.pgconn.socket, select.POLLIN)
        return connection

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """As the base class has it."""
        if not _is_bounded:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(_ticking(gen, _each_pause(self.server.check)), interval, timeout)
        except ServerHangs:
            self.pgconn.finish()  # a late answer must not reach the next statement
            raise

    def has_news(self) -> bool:
        """Whether the server has sent anything since the last answer, such as its end. Costs no round trip."""
        return self.closed or bool(self.arrivals.poll(0))


def wait_for_result(connection: Connection) -> None:
    """Return once libpq can give the result of what was sent by hand without waiting. May raise ServerHangs."""
    server = connection.pgconn
    pause = PAUSE * 1000 if _is_bounded else None  # milliseconds
    try:
        while server.flush():  # of a large value a part alone was sent
            writable = select.poll()
            writable.register(server.socket, select.POLLIN | select.POLLOUT)
            while not writable.poll(pause):
                connection.server.check()
            server.consume_input()
        while server.is_busy():
            while not connection.arrivals.poll(pause):
                connection.server.check()
            server.consume_input()
    except ServerHangs:
        server.finish()
        raise


class StatementServer:
    """The methods of libpq's connection that `databases.statements` uses. Subclasses bound the wait for an answer."""

    def __init__(self, server: pq.abc.PGconn) -> None:
        self._server = server

    @property
    def status(self) -> int:
        return self._server.status

    def prepare(self, name: bytes, sql: bytes) -> pq.abc.PGresult:
        self._server.send_prepare(name, sql)
        return self._result()

    def exec_prepared(self, name: bytes, values: Values) -> pq.abc.PGresult:
        self._server.send_query_prepared(name, values)
        return self._result()

    def exec_params(self, sql: bytes, values: Values) -> pq.abc.PGresult:
        self._server.send_query_params(sql, values)
        return self._result()

    def exec_(self, sql: bytes) -> pq.abc.PGresult:
        self._server.send_query(sql)
        return self._result()

    def _result(self) -> pq.abc.PGresult:
        """The last result of what was sent."""
        self._wait()
        last = None
        while (result := self._server.get_result()) is not None:  # libpq takes the next statement after None
            last = result
            self._wait()
        if last is None:
            raise errors.OperationalError("The connection to the database has ended.")
        return last

    def _wait(self) -> None:
        """Return once libpq can give a result without waiting."""
        raise NotImplementedError


class WatchedServer(StatementServer):
    """Raises ServerHangs."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection.pgconn)
        self._connection = connection

    def _wait(self) -> None:
        wait_for_result(self._connection)


def bound_waits() -> None:
    """Bound the waits of this process from now on."""
    global _is_bounded  # noqa: PLW0603 - of the process
    _is_bounded = True


_is_bounded = False
_servers: dict[tuple[Any, ...], Server] = {}  # by address


def server_at(conninfo: str = "", **params: Any) -> Server:
    """Return the server to which these parameters of psycopg lead."""
    key = (conninfo, *(params.get(name) for name in ("host", "hostaddr", "port", "dbname", "user")))
    known = _servers.get(key)
    if known is None:
        known = _servers[key] = Server({"conninfo": conninfo, **params})
    return known


def _ticking(gen: Any, tick: Callable[[], None]) -> Generator[Any, Any, Any]:
    """`gen`, of psycopg, which waits for a socket at each `yield`: `tick` is called each tenth of a second of it."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready == READY_NONE:
                tick()
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value


def _each_pause(check: Callable[[], None]) -> Callable[[], None]:
    check_at = time.monotonic() + PAUSE

    def tick() -> None:
        nonlocal check_at
        if time.monotonic() >= check_at:
            check()
            check_at = time.monotonic() + PAUSE

    return tick
