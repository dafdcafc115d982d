"""A streaming standby of the server on which the tests have their database."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support import ports
from tests.support.servers import POSTGRES_OPTIONS, Postgres

PATIENCE = 60.0  # seconds that a test waits for anything


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """AssertionError after PATIENCE."""
    give_up_at = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < give_up_at, f"not within {PATIENCE:.0f} s: {what}"
        time.sleep(0.02)


def is_read_by(ask: Callable[[], object]) -> bool:
    """Whether a replica answers what `ask` reads: the primary sees no statement."""
    with CaptureQueriesContext(connection) as queries:
        ask()
    return not queries.captured_queries


class Standby:
    """A server that can go away and come back. `url`: of the tests' database on it; `name`: as operators read it."""

    def __init__(self, directory: Path, port: int) -> None:
        self._postgres, self._home, self._port = Postgres(directory), directory / "standby", port
        self._stack = contextlib.ExitStack()
        self.name = f"127.0.0.1:{port}"
        self.url = f"postgres://tests@{self.name}/{connection.settings_dict['NAME']}"
        self._postgres.copy(self._home, int(connection.settings_dict["PORT"]))
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        return self._postgres.start(self._home, self._port, POSTGRES_OPTIONS, self._stack)

    def come_back(self) -> None:
        self._process = self._started()

    def go_away(self) -> None:
        self._stack.close()

    @contextlib.contextmanager
    def hanging(self) -> Iterator[None]:
        """It answers nothing, and its connections stay."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        stopped = [self._process.pid, *map(int, children)]
        _send(signal.SIGSTOP, stopped)
        try:
            yield
        finally:
            _send(signal.SIGCONT, stopped)

    @contextlib.contextmanager
    def delayed(self, milliseconds: int) -> Iterator[None]:
        """It applies each commit so long after the primary."""
        self._delay(milliseconds)
        try:
            yield
        finally:
            self._delay(0)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """It applies nothing."""
        self.ask("SELECT pg_wal_replay_pause()")
        wait_until(lambda: self.ask("SELECT pg_get_wal_replay_pause_state()") == "paused", "the standby pauses")
        try:
            yield
        finally:
            self.ask("SELECT pg_wal_replay_resume()")

    def ask(self, statement: str) -> object:
        """The first column of its first row, if it has one."""
        with psycopg.connect(self.url, autocommit=True) as raw:
            found = raw.execute(statement.encode())
            return (found.fetchone() or (None,))[0] if found.description else None

    def _delay(self, milliseconds: int) -> None:
        self.ask(f"ALTER SYSTEM SET recovery_min_apply_delay = {milliseconds}")
        self.ask("SELECT pg_reload_conf()")
        wait_until(
            lambda: (
                self.ask("SELECT setting FROM pg_settings WHERE name = 'recovery_min_apply_delay'") == str(milliseconds)
            ),
            "the standby takes its new settings",
        )


def _send(number: signal.Signals, pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.kill(pid, number)


@contextlib.contextmanager
def running() -> Iterator[Standby]:
    """What is committed meanwhile is flushed before the commit is answered, as on a production server."""
    synchronous_commit("on")
    with tempfile.TemporaryDirectory() as directory, ports.held() as (port,):
        Path(directory).chmod(0o755)  # PostgreSQL's own user has to pass through
        standby = Standby(Path(directory), port)
        try:
            yield standby
        finally:
            standby.go_away()


def synchronous_commit(value: str) -> None:
    """Of the tests' database, for new connections and Django's own."""
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {name} SET synchronous_commit = {value}")
        cursor.execute(f"SET synchronous_commit = {value}")
