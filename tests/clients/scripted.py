"""A server that answers in order what a test gives it, and keeps what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMON = {"Connection": "close", "Content-Type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """`is_cut`: the connection is closed before the body's end. Status 0: without any answer."""

    status: int = 200
    body: str = "{}"
    headers: dict[str, str] = field(default_factory=dict)
    is_cut: bool = False


@dataclass(frozen=True)
class Asked:
    """A request. `headers`: names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Script:
    """`left`: the answers that nobody has asked for."""

    origin: str
    left: list[Answer]
    asked: list[Asked] = field(default_factory=list)

    def sent(self, header: str) -> list[str | None]:
        """Return the header of each request."""
        return [request.headers.get(header) for request in self.asked]


@contextmanager
def server(answers: Sequence[Answer]) -> Iterator[Script]:
    """Serve on loopback. A request too many is 500 `errors.tooMany`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0))) if "chunked" not in str(headers) else b""
            script.asked.append(Asked(self.command, self.path, headers, body))
            answer = script.left.pop(0) if script.left else Answer(500, '{"error":"errors.tooMany"}')
            self.close_connection = True
            if not answer.status:
                return
            text = answer.body.encode()
            self.send_response(answer.status)
            framing = {} if answer.status == 304 else {"Transfer-Encoding": "chunked"}
            for name, value in {**COMMON, **framing, **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if not framing:
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text) if text else b"")
            self.wfile.write(b"" if answer.is_cut else b"0\r\n\r\n")

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        script = Script(f"http://127.0.0.1:{listening.server_port}", list(answers))
        threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield script
        finally:
            listening.shutdown()
