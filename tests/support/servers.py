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
PROBLEMS = (psycopg.OperationalError, redis.RedisError)  # while they start


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
    found = programs.found("postgres", "redis-server")
    with contextlib.ExitStack() as stack:
        postgres_port, redis_port = stack.enter_context(ports.held(2))
        # Beside the real file, not beside a link to it on PATH, is initdb.
        bin_folder = found["postgres"].resolve().parent
        postgres = _start_postgres(bin_folder, directory, postgres_port, postgres_options, stack)
        redis_pid = _start_redis(found["redis-server"], directory, redis_port, stack)
        database_url = f"postgres://tests@127.0.0.1:{postgres_port}/postgres"
        yield Servers(database_url, f"redis://127.0.0.1:{redis_port}/0", postgres, redis_pid)


def _start_postgres(
    programs_of_it: Path, directory: Path, port: int, options: Sequence[str], stack: contextlib.ExitStack
) -> int:
    owner = _unprivileged()
    home = directory / "postgres"
    home.mkdir()
    if owner:
        programs_of_it = _readable(programs_of_it, directory)
        shutil.chown(home, owner["user"], owner["group"])
    data = home / "data"
    initial = "--username=tests --auth=trust --encoding=UTF8 --no-locale --no-sync".split()
    made = subprocess.run(
        [programs_of_it / "initdb", "--pgdata", data, *initial],
        capture_output=True,
        text=True,
        cwd=home,
        timeout=START_SECONDS,
        check=False,
        **owner,
    )
    if made.returncode:
        raise ServerError(f"initdb failed:\n{made.stdout}{made.stderr}")
    settings = [*options, "listen_addresses=127.0.0.1", f"port={port}", f"unix_socket_directories={home}"]
    command = [programs_of_it / "postgres", "-D", data, *(part for setting in settings for part in ("-c", setting))]

    def ask() -> None:
        psycopg.connect(f"postgres://tests@127.0.0.1:{port}/postgres", connect_timeout=5).close()

    return _start(command, home, stack, ask, stop=signal.SIGINT, **owner)  # SIGINT: do not wait for clients


def _start_redis(program: Path, directory: Path, port: int, stack: contextlib.ExitStack) -> int:
    home = directory / "redis"
    home.mkdir()
    options = {"bind": "127.0.0.1", "port": port, "dir": home, "save": "", "appendonly": "no", "databases": 64}
    command = [program, *(str(part) for key, value in options.items() for part in (f"--{key}", value))]

    def ask() -> None:
        with redis.Redis(port=port, socket_timeout=5) as client:
            client.ping()

    return _start(command, home, stack, ask, stop=signal.SIGTERM)


def _unprivileged() -> dict[str, Any]:
    """The user whom PostgreSQL runs as, since it refuses root. Keyword arguments of `subprocess`, mixed in type."""
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


def _start(
    command: list[Any],
    home: Path,
    stack: contextlib.ExitStack,
    ask: Callable[[], None],
    *,
    stop: signal.Signals,
    **owner: Any,
) -> int:
    """Start a server and wait until `ask` raises none of PROBLEMS; its process id.

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
            return process.pid
        except PROBLEMS:
            if process.poll() is not None or time.monotonic() > give_up_at:
                log.seek(0)
                raise ServerError(f"{Path(command[0]).name} did not start:\n{log.read()}") from None
        time.sleep(0.05)
