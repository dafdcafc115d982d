"""A PostgreSQL that takes connections and statements and answers none keeps a web server waiting until the deadline."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from infrastructure.databases import statements
from infrastructure.databases.postgresql import base
from infrastructure.databases.postgresql.base import DatabaseWrapper, NoAnswer
from infrastructure.databases.statements import Statement
from tests.support import ports
from tests.support.servers import POSTGRES_OPTIONS, Postgres

pytestmark = pytest.mark.django_db(transaction=True)

NUMBER = Statement("SELECT 7", "i")
SECONDS = 1.0
CONNECT_SECONDS = 2
SLACK = 2.0  # of a busy machine
LARGE = 20_000_000
POOL = {"min_size": 1, "max_size": 2, "timeout": 1.5, "reconnect_timeout": 0}


class Server:
    """A server that can be stopped: its system then accepts connections and statements, and it answers none."""

    def __init__(self, port: int, pid: int) -> None:
        self.port, self._pid = port, pid
        self._stopped: list[int] = []

    def hang(self) -> None:
        self._stopped = [self._pid, *self._children()]
        self._send(signal.SIGSTOP)

    def go_on(self) -> None:
        self._send(signal.SIGCONT)
        self._stopped = []

    def _children(self) -> list[int]:
        return [int(pid) for pid in Path(f"/proc/{self._pid}/task/{self._pid}/children").read_text().split()]

    def _send(self, number: signal.Signals) -> None:
        for pid in self._stopped:
            with contextlib.suppress(ProcessLookupError):  # a backend that has ended
                os.kill(pid, number)


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        directory.chmod(0o755)  # PostgreSQL's own user has to pass through
        (port,) = stack.enter_context(ports.held(1))
        postgres = Postgres(directory)
        postgres.make(directory / "hanging")
        yield Server(port, postgres.start(directory / "hanging", port, POSTGRES_OPTIONS, stack).pid)


@pytest.fixture
def server(running: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The server, in a process that has a deadline."""
    monkeypatch.setattr(base, "deadline", SECONDS)
    yield running
    running.go_on()


def wrapper(server: Server, **options: object) -> DatabaseWrapper:
    values = {**connection.settings_dict, "NAME": "postgres", "USER": "tests", "HOST": "127.0.0.1"}
    values |= {"PORT": str(server.port), "OPTIONS": {"connect_timeout": CONNECT_SECONDS, **options}}
    return DatabaseWrapper({**values, "CONN_MAX_AGE": 0 if options else None, "CONN_HEALTH_CHECKS": False}, "hanging")


@pytest.fixture
def database(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[BaseDatabaseWrapper]:
    """Django's connection to the server, which statements by hand take, too."""
    through = wrapper(server)
    monkeypatch.setattr(statements, "thread_connection", lambda: through)
    yield through
    server.go_on()
    through.close()


def by_cursor(database: BaseDatabaseWrapper) -> int:
    with database.cursor() as cursor:
        cursor.execute("SELECT 7")
        return int(cursor.fetchone()[0])


def by_hand(database: BaseDatabaseWrapper) -> int:
    row = NUMBER.one()
    assert row is not None
    return int(row[0])


def raised_in_time(ask: Callable[[], object], seconds: float) -> OperationalError:
    began_at = time.monotonic()
    with pytest.raises(OperationalError) as raised:
        ask()
    assert time.monotonic() - began_at < seconds + SLACK
    return raised.value


@pytest.mark.parametrize("ask", [by_cursor, by_hand])
def test_a_statement_ends_at_the_deadline_and_the_server_is_found_again(
    server: Server, database: BaseDatabaseWrapper, ask: Callable[[BaseDatabaseWrapper], int]
) -> None:
    assert ask(database) == 7
    held = database.connection
    server.hang()
    error = raised_in_time(lambda: ask(database), SECONDS)
    assert isinstance(error.__cause__, NoAnswer)
    assert held.closed  # a late answer reaches nothing
    database.close_if_unusable_or_obsolete()
    raised_in_time(lambda: ask(database), CONNECT_SECONDS)
    server.go_on()
    assert ask(database) == 7


def test_a_transaction_ends_at_the_deadline(server: Server, database: BaseDatabaseWrapper) -> None:
    database.set_autocommit(autocommit=False)
    assert by_cursor(database) == 7
    held = database.connection
    server.hang()
    raised_in_time(lambda: by_cursor(database), SECONDS)
    assert held.closed
    database.close()
    server.go_on()
    assert by_cursor(database) == 7


def test_a_long_statement_ends_by_its_own_limit_and_the_connection_stays(database: BaseDatabaseWrapper) -> None:
    with database.cursor() as cursor:
        cursor.execute("SET statement_timeout = '300ms'")
    held = database.connection
    for ask in (lambda: Statement("SELECT 7 FROM pg_sleep(30)", "i").one(), lambda: _sleep(database)):
        error = raised_in_time(ask, SECONDS)
        assert isinstance(error.__cause__, psycopg.errors.QueryCanceled)
    assert (by_hand(database), by_cursor(database)) == (7, 7)
    assert database.connection is held


def _sleep(database: BaseDatabaseWrapper) -> None:
    with database.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(30)")


def test_large_values_and_answers_pass(database: BaseDatabaseWrapper) -> None:
    text = "x" * LARGE
    assert Statement("SELECT CAST($1 AS text)", "s").one(text) == (text,)
    assert by_hand(database) == 7


def test_a_program_that_is_no_web_server_waits(
    server: Server, database: BaseDatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert by_cursor(database) == 7
    monkeypatch.setattr(base, "deadline", None)
    server.hang()
    timer = threading.Timer(SECONDS + 0.5, server.go_on)
    timer.start()
    assert (by_cursor(database), by_hand(database)) == (7, 7)
    timer.join()


def test_a_pool_gives_no_connection_that_was_given_up(server: Server) -> None:
    pooled = wrapper(server, pool=dict(POOL))
    try:
        assert by_cursor(pooled) == 7
        server.hang()
        raised_in_time(lambda: by_cursor(pooled), SECONDS)
        pooled.close()
        raised_in_time(lambda: by_cursor(pooled), CONNECT_SECONDS)
        server.go_on()
        assert until_it_answers(pooled) == 7
    finally:
        pooled.close()
        pooled.close_pool()


def until_it_answers(pooled: BaseDatabaseWrapper) -> int:
    """Return what a request gets, which begins without a connection. The pool tries again only when one is needed."""
    give_up_at = time.monotonic() + 30
    while True:
        pooled.close()
        try:
            return by_cursor(pooled)
        except OperationalError:
            assert time.monotonic() < give_up_at
            time.sleep(0.1)


def test_a_pool_gives_no_connection_that_the_server_has_ended() -> None:
    values = dict(connection.settings_dict)
    values |= {"OPTIONS": {**values["OPTIONS"], "pool": dict(POOL)}, "CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": False}
    pooled = DatabaseWrapper(values, "pooled")
    try:
        assert by_cursor(pooled) == 7
        pid = pooled.connection.info.backend_pid
        pooled.close()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])  # returns once it has ended
        assert by_cursor(pooled) == 7
        assert pooled.connection.info.backend_pid != pid
    finally:
        pooled.close()
        pooled.close_pool()
