"""The running services of the journeys: one as in production, and the embedded default."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.journeys import people, processes
from tests.journeys.operators import Operator
from tests.journeys.post_office import PostOffice, SmtpPostOffice
from tests.journeys.processes import Server
from tests.support import databases, environment, ports

# Two workers: nothing may live in one process alone.
GRANIAN = "-m granian --interface wsgi --workers 2 --blocking-threads 4 --workers-kill-timeout 5 --log-level warning"


@dataclass(frozen=True)
class Service:
    """`logs`: of all its programs. `operator`: with a shell on one of its hosts."""

    base_url: str
    logs: tuple[Path, ...]
    operator: Operator
    post_office: PostOffice

    def log_text(self) -> str:
        return "".join(log.read_text(errors="replace") for log in self.logs)


# A service that the caller of pytest has started: the journeys then go through that one.
GIVEN = pytest.StashKey[Service]()


@contextlib.contextmanager
def running(directory: Path) -> Iterator[Service]:
    """The service as in production with an empty database, without limits, because all journeys share one address."""
    with contextlib.ExitStack() as stack:
        (port,) = stack.enter_context(ports.held())
        office = SmtpPostOffice()
        stack.callback(office.close)
        values = {
            **embedded_values(directory, port, RATE_LIMITS_ENABLED="0", ALLOW_UNSAFE_START="edge,limits"),
            "DATABASE_URL": stack.enter_context(database(os.environ["DATABASE_URL"])),
            "REDIS_URL": redis_url(),
            "SECRET_KEY": secrets.token_urlsafe(48),
            "SIGNING_KEY_ENCRYPTION_KEYS": secrets.token_urlsafe(48),
            "EMAIL_HOST": "127.0.0.1",
            "EMAIL_PORT": str(office.port),
        }
        operator = Operator(values, directory / "console.log")
        stack.callback(operator.leave)
        operator.do("prepare")
        people.settle(operator)
        command = [sys.executable, *GRANIAN.split(), "--host", "127.0.0.1", "--port", str(port)]
        server = processes.start([*command, "config.wsgi:application"], values, directory / "log")
        stack.callback(server.stop)
        yield Service(server.base_url, (server.log,), operator, office)


@contextlib.contextmanager
def embedded_server(directory: Path, **more: str) -> Iterator[Server]:
    """The server of `make run`, with the state of an earlier start in `directory`.

    The port of its chat platform is held, too: the one after PORT may be that of another program's connection.
    """
    with ports.held(2) as (port, platform):
        values = embedded_values(directory, port, **{"CHAT_SIMULATOR_PORT": str(platform), **more})
        server = processes.start(processes.manage("run_embedded"), values, directory / "log")
        try:
            yield server
        finally:
            server.stop()


def embedded_values(directory: Path, port: int, **more: str) -> dict[str, str]:
    """The environment of an embedded service."""
    return {"VAR_DIR": str(directory / "var"), "PORT": str(port), "BASE_URL": f"http://127.0.0.1:{port}", **more}


def redis_url() -> str:
    """A Redis database for this worker only: tests empty others, and hosts with one Redis share their folders."""
    worker = int((environment.WORKER or "gw0").removeprefix("gw"))
    return f"{os.environ['REDIS_URL'].rpartition('/')[0]}/{63 - worker}"


@contextlib.contextmanager
def database(server_url: str) -> Iterator[str]:
    """The URL of a new database on the server of `server_url`, dropped at the end."""
    name = databases.create(server_url)
    try:
        yield databases.with_name(server_url, name)
    finally:
        databases.drop(server_url, name)


def forget(directory: Path) -> None:
    """Remove the state, which holds secrets; the logs stay for the search of a failure's cause."""
    shutil.rmtree(directory / "var", ignore_errors=True)
