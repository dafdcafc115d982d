"""run_presence_gateway as a process of its own, on the database, the store and the platform of the test.

`python -m tests.presence.gateway_process ADDRESS JSON [ARGUMENT...]`; the JSON names databases, caches and platform.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import django
import time_machine
from django.conf import settings
from django.core.management import execute_from_command_line

from presence.fields import Json
from tests.support import processes
from tests.support.chat_platform import Simulator

ROOT = Path(__file__).parents[2]


class Gateway:
    """One such process."""

    def __init__(self, command: list[str], log: Path) -> None:
        self.log = log
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def end(self, number: int) -> tuple[int, float]:
        """Its exit code, and how many seconds it needed."""
        asked_at = time.monotonic()
        self.process.send_signal(number)
        exit_code = self.process.wait(30)
        return exit_code, time.monotonic() - asked_at

    def log_entries(self) -> list[dict[str, Any]]:
        """Its log."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


class Starter:
    """Starts processes; what still runs at the end is killed."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self._directory = tempfile.TemporaryDirectory()
        self._processes: list[Gateway] = []

    def close(self) -> None:
        for gateway in self._processes:
            processes.kill_group(gateway.process)
        self._directory.cleanup()

    def __call__(self, *arguments: str, ahead: float = 0, database: Json | None = None, **chat: str) -> Gateway:
        """As `command`."""
        log = Path(self._directory.name) / f"log-{len(self._processes)}"
        self._processes.append(Gateway(self.command(*arguments, ahead=ahead, database=database, **chat), log))
        return self._processes[-1]

    def command(self, *arguments: str, ahead: float = 0, database: Json | None = None, **chat: str) -> list[str]:
        """`ahead`: by how many seconds its clock differs. `database`: what of its settings is different, and `chat`:
        what of settings.CHAT."""
        places = {
            "database": {"NAME": str(settings.DATABASES["default"]["NAME"]), **(database or {})},
            "ahead": ahead,
            "redis": settings.REDIS_URL,
            "chat": asdict(replace(settings.CHAT, **chat)),  # type: ignore[arg-type]  # texts alone are given
        }
        return [sys.executable, "-m", "tests.presence.gateway_process", json.dumps(places), *arguments]


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    places = json.loads(sys.argv[1])
    settings.DATABASES["default"].update(places["database"])
    if places["ahead"]:
        time_machine.travel(datetime.now(UTC) + timedelta(seconds=places["ahead"])).start()
    for cache in settings.CACHES.values() if places["redis"] else ():
        cache["LOCATION"] = places["redis"]
    settings.CHAT = replace(settings.CHAT, **places["chat"])
    django.setup()
    execute_from_command_line(["manage.py", "run_presence_gateway", *sys.argv[2:]])


if __name__ == "__main__":
    main()
