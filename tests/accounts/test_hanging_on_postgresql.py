"""A PostgreSQL that takes connections and statements, and answers none, keeps no thread of a web server waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from accounts.databases import database_connections
from accounts.databases.postgresql import watched
from accounts.databases.postgresql.base import DatabaseWrapper
from accounts.databases.postgresql.watched import ServerHangs
from accounts.databases.statements import Statement
from tests.imagehost import relay

pytestmark = pytest.mark.django_db(transaction=True)

NUMBER = Statement("SELECT 7", "i")
POOL = {"min_size": 1, "max_size": 2, "timeout": 1.5, "reconnect_timeout": 0}


class Wire:
    """Between this process and the server. While it hangs, what is sent is received, and nothing is answered."""

    def __init__(self) -> None:
        self.port = 0
        self._passes = threading.Event()
        self._passes.set()

    def hang(self) -> None:
        self._passes.clear()

    def go_on(self) -> None:
        self._passes.set()

    def watch(self) -> Callable[[int], bool]:
        return lambda count: self._passes.wait(60)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """In a process that bounds its waits and knows of no server yet."""
    monkeypatch.setattr(watched, "_is_bounded", True)
    monkeypatch.setattr(watched, "_servers", {})
    wire = Wire()
    with relay.relaying(int(connection.settings_dict["PORT"]), upward=wire.watch()) as wire.port:
        yield wire
        wire.go_on()


@pytest.fixture
def database(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> Iterator[BaseDatabaseWrapper]:
    """Django's connection through the wire, which statements by hand take, too."""
    through = connection.copy()
    through.settings_dict = {**through.settings_dict, "HOST": "127.0.0.1", "PORT": str(wire.port)}
    monkeypatch.setattr(database_connections, "of_thread", lambda: through)
    yield through
    wire.go_on()
    through.close()


def by_cursor(database: BaseDatabaseWrapper) -> int:
    with database.cursor() as cursor:
        cursor.execute("SELECT 7")
        return int(cursor.fetchone()[0])


def by_hand(database: BaseDatabaseWrapper) -> int:
    row = NUMBER.one()
    assert row is not None
    return int(row[0])


def until_it_answers(ask: Callable[[], int]) -> int:
    """Every request of a second is refused before another one may try."""
    give_up_at = time.monotonic() + 30
    while True:
        try:
            return ask()
        except OperationalError:
            assert time.monotonic() < give_up_at
            time.sleep(0.1)


@pytest.mark.parametrize("ask", [by_cursor, by_hand])
def test_a_statement_ends_while_the_server_hangs_and_the_next_ones_at_once(
    wire: Wire, database: BaseDatabaseWrapper, ask: Callable[[BaseDatabaseWrapper], int]
) -> None:
    assert ask(database) == 7
    wire.hang()
    with pytest.raises(OperationalError) as raised:
        ask(database)
    assert isinstance(raised.value.__cause__, ServerHangs)
    database.close_if_unusable_or_obsolete()
    began_at = time.monotonic()
    with pytest.raises(OperationalError):
        ask(database)
    assert time.monotonic() - began_at < watched.LIMIT  # a connection is not even tried
    wire.go_on()
    assert until_it_answers(lambda: ask(database)) == 7


@pytest.mark.parametrize("ask", [by_cursor, by_hand])
def test_a_long_statement_goes_on_where_the_server_answers_others(
    wire: Wire,
    database: BaseDatabaseWrapper,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[BaseDatabaseWrapper], int],
) -> None:
    monkeypatch.setattr(watched, "PAUSE", 0.2)
    monkeypatch.setattr(watched, "FRESH", 0.1)
    asked = list[bool]()
    answers = watched.Server._answers

    def noted(server: watched.Server) -> bool:
        asked.append(answers(server))
        return asked[-1]

    monkeypatch.setattr(watched.Server, "_answers", noted)
    with database.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY VIEW slow AS SELECT 7 AS number FROM pg_sleep(1.5)")
    if ask is by_cursor:
        with database.cursor() as cursor:
            cursor.execute("SELECT number FROM slow")
            assert cursor.fetchone() == (7,)
    else:
        assert Statement("SELECT number FROM slow", "i").one() == (7,)
    assert asked
    assert all(asked)


def test_one_thread_tries_to_connect_to_a_server_that_hangs(wire: Wire, database: BaseDatabaseWrapper) -> None:
    """The others are refused before they wait."""
    params = {**database.get_connection_params(), "connect_timeout": 2}
    server = watched.server_at(**params)
    wire.hang()
    with pytest.raises(psycopg.OperationalError):
        watched.Connection.connect(**params)
    server._asked_at -= watched.FRESH
    began = threading.Barrier(4)

    def connect() -> str:
        began.wait()
        try:
            watched.Connection.connect(**params)
        except psycopg.OperationalError as error:
            return type(error).__name__
        return "connected"

    with ThreadPoolExecutor(4) as pool:
        found = sorted(future.result() for future in [pool.submit(connect) for _ in range(4)])
    assert found == ["ConnectionTimeout", "ServerHangs", "ServerHangs", "ServerHangs"]


def test_a_program_that_is_no_web_server_waits(
    wire: Wire, database: BaseDatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert by_cursor(database) == 7
    monkeypatch.setattr(watched, "_is_bounded", False)
    monkeypatch.setattr(watched, "PAUSE", 0.1)
    wire.hang()
    timer = threading.Timer(1.0, wire.go_on)
    timer.start()
    assert (by_cursor(database), by_hand(database)) == (7, 7)
    timer.join()


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
