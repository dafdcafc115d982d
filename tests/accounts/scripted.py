"""A server that answers what a test says, over real sockets, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    form: dict[str, str]


@dataclass(frozen=True)
class Reply:
    """`is_silent`: the connection stays open and nothing comes, until the server ends."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    is_silent: bool = False


def of_json(value: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


@dataclass
class Scripted:
    """`replies`: by path; what is not there is answered 404."""

    url: str
    replies: dict[str, Reply] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    has_ended: threading.Event = field(default_factory=threading.Event)


@contextmanager
def running() -> Iterator[Scripted]:
    """On a free port of loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    scripted = Scripted(f"http://127.0.0.1:{server.server_port}")
    vars(server)["scripted"] = scripted
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        scripted.has_ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        scripted: Scripted = vars(self.server)["scripted"]
        content = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        scripted.asked.append(Asked(self.command, self.path, headers, dict(parse_qsl(content))))
        reply = scripted.replies.get(self.path, Reply(404, b"{}"))
        if reply.is_silent:
            scripted.has_ended.wait()
            return
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a test says by itself what went wrong. Any: what the base class formats."""


BROKEN = {
    "down": Reply(503, b"upstream connect error"),
    "an error page": Reply(200, b"<html>", {"Content-Type": "text/html"}),
    "a list": of_json([{"id": "1"}]),
    "a number": of_json(5),
    "null": of_json(None),
    "an empty object": of_json({}),
    "nothing": Reply(200, b""),
    "half of it": Reply(200, b'{"id": "80', {"Content-Length": "4000"}),
    "not UTF-8": Reply(200, b"\xff\xfe"),
    "nested without end": Reply(200, b"[" * 60_000),
    "a long one": Reply(200, b" " * 70_000),
    "badly compressed": Reply(200, b"no gzip", {"Content-Encoding": "gzip"}),
    "sent elsewhere": Reply(307, b"", {"Location": "http://127.0.0.1:9/"}),
    "refused": of_json({"error": "invalid_grant"}, 400),
    "no header of the length": Reply(200, b"{}", {"Content-Length": "x"}),
}
