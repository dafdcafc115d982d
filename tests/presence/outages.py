"""Servers that go away: a Redis of its own, which comes back empty, and any other one behind a relay."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis, exceptions

from config import data_stores
from presence.store.redis_cache import PresenceRedisCache
from presence.store.store import PresenceStore
from tests.presence.workers import wait_until
from tests.support import processes, programs

EVICTED = 1_000_000  # bytes


class Outage:
    """On a socket of its own, so that no other program takes its port while it is away. `options`: of redis-server."""

    def __init__(self, directory: str, options: Sequence[str]) -> None:
        self._socket, self._options = f"{directory}/redis.sock", options
        self._process: subprocess.Popen[bytes] | None = None
        self.come_back()
        url = f"unix://{self._socket}?db=0"
        self.config: dict[str, Any] = data_stores.caches(url)["presence"]  # Any: Django's settings of a cache
        others = {name: value for name, value in self.config.items() if name != "BACKEND"}
        self.store = PresenceStore(PresenceRedisCache(url, others))

    def go_away(self) -> None:
        if self._process is not None:
            processes.kill_group(self._process)

    def come_back(self) -> None:
        command: list[str | Path] = [programs.found("redis-server")["redis-server"], "--port", "0"]
        command += ["--unixsocket", self._socket, "--save", "", *self._options]
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(self._is_there, "redis-server does not answer")

    def evict(self) -> None:
        """Be short of memory until keys are evicted by the server's policy, then have plenty of it again."""
        with Redis(unix_socket_path=self._socket) as redis:
            before, evicted = redis.config_get("maxmemory")["maxmemory"], redis.info("stats")["evicted_keys"]
            redis.config_set("maxmemory", redis.info("memory")["used_memory"] - EVICTED)
            wait_until(lambda: redis.info("stats")["evicted_keys"] > evicted, "redis-server evicts nothing")
            redis.config_set("maxmemory", before)

    def _is_there(self) -> bool:
        with Redis(unix_socket_path=self._socket) as redis:
            try:
                return bool(redis.ping())
            except (exceptions.ConnectionError, exceptions.BusyLoadingError):
                return False


@contextmanager
def fragile(*options: str) -> Iterator[Outage]:
    """`options`: of redis-server."""
    with tempfile.TemporaryDirectory() as directory:
        outage = Outage(directory, options)
        try:
            yield outage
        finally:
            outage.go_away()


class Relay:
    """Passes connections to a port of 127.0.0.1 on to a server."""

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._is_frozen = threading.Event()
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End every connection and refuse new ones."""
        for one in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def freeze(self) -> None:
        """From now on nothing comes through, and nothing ends."""
        self._is_frozen.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the listener is closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                self._sockets += [client, server]
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):  # one of them is closed
            while data := source.recv(65536):
                if self._is_frozen.is_set():
                    return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@contextmanager
def relay(host: str, port: int) -> Iterator[Relay]:
    opened = Relay((host, port))
    try:
        yield opened
    finally:
        opened.cut()
