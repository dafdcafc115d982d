"""A program of the service, started as its systemd unit does."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import requests

from tests.production import deployed, edge, engines
from tests.production.waiting import TIMEOUT, until
from tests.support import processes

HEADERS = {"X-Client-Address": "192.0.2.1", "Host": edge.NAME}  # of a request that does not pass nginx
START_SECONDS = 300
STOP_SECONDS = 40


@dataclass
class Program:
    """`values`: the environment of its host. `port`: 0 for a program that does not listen."""

    unit: str
    values: dict[str, str]
    log: Path
    port: int = 0
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        command, variables = self._of_the_unit()
        with self.log.open("ab") as file:
            self.process = subprocess.Popen(
                command,
                cwd=deployed.ROOT,
                env={**self.values, **variables},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def stop(self) -> None:
        """As `systemctl stop` does."""
        processes.stop(self.process, signal.SIGTERM, STOP_SECONDS)

    def kill(self) -> None:
        """As a host does that loses its power. Returns when no process of it listens any more."""
        processes.kill_group(self.process)
        if self.port:
            until(lambda: not self._is_listening())

    def is_ready(self) -> bool:
        try:
            return self.get("/readyz").status_code == 200
        except requests.RequestException:
            return False

    def wait_until_ready(self) -> None:
        """AssertionError where it ends instead. A program that does not listen only has to run."""

        def is_ready() -> bool:
            assert self.process.poll() is None, f"{self.log.stem} has ended:\n{self.log.read_text()[-4000:]}"
            return self.port == 0 or self.is_ready()

        until(is_ready, START_SECONDS)

    def get(
        self, path: str, headers: Mapping[str, str] = MappingProxyType({}), cookies: dict[str, str] | None = None
    ) -> requests.Response:
        """Ask this program directly, not through nginx."""
        url = f"http://127.0.0.1:{self.port}{path}"
        return requests.get(
            url, headers={**HEADERS, **headers}, cookies=cookies, timeout=TIMEOUT, allow_redirects=False
        )

    def _is_listening(self) -> bool:
        try:
            engines.connect(self.port)
        except OSError:
            return False
        return True

    def _of_the_unit(self) -> tuple[list[str], dict[str, str]]:
        """Its command with the programs of this virtual environment and the port of this run, and its variables."""
        (program, *arguments), variables = deployed.unit(self.unit)
        if "--port" in arguments:
            arguments[arguments.index("--port") + 1] = str(self.port)
        return [str(Path(sys.executable).with_name(Path(program).name)), *arguments], variables
