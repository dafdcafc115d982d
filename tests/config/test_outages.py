"""The log of an outage: one line at its beginning, one at its end, and counts in between."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator

import psycopg
import pytest
from django.db import OperationalError
from django.utils.module_loading import import_string
from redis.exceptions import ConnectionError as NoConnection

from config.observability import outages
from config.observability.logs import JsonFormatter, NotUnavailable
from config.observability.outages import NONE, SERVERS, OutageFilter
from imagehost.storing.storage import ObjectMissing, StorageFailed
from infrastructure.limits import LimitsUnavailable
from lookup.visits import StoreUnavailable

pytestmark = pytest.mark.once


class Timers:
    """Periods end when a test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[object, tuple[object, ...]]] = []

    def __call__(self, seconds: float, act: object, arguments: tuple[object, ...]) -> Timers:
        assert seconds == outages.PERIOD
        self.waiting.append((act, arguments))
        return self

    def start(self) -> None:
        """It waits for `pass_period`."""

    def pass_period(self) -> None:
        due, self.waiting = self.waiting, []
        for act, arguments in due:
            assert callable(act)
            act(*arguments)


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.getMessage()}")


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    timers = Timers()
    monkeypatch.setattr(outages, "PERIOD", 60.0)
    monkeypatch.setattr("config.observability.outages.threading.Timer", timers)
    return timers


@pytest.fixture
def log(timers: Timers, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the handler of the service writes. The handler of this process, which has a filter too, is removed."""
    handler, root = Lines(), logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    handler.addFilter(OutageFilter())
    root.addHandler(handler)
    yield handler.lines
    root.removeHandler(handler)


def fail(error: Exception, message: str = "Failed.") -> None:
    try:
        raise error
    except type(error):
        logging.getLogger("somewhere").exception(message)


def test_an_outage_is_a_line_at_its_beginning_counts_and_a_line_at_its_end(log: list[str], timers: Timers) -> None:
    for number in range(5):
        fail(NoConnection("refused"), f"Failed for caller {number}.")
    assert log == ["ERROR Failed for caller 0."]
    timers.pass_period()
    fail(NoConnection("refused"))
    timers.pass_period()
    timers.pass_period()
    assert log[1:] == [
        "ERROR 4 more errors of Redis in the last 60 s.",
        "ERROR 1 more errors of Redis in the last 60 s.",
        "WARNING No error of Redis for 60 s, after 6 of them.",
    ]
    fail(NoConnection("refused"), "Again.")
    assert log[4:] == ["ERROR Again."]


def test_each_server_has_its_own_outage(log: list[str], timers: Timers) -> None:
    for error in (
        NoConnection("a"),
        OperationalError("b"),
        StorageFailed("c"),
        NoConnection("d"),
        OperationalError("e"),
    ):
        fail(error, str(error))
    assert log == ["ERROR a", "ERROR b", "ERROR c"]


def test_what_postgresql_answers_hides_no_outage(log: list[str], timers: Timers) -> None:
    for cause in (
        psycopg.errors.DeadlockDetected("a"),
        psycopg.errors.AdminShutdown("b"),
        psycopg.OperationalError("c: connection refused"),
        psycopg.errors.DeadlockDetected("d"),
        psycopg.errors.DiskFull("e"),
        psycopg.errors.TooManyConnections("f"),
    ):
        error = OperationalError()
        error.__cause__ = cause
        fail(error, str(cause))
    assert log == ["ERROR a", "ERROR b", "ERROR e"]
    timers.pass_period()
    assert log[3:5] == [
        "ERROR 1 more errors of the database (DeadlockDetected) in the last 60 s.",
        "ERROR 2 more errors of the database in the last 60 s.",
    ]


def test_views_that_cannot_be_counted_belong_to_the_outage_of_redis(log: list[str], timers: Timers) -> None:
    fail(NoConnection("refused"))
    fail(StoreUnavailable())
    assert log == ["ERROR Failed."]


@pytest.mark.parametrize("error", [ValueError("ours"), ObjectMissing("the store answers")])
def test_every_other_error_is_logged(log: list[str], timers: Timers, error: Exception) -> None:
    fail(error)
    fail(error)
    logging.getLogger("somewhere").warning("No error at all.")
    assert log == ["ERROR Failed.", "ERROR Failed.", "WARNING No error at all."]
    assert timers.waiting == []


def test_handlers_that_share_the_filter_count_an_error_once(timers: Timers, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the one for standard error and the one for Sentry do."""
    root, handlers, shared = logging.getLogger(), [Lines(), Lines()], OutageFilter()
    for handler in handlers:
        handler.addFilter(shared)
    monkeypatch.setattr(root, "handlers", handlers)
    for _ in range(3):
        fail(NoConnection("refused"))
    timers.pass_period()
    for handler in handlers:
        assert handler.lines == ["ERROR Failed.", "ERROR 2 more errors of Redis in the last 60 s."]


def test_wrong_sql_is_no_outage(log: list[str], timers: Timers) -> None:
    class SqliteError(Exception):
        sqlite_errorname = "SQLITE_ERROR"

    error = OperationalError("no such column")
    error.__cause__ = SqliteError()
    fail(error)
    fail(error)
    assert log == ["ERROR Failed."] * 2


def test_a_forked_process_tells_of_its_own(log: list[str], timers: Timers) -> None:
    fail(NoConnection("refused"))
    child = os.fork()
    if not child:
        fail(NoConnection("refused"), "The child's.")
        os._exit(len(log))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2


@pytest.mark.parametrize("name", [*SERVERS, *NONE])
def test_the_names_are_those_of_errors(name: str) -> None:
    error = import_string(name)
    assert issubclass(error, Exception)
    assert f"{error.__module__}.{error.__qualname__}" == name


def test_the_error_of_an_outage_takes_one_line() -> None:
    try:
        raise LimitsUnavailable from NoConnection("refused\n\tIs the server running?")
    except LimitsUnavailable:
        record = logging.makeLogRecord({"msg": "Failed.", "exc_info": sys.exc_info()})
    written = json.loads(JsonFormatter().format(record))
    assert written["exception"] == "LimitsUnavailable, caused by ConnectionError: refused \tIs the server running?"


@pytest.mark.parametrize(("status", "is_logged"), [(500, True), (503, False), (504, True)])
def test_each_answer_of_an_outage_is_not_logged(status: int, is_logged: bool) -> None:
    record = logging.makeLogRecord({"status_code": status})
    assert NotUnavailable().filter(record) is is_logged
