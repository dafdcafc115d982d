"""A private PostgreSQL and a private Redis on free loopback ports, in a directory that goes away with them."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.support import programs

START_SECONDS = 60
STOP_SECONDS = 30
# Nothing has to survive a crash of the machine: the data is thrown away in any case.
FAST = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200"]


class ServerError(Exception):
    """A server did not start; the message holds what it wrote."""


@dataclass(frozen=True)
class Servers:
    database_url: str
    redis_url: str


@contextlib.contextmanager
def running() -> Iterator[Servers]:
    """Start both, and stop both again whatever happens."""
    found = programs.found()
    directory = Path(tempfile.mkdtemp(prefix="tests-bed-"))
    directory.chmod(0o755)  # PostgreSQL's own user has to pass through
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        postgres_port = _start_postgres(found, directory, stack)
        redis_port = _start_redis(found, directory, stack)
        yield Servers(f"postgres://bed@127.0.0.1:{postgres_port}/postgres", f"redis://127.0.0.1:{redis_port}/0")


def _start_postgres(found: dict[str, Path], directory: Path, stack: contextlib.ExitStack) -> int:
    owner = _unprivileged()
    home = directory / "postgres"
    home.mkdir()
    if owner:
        shutil.chown(home, owner["user"], owner["group"])
    data = home / "data"
    initdb: list[str | Path] = [
        found["initdb"],
        "--pgdata",
        data,
        "--username=bed",
        "--auth=trust",
        "--encoding=UTF8",
        "--no-locale",
    ]
    made = subprocess.run([*initdb, "--no-sync"], capture_output=True, text=True, cwd=home, check=False, **owner)
    if made.returncode:
        raise ServerError(f"initdb failed:\n{made.stdout}{made.stderr}")
    port = _free_port()
    options = [*FAST, "listen_addresses=127.0.0.1", f"port={port}", f"unix_socket_directories={home}"]
    command = [found["postgres"], "-D", data, *(part for option in options for part in ("-c", option))]
    _start(command, port, home, stack, stop=signal.SIGINT, **owner)  # SIGINT: do not wait for clients
    return port


def _start_redis(found: dict[str, Path], directory: Path, stack: contextlib.ExitStack) -> int:
    home = directory / "redis"
    home.mkdir()
    port = _free_port()
    options = {"bind": "127.0.0.1", "port": port, "dir": home, "save": "", "appendonly": "no", "databases": 64}
    command = [found["redis-server"], *(str(part) for key, value in options.items() for part in (f"--{key}", value))]
    _start(command, port, home, stack, stop=signal.SIGTERM)
    return port


def _unprivileged() -> dict[str, Any]:
    """Whom PostgreSQL runs as: it refuses root. Keyword arguments of `subprocess`, mixed in type."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise ServerError("PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody.")


def _start(
    command: list[Any], port: int, home: Path, stack: contextlib.ExitStack, *, stop: signal.Signals, **owner: Any
) -> None:
    """Start a server and wait until it listens. A session of its own: Ctrl-C reaches the tests first."""
    log = stack.enter_context((home.parent / f"{home.name}.log").open("w+"))
    process = subprocess.Popen(command, stdout=log, stderr=log, cwd=home, start_new_session=True, **owner)
    stack.callback(_stop, process, stop)
    give_up_at = time.monotonic() + START_SECONDS
    while not _listens(port):
        if process.poll() is not None or time.monotonic() > give_up_at:
            raise ServerError(f"{Path(command[0]).name} did not start:\n{_written(log)}")
        time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    if process.poll() is None:
        process.send_signal(how)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _written(log: IO[str]) -> str:
    log.seek(0)
    return log.read()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
