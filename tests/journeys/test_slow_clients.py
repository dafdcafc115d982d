"""Clients that send one byte a second to the embedded default."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.journeys import services
from tests.journeys.processes import Server

pytestmark = pytest.mark.live

THREADS = 4
PATIENCE = 3  # seconds
TIMEOUT = 30


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("slow")
    values = {"WEB_THREADS": str(THREADS), "SLOW_CLIENT_SECONDS": str(PATIENCE), "RATE_LIMITS_ENABLED": "0"}
    with services.embedded_server(directory, **values) as server:
        yield server
    services.forget(directory)


class SlowClients:
    """Open connections, each of which sends a request's body, one byte a second."""

    def __init__(self, server: Server) -> None:
        where = urlsplit(server.base_url)
        self._address = (str(where.hostname), int(where.port or 0))
        self._sockets: list[socket.socket] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._drip)

    def __enter__(self) -> SlowClients:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_over.set()
        self._thread.join()
        for connection in self._sockets:
            connection.close()

    def open(self, path: str, *headers: str, length: int = 5_000_000, begin: bytes = b"") -> None:
        connection = socket.create_connection(self._address, timeout=TIMEOUT)
        lines = [
            f"POST {path} HTTP/1.1",
            f"Host: {self._address[0]}:{self._address[1]}",
            f"Content-Length: {length}",
            *headers,
            "",
            "",
        ]
        connection.sendall("\r\n".join(lines).encode() + begin)
        self._sockets.append(connection)

    def answers(self) -> list[tuple[int, bytes]]:
        """Return status and rest of each answer, once the server has closed the connection or answered 503."""
        return [_answer(connection) for connection in self._sockets]

    def _drip(self) -> None:
        while not self._is_over.wait(1):
            for connection in tuple(self._sockets):
                with contextlib.suppress(OSError):
                    connection.send(b"x")


def _answer(connection: socket.socket) -> tuple[int, bytes]:
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while (piece := connection.recv(65_536)) and not received.startswith(b"HTTP/1.1 503"):
            received += piece
    return int(received.split(b" ", 2)[1]), received


def _demo(server: Server) -> dict[str, Any]:
    """Return the demo's data."""
    entry: dict[str, Any] = json.loads((server.log.parent / "var" / "demo.json").read_text())
    return entry


def _key(entry: dict[str, Any], permission: str) -> str:
    """Return the demo's API key with that permission."""
    return next(str(key["key"]) for key in entry["api_keys"] if permission in key["permissions"])


def _assert_the_service_answers(server: Server) -> None:
    for path in ("/healthz", "/accounts/login/"):
        started_at = time.monotonic()
        assert requests.get(server.base_url + path, timeout=TIMEOUT).status_code == 200
        assert time.monotonic() - started_at < 1


def test_uploads_that_hang_leave_threads_for_everybody_else(server: Server) -> None:
    key = _key(_demo(server), "imagehost:upload")
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n' + b"x" * 100_000
    with SlowClients(server) as clients:
        for _ in range(THREADS + 1):
            clients.open(
                *("/api/imagehost/upload", f"X-API-Key: {key}", "Content-Type: multipart/form-data; boundary=b"),
                begin=part,
            )
        _assert_the_service_answers(server)
        started_at = time.monotonic()
        answers = clients.answers()
        assert time.monotonic() - started_at < 4 * PATIENCE
    assert sorted(status for status, _ in answers) == [400] * (THREADS // 2) + [503] * (THREADS - THREADS // 2 + 1)
    for status, answer in answers:
        assert b'"code":"UNAVAILABLE"' in answer if status == 503 else b'"code":"NO_FILE"' in answer
        assert (b"retry-after: 5" in answer) == (status == 503)


@pytest.mark.parametrize("path", ["/api/auth/oauth2/token", "/accounts/login/"])
def test_small_bodies_that_hang_take_no_thread(server: Server, path: str) -> None:
    with SlowClients(server) as clients:
        for _ in range(3 * THREADS):
            clients.open(path, "Content-Type: application/x-www-form-urlencoded", length=500, begin=b"a=")
        _assert_the_service_answers(server)
        assert {status for status, _ in clients.answers()} == {408}


def test_event_streams_take_no_thread(server: Server) -> None:
    entry = _demo(server)
    url = f"{server.base_url}/api/lookup/presence/{entry['users'][0]['chatId']}/events"
    headers = {"X-API-Key": _key(entry, "lookup:presence")}
    give_up_at = time.monotonic() + TIMEOUT
    while requests.get(url.removesuffix("/events"), headers=headers, timeout=TIMEOUT).status_code != 200:
        assert time.monotonic() < give_up_at  # the feed has just started
        time.sleep(0.2)
    with contextlib.ExitStack() as stack:
        streams = [
            stack.enter_context(requests.get(url, headers=headers, stream=True, timeout=TIMEOUT))
            for _ in range(THREADS + 1)  # what a key may have
        ]
        assert [stream.raw.readline() for stream in streams] == [b"retry: 3000\n"] * (THREADS + 1)
        _assert_the_service_answers(server)
        refused = stack.enter_context(requests.get(url, headers=headers, stream=True, timeout=TIMEOUT))
        assert refused.status_code == 429
