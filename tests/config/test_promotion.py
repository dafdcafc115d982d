"""A standby is promoted, as docs/operations.md describes it: the service finds it among the hosts of DATABASE_URL."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.journeys import processes
from tests.support import ports, servers
from tests.support import processes as groups

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
PATIENCE = 120  # seconds
# One connection as the service makes them; a row is written by it.
WRITE = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("INSERT INTO written SELECT inet_server_port() RETURNING port")
    print("WRITTEN", cursor.fetchone()[0])
"""


def _until(is_true: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < give_up_at
        time.sleep(0.05)


def _one(url: str, statement: str) -> bool:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(statement).fetchone()
    return row is not None and bool(row[0])


def _written(url: str) -> int:
    """The port of the server that takes what the service writes."""
    values = {"SECRET_KEY": "tests", "SIGNING_KEY_ENCRYPTION_KEYS": "tests", "DATABASE_URL": url}
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", WRITE]
    environment = processes.clean_environment(**values)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.rpartition("WRITTEN ")[2])


def test_the_service_finds_the_standby_that_is_promoted() -> None:
    with contextlib.ExitStack() as stack:
        directory = Path(tempfile.mkdtemp())
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        directory.chmod(0o755)  # PostgreSQL's own user has to pass through
        first_port, second_port = stack.enter_context(ports.held(2))
        postgres = servers.Postgres(directory)
        postgres.make(directory / "first")
        first = postgres.start(directory / "first", first_port, ["wal_level=replica"], stack)
        with psycopg.connect(postgres.url(first_port), autocommit=True) as connection:
            connection.execute("CREATE TABLE written (port integer)")
        postgres.copy(directory / "second", first_port)
        postgres.start(directory / "second", second_port, [], stack)
        hosts = f"127.0.0.1:{second_port},127.0.0.1:{first_port}"  # the standby first: it is passed over
        url = f"postgres://tests@{hosts}/postgres?target_session_attrs=read-write"

        assert _written(url) == first_port
        _until(lambda: _one(postgres.url(second_port), "SELECT count(*) = 1 FROM written"))
        groups.stop(first, signal.SIGQUIT)
        assert _one(postgres.url(second_port), "SELECT pg_promote()")
        _until(lambda: _one(postgres.url(second_port), "SELECT NOT pg_is_in_recovery()"))

        assert _written(url) == second_port
        assert _one(postgres.url(second_port), "SELECT count(*) = 2 FROM written")
