"""A private PostgreSQL and a private Redis on loopback ports, with their data in a directory of the caller's."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import redis

from tests.support import ports, processes, programs

START_SECONDS = 60
STOP_SECONDS = 30
# The data never outlives a run.
POSTGRES_OPTIONS = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200"]
PROBLEMS = (psycopg.OperationalError, redis.RedisError, OSError)  # while they start


class ServerError(Exception):
    """A server did not start; the message holds what it wrote."""


@dataclass(frozen=True)
class Servers:
    """`postgres` and `redis`: the process ids of the two servers."""

    database_url: str
    redis_url: str
    postgres: int
    redis: int


@contextlib.contextmanager
def running(directory: Path, postgres_options: Sequence[str] = POSTGRES_OPTIONS) -> Iterator[Servers]:
    """Start both, and stop both whatever happens."""
    redis_program = programs.found("postgres", "redis-server")["redis-server"]
    with contextlib.ExitStack() as stack:
        postgres_port, redis_port = stack.enter_context(ports.held(2))
        postgres = Postgres(directory)
        postgres.make(directory / "postgres")
        postgres_server = postgres.start(directory / "postgres", postgres_port, postgres_options, stack)
        redis_server = start_redis(redis_program, directory / "redis", redis_port, stack)
        database_url = postgres.url(postgres_port)
        yield Servers(database_url, f"redis://127.0.0.1:{redis_port}/0", postgres_server.pid, redis_server.pid)


class Postgres:
    """The programs of PostgreSQL and the user that they run as. Each server has a folder, with `data` in it."""

    def __init__(self, directory: Path) -> None:
        """`directory`: for a copy of the programs, where that user cannot read them."""
        # Beside the real file, not beside a link to it on PATH, is initdb.
        folder = programs.found("postgres")["postgres"].resolve().parent
        self.owner = unprivileged()
        self._programs = _readable(folder, directory) if self.owner else folder

    @staticmethod
    def url(port: int) -> str:
        return f"postgres://tests@127.0.0.1:{port}/postgres"

    def make(self, home: Path) -> None:
        """A new and empty cluster."""
        initial = "--username=tests --auth=trust --encoding=UTF8 --no-locale --no-sync".split()
        self._run(home, "initdb", "--pgdata", home / "data", *initial)

    def copy(self, home: Path, primary_port: int) -> None:
        """A standby of the server at that port, as it will run once it is started."""
        self.base_backup(home, primary_port, "-R")

    def base_backup(self, home: Path, port: int, *options: str) -> None:
        """Of the server at that port."""
        source = ["--dbname", self.url(port), "--checkpoint", "fast"]
        self._run(home, "pg_basebackup", "--pgdata", home / "data", *source, "--no-sync", *options)

    def start(
        self, home: Path, port: int, options: Sequence[str], stack: contextlib.ExitStack
    ) -> subprocess.Popen[bytes]:
        settings = [*options, "listen_addresses=127.0.0.1", f"port={port}", f"unix_socket_directories={home}"]
        options = [part for setting in settings for part in ("-c", setting)]
        command: list[str | Path] = [self._programs / "postgres", "-D", home / "data", *options]

        def ask() -> None:
            psycopg.connect(self.url(port), connect_timeout=5).close()

        return start(command, home, stack, ask, stop=signal.SIGINT, **self.owner)  # SIGINT: do not wait for clients

    def _run(self, home: Path, program: str, *arguments: str | Path) -> None:
        home.mkdir()
        if self.owner:
            shutil.chown(home, self.owner["user"], self.owner["group"])
        made = subprocess.run(
            [self._programs / program, *arguments],
            capture_output=True,
            text=True,
            cwd=home,
            timeout=START_SECONDS,
            check=False,
            **self.owner,
        )
        if made.returncode:
            raise ServerError(f"{program} failed:\n{made.stdout}{made.stderr}")


def start_redis(
    program: Path, home: Path, port: int, stack: contextlib.ExitStack, *more: str
) -> subprocess.Popen[bytes]:
    """`more`: further arguments, such as `--replicaof`."""
    home.mkdir(exist_ok=True)
    options = {"bind": "127.0.0.1", "port": port, "dir": home, "save": "", "appendonly": "no", "databases": 64}
    command: list[str | Path] = [
        program,
        *(str(part) for key, value in options.items() for part in (f"--{key}", value)),
        *more,
    ]
    return start(command, home, stack, lambda: ping(port), stop=signal.SIGTERM)


def ping(port: int) -> None:
    """RedisError: no Redis answers there."""
    with redis.Redis(port=port, socket_timeout=5) as client:
        client.ping()


def unprivileged() -> dict[str, Any]:
    """The user that PostgreSQL runs as, since it refuses root. Keyword arguments of `subprocess`, mixed in type."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise ServerError("PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody.")


def _readable(programs_of_it: Path, directory: Path) -> Path:
    """A copy of what lies in a virtual environment, which another user may not be able to read, libraries included."""
    package = programs_of_it.parents[1]
    if package.parent.name != "site-packages":
        return programs_of_it
    for part in (programs_of_it.parent, package.with_name(f"{package.name}.libs")):
        if part.exists():
            shutil.copytree(part, directory / "wheels" / part.relative_to(package.parent), symlinks=True)
    return directory / "wheels" / programs_of_it.relative_to(package.parent)


def start(
    command: Sequence[str | Path],
    home: Path,
    stack: contextlib.ExitStack,
    ask: Callable[[], None],
    *,
    stop: signal.Signals,
    **owner: Any,
) -> subprocess.Popen[bytes]:
    """Start a server and wait until `ask` raises none of PROBLEMS. What it writes goes to a file beside its home.

    A session of its own: Ctrl-C reaches the tests.
    """
    log = stack.enter_context((home.parent / f"{home.name}.log").open("w+"))
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd=home,
        start_new_session=True,
        **owner,
    )
    stack.callback(processes.stop, process, stop, STOP_SECONDS)
    give_up_at = time.monotonic() + START_SECONDS
    while True:
        try:
            ask()
            return process
        except PROBLEMS:
            if process.poll() is not None or time.monotonic() > give_up_at:
                log.seek(0)
                raise ServerError(f"{Path(command[0]).name} did not start:\n{log.read()}") from None
        time.sleep(0.05)
