"""The service under the real server, on the database and the Redis of the test that runs, and readers of streams."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.db import connection

from tests.journeys import processes
from tests.journeys.processes import Server
from tests.presence.following import Event, event_in
from tests.presence.lookups import SECRET
from tests.support import ports

ALLOWED = "edge,limits"  # readers come without a proxy
PATIENCE = 30  # seconds that a reader waits for anything
OPTIONS = ("--workers", "1", "--workers-kill-timeout", "30", "--log-level", "warning", "--no-ws", "--http", "1")
# As run_embedded has it, and as a process of its own for streams.
INTERFACES: dict[str, Sequence[str]] = {
    "wsgi": ("--interface", "wsgi", "--blocking-threads", "8", "config.wsgi:application"),
    "asgi": ("--interface", "asgi", "config.asgi:application"),
}
# The same with a heartbeat of a quarter of a second.
QUICK: dict[str, Sequence[str]] = {
    name: (*options[:-1], f"tests.presence.quick_{name}:application") for name, options in INTERFACES.items()
}


class Reader:
    """Holds one stream open, over a socket of its own."""

    def __init__(self, base_url: str, chat_id: int | str, **headers: str) -> None:
        """`chat_id`: or the query of a stream of many, from `?` on."""
        address, path = urlsplit(base_url), f"/{chat_id}/events"
        if isinstance(chat_id, str) and chat_id.startswith("?"):
            path = f"/events{chat_id}"
        self._socket = socket.create_connection((str(address.hostname), address.port or 80), timeout=PATIENCE)
        lines = [f"GET /api/lookup/presence{path} HTTP/1.1", f"Host: {address.netloc}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in {"X_API_Key": SECRET, **headers}.items()]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self._file = self._socket.makefile("rb")
        self.status = int(self._file.readline().split()[1])
        self.headers: dict[str, str] = {}
        while line := self._file.readline().decode().strip():
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value.strip()

    def blocks(self) -> Iterator[str]:
        """What comes, up to each empty line; the end of the answer ends them."""
        text = ""
        while size := int(self._file.readline() or b"0", 16):  # RFC 9112 §7.1: chunks
            text += self._file.read(size).decode()
            self._file.readline()
            while "\n\n" in text:
                block, _, text = text.partition("\n\n")
                yield block

    def events(self) -> Iterator[Event]:
        """Neither comments nor the opening."""
        return (event for block in self.blocks() if (event := event_in(block)) is not None)

    def leave(self) -> None:
        self._file.close()
        self._socket.close()


@contextlib.contextmanager
def reader(server: Server, chat_id: int | str, **headers: str) -> Iterator[Reader]:
    opened = Reader(server.base_url, chat_id, **headers)
    try:
        yield opened
    finally:
        opened.leave()


@contextlib.contextmanager
def service(directory: Path, command: Sequence[str], **values: str) -> Iterator[Server]:
    """Stopped at the end. `command`: options of granian and the application."""
    with ports.held() as (number,):
        port = str(number)
        base_url = f"http://127.0.0.1:{port}"
        program = [sys.executable, "-m", "granian", *OPTIONS, "--host", "127.0.0.1", "--port", port, *command]
        environment = {**_environment(directory, port), "BASE_URL": base_url, **values}
        if "wsgi" in command:  # which serves pages, too
            collect = processes.manage("collectstatic", "--noinput", "--verbosity", "0")
            subprocess.run(collect, env=processes.clean_environment(**environment), check=True, timeout=60)
        server = processes.start(program, environment, directory / "log")
        try:
            yield server
        finally:
            server.stop()


def _environment(directory: Path, port: str) -> dict[str, str]:
    """Where state and secrets are: those of this process."""
    values = {
        "VAR_DIR": str(directory),
        "PORT": port,
        "SECRET_KEY": settings.SECRET_KEY,
        "SIGNING_KEY_ENCRYPTION_KEYS": ",".join(settings.SIGNING_KEY_ENCRYPTION_KEYS),
        "PRESENCE_STREAMS": "32",
    }
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        (directory / "db.sqlite3").symlink_to(name)
        return values
    url = urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))
    return {
        **values,
        "DATABASE_URL": url,
        "REDIS_URL": settings.REDIS_URL,
        "EMAIL_HOST": "127.0.0.1",
        "ALLOW_UNSAFE_START": ALLOWED,
    }
