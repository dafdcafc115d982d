"""A presence store that comes back with an older state: a Redis of its own that crashes after its snapshot."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django_redis.cache import RedisCache
from redis import Redis, exceptions

from config import caches as options
from presence.store import PresenceStore
from tests.support import programs


@dataclass(frozen=True)
class Fragile:
    """`save`: what is there now is what will come back. `fall_back`: it does; what was written since is lost."""

    store: PresenceStore
    save: Callable[[], object]
    fall_back: Callable[[], object]


@contextmanager
def fragile() -> Iterator[Fragile]:
    """On a socket of its own, so that nobody else takes its port while it is away."""
    with tempfile.TemporaryDirectory() as directory:
        socket = f"{directory}/redis.sock"
        command: list[str | Path] = [programs.found()["redis-server"], "--port", "0", "--unixsocket", socket]
        command += ["--dir", directory, "--save", "3600 1"]
        admin = Redis(unix_socket_path=socket)

        def start() -> subprocess.Popen[bytes]:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            give_up_at = time.monotonic() + 30
            while True:
                try:
                    admin.ping()
                except (exceptions.ConnectionError, exceptions.BusyLoadingError):
                    assert time.monotonic() < give_up_at
                    time.sleep(0.01)
                else:
                    return process

        def fall_back() -> None:
            running[0].kill()
            running[0].wait()
            running[0] = start()

        running = [start()]
        try:
            url = f"unix://{socket}?db=0"
            config = {name: value for name, value in options.options(url)["presence"].items() if name != "BACKEND"}
            yield Fragile(PresenceStore(RedisCache(url, config)), admin.save, fall_back)
        finally:
            running[0].kill()
            running[0].wait()
