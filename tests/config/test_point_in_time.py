"""Point-in-time recovery, as docs/operations.md describes it: a table is lost, and the moment before comes back."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.config.test_backups import Installation
from tests.journeys import hosts, processes
from tests.support import databases, ports, programs, servers
from tests.support import processes as groups

pytestmark = pytest.mark.live

PATIENCE = 300  # seconds
GUIDE = Path(__file__).parents[2] / "docs" / "operations.md"
EVENT = "INSERT INTO django_session VALUES (%s, 'of this test', now() + interval '1 day')"


class Recovered(Installation):
    """The service on a server of this test."""

    url = ""

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "DATABASE_URL": self.url}


@dataclass
class Cluster:
    """A server with an archive of its log, and what is made of both. `port`: of whichever server runs."""

    directory: Path
    port: int
    stack: contextlib.ExitStack
    postgres: servers.Postgres

    @property
    def archive(self) -> Path:
        return self.directory / "archive"

    @property
    def url(self) -> str:
        return self.postgres.url(self.port)

    def start(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        return self.postgres.start(self.directory / name, self.port, options, self.stack)

    def ask(self, statement: str, *values: Any) -> Any:
        """The one value of the answer, or None. Any: as PostgreSQL has them."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None

    def wait_for(self, statement: str, *values: Any) -> None:
        """Until the answer is true. `values` as above."""
        give_up_at = time.monotonic() + PATIENCE
        while not self.ask(statement, *values):
            assert time.monotonic() < give_up_at, statement
            time.sleep(0.05)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with contextlib.ExitStack() as stack:
        directory = Path(tempfile.mkdtemp())
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        directory.chmod(0o755)  # PostgreSQL's own user has to pass through
        (port,) = stack.enter_context(ports.held())
        made = Cluster(directory, port, stack, servers.Postgres(directory))
        made.archive.mkdir()
        _give(made.archive, made.postgres)
        yield made


def _give(path: Path, postgres: servers.Postgres) -> None:
    if postgres.owner:
        shutil.chown(path, postgres.owner["user"], postgres.owner["group"])


def _copy_tables(target_url: str) -> None:
    """The migrated tables of this test run."""
    folder = programs.found("postgres")["postgres"].resolve().parent
    server_url = os.environ["DATABASE_URL"]
    source = databases.with_name(server_url, os.environ[databases.VARIABLE])
    with subprocess.Popen([folder / "pg_dump", source], stdout=subprocess.PIPE) as dump:
        loaded = subprocess.run(
            [folder / "psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", target_url],
            stdin=dump.stdout,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (loaded.returncode, dump.returncode) == (0, 0), loaded.stderr


def test_the_moment_before_a_mistake_comes_back(cluster: Cluster, tmp_path: Path) -> None:
    cluster.postgres.make(cluster.directory / "first")
    (documented,) = re.findall(r"(?m)^archive_command = '(.*)'$", GUIDE.read_text())
    archives = f"archive_command={documented.replace('/var/backups/wal', str(cluster.archive))}"
    first = cluster.start("first", "wal_level=replica", "archive_mode=on", archives)
    _copy_tables(cluster.url)
    service = Recovered(tmp_path, "postgres")
    service.url = cluster.url
    service.do("signing_keys", "ensure")
    service.do("seed_demo", "--users", "2", "--yes")
    cluster.postgres.base_backup(cluster.directory / "second", cluster.port)

    cluster.ask(EVENT, "after the base backup")
    before = service.digests()
    moment = cluster.ask("SELECT clock_timestamp()")
    cluster.ask("TRUNCATE accounts_user CASCADE")
    cluster.ask(EVENT, "after the mistake")
    assert cluster.ask("SELECT count(*) FROM accounts_user") == 0
    segment = cluster.ask("SELECT pg_walfile_name(pg_switch_wal())")
    cluster.wait_for("SELECT last_archived_wal >= %s FROM pg_stat_archiver", segment)
    groups.stop(first, signal.SIGINT)
    assert {path.suffix for path in cluster.archive.iterdir()} <= {"", ".backup"}

    wanted = cluster.directory / "second" / "data" / "recovery.signal"
    wanted.touch()
    _give(wanted, cluster.postgres)
    restores = f"restore_command=cp {cluster.archive}/%f %p"
    cluster.start("second", restores, f"recovery_target_time={moment.isoformat()}", "recovery_target_action=promote")
    cluster.wait_for("SELECT NOT pg_is_in_recovery()")

    assert cluster.ask("SELECT count(*) FROM django_session WHERE session_data = 'of this test'") == 1
    assert service.digests() == before
    _serves(service, tmp_path)


def _serves(service: Recovered, directory: Path) -> None:
    """What the guide says to do afterwards, and the start."""
    service.do("reconcile_files", "--all")
    service.do("collectstatic", "--noinput", "--verbosity", "0")
    printed = service.do("doctor", "database", "migrations", "signing keys")
    assert "signs id_tokens" in printed
    with ports.held() as (port,):
        command = [sys.executable, *hosts.GRANIAN.split(), "--host", "127.0.0.1", "--port", str(port)]
        values = {**service.environment(), "BASE_URL": f"http://127.0.0.1:{port}", "ALLOW_UNSAFE_START": "edge,secrets"}
        web = processes.start([*command, "config.wsgi:application"], values, directory / "log")
        web.stop()
