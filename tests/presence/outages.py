"""A Redis of its own that goes away, and comes back empty."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django_redis.cache import RedisCache
from redis import Redis, exceptions

from config import caches as options
from presence.store import PresenceStore
from tests.presence.workers import wait_until
from tests.support import processes, programs


class Outage:
    """On a socket of its own, so that no other program takes its port while it is away."""

    def __init__(self, directory: str) -> None:
        self._socket = f"{directory}/redis.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self.come_back()
        url = f"unix://{self._socket}?db=0"
        config: dict[str, Any] = options.options(url)["presence"]  # Any: Django's settings of a cache
        self.store = PresenceStore(
            RedisCache(url, {name: value for name, value in config.items() if name != "BACKEND"})
        )

    def go_away(self) -> None:
        if self._process is not None:
            processes.kill_group(self._process)

    def come_back(self) -> None:
        command: list[str | Path] = [programs.found("redis-server")["redis-server"], "--port", "0"]
        command += ["--unixsocket", self._socket, "--save", ""]
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=processes.end_with_parent,  # noqa: PLW1509 - it takes no lock
        )
        wait_until(self._is_there, "redis-server does not answer")

    def _is_there(self) -> bool:
        with Redis(unix_socket_path=self._socket) as redis:
            try:
                return bool(redis.ping())
            except (exceptions.ConnectionError, exceptions.BusyLoadingError):
                return False


@contextmanager
def fragile() -> Iterator[Outage]:
    with tempfile.TemporaryDirectory() as directory:
        outage = Outage(directory)
        try:
            yield outage
        finally:
            outage.go_away()
