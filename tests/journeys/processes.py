"""Programs of the service that a test run starts, each with a log, and stops by process id."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.support import environment
from tests.support import processes as groups
from tests.support.processes import STOP_SECONDS

ROOT = Path(__file__).parents[2]
START_SECONDS = 300


class StartError(Exception):
    """A program did not start; the message holds the end of its output."""


@dataclass(frozen=True)
class Server:
    """A running server. `log`: its output."""

    base_url: str
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> None:
        """Send SIGTERM as an init system does; kill what is left after that."""
        groups.stop(self.process, signal.SIGTERM)

    def wait_until_ready(self) -> None:
        """Wait until it is ready. StartError if it ends before that."""
        give_up_at = time.monotonic() + START_SECONDS
        while not _is_ready(self.base_url):
            if self.process.poll() is not None or time.monotonic() > give_up_at:
                self.stop()
                raise StartError(f"{self.base_url} did not start:\n{self.log.read_text()[-4000:]}")
            time.sleep(0.05)

    def is_anything_left(self) -> bool:
        """Whether any process of its group runs; the server leads a process group."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def wait_until_gone(self) -> None:
        """AssertionError if a process of its group outlives STOP_SECONDS."""
        give_up_at = time.monotonic() + STOP_SECONDS
        while self.process.poll() is None or self.is_anything_left():
            assert time.monotonic() < give_up_at, f"Processes of {self.base_url} are still running"
            time.sleep(0.05)


def manage(*arguments: str) -> list[str]:
    """Return the command line of a command of the project."""
    return [sys.executable, str(ROOT / "manage.py"), *arguments]


def clean_environment(**values: str) -> dict[str, str]:
    """Return the environment of a user's shell, without the test run's variables, with `values`."""
    ours = {*environment.NAMES, "DATABASE_URL", "REDIS_URL", "VAR_DIR", "DJANGO_SETTINGS_MODULE"}
    outer = {name: value for name, value in os.environ.items() if name not in ours and not name.startswith("PYTEST")}
    return {**outer, **values}


def start(command: Sequence[str], values: dict[str, str], log: Path) -> Server:
    """Start a server and wait until it is ready. `values`: its environment with BASE_URL."""
    server = begin(command, values, log, cwd=ROOT, base_url=values["BASE_URL"])
    server.wait_until_ready()
    return server


def begin(command: Sequence[str], values: dict[str, str], log: Path, *, cwd: Path, base_url: str) -> Server:
    """Start a server without waiting. `cwd`: the folder of its code. `base_url`: where it listens."""
    with log.open("ab") as file:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=clean_environment(**values),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches the tests, which then stop it
        )
    return Server(base_url, process, log)


def _is_ready(base_url: str) -> bool:
    try:
        return requests.get(f"{base_url}/readyz", timeout=5).status_code == 200
    except requests.ConnectionError:
        return False
