"""A receiver of webhooks on a loopback port: it verifies signatures with a library that nobody here wrote."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

PATIENCE = 30.0  # seconds


@dataclass(frozen=True)
class Request:
    """A request as it came, and the `status` that it got. The names in `headers` are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    status: int
    at: float = field(default_factory=time.monotonic)

    @property
    def id(self) -> str:
        return self.headers.get("webhook-id", "")

    @property
    def content(self) -> dict[str, Any]:
        """Return the body. Any: JSON's values."""
        content: dict[str, Any] = json.loads(self.body)
        return content


class Receiver:
    """What has come, and what the next requests get.

    `status`: of an answer; `failures`: so many requests get 500 first; `seconds`: before the answer; `held`: none is
    answered while it is set; `secrets`: a request that none of them has signed gets 401. The answer's `body` and
    `headers` may be any. `requests` are those that were answered, `most_at_once` counts the others, too.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/hook"
        self.status = 200
        self.failures = 0
        self.seconds = 0.0
        self.secrets: list[str] = []
        self.body = b"ok"
        self.headers: dict[str, str] = {}
        self.requests: list[Request] = []
        self.most_at_once = 0
        self.held = threading.Event()
        self.closed = threading.Event()
        self._lock = threading.Lock()
        self._at_once = 0

    def ids(self, status: int = 200) -> list[str]:
        """Return the ids of the messages that got `status`, in the order of their coming, repetitions included."""
        return [request.id for request in list(self.requests) if request.status == status]

    def wait_for(self, count: int, status: int = 200, *, seconds: float = PATIENCE) -> list[Request]:
        """Return the requests that got `status`, once there are `count` of them."""
        self.wait_until(lambda: len(self.ids(status)) >= count, seconds=seconds)
        return [request for request in list(self.requests) if request.status == status]

    def wait_until(self, is_so: Callable[[], bool], *, seconds: float = PATIENCE) -> None:
        give_up_at = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < give_up_at, [(request.id, request.status) for request in self.requests]
            time.sleep(0.02)

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> int:
        """Keep the request and return the status of its answer, after the time that answers take."""
        at = time.monotonic()
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        self.closed.wait(self.seconds)
        while self.held.is_set() and not self.closed.wait(0.02):
            pass
        with self._lock:
            self._at_once -= 1
            status = self._status_of(headers, body)
            self.requests.append(Request(path, headers, body, status, at))
        return status

    def _status_of(self, headers: Mapping[str, str], body: bytes) -> int:
        if self.secrets and not any(_is_signed(secret, headers, body) for secret in self.secrets):
            return 401
        if self.failures:
            self.failures -= 1
            return 500
        return self.status


def _is_signed(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    try:
        Webhook(secret).verify(body, dict(headers), json_parse=False)
    except WebhookVerificationError:
        return False
    return True


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True
    receiver: Receiver

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing where a sender is gone: tests kill it. Any: as in the standard library's signature."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.send_response(receiver.take(self.path, headers, body))
        for name, value in {"Content-Length": str(len(receiver.body)), **receiver.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(receiver.body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def running() -> Iterator[Receiver]:
    """Start a receiver at a port of its own. At the end those that still wait are answered at once."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.receiver = Receiver(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.receiver
    finally:
        server.receiver.closed.set()
        server.shutdown()
        thread.join()
        server.server_close()
