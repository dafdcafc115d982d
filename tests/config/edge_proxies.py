"""Small proxies in front of the service, which treat the client-address header well or badly."""

from __future__ import annotations

import contextlib
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ADDRESS = "192.0.2.7"


@contextlib.contextmanager
def running(manner: str, header: str, service: str) -> Iterator[str]:
    """The proxy's URL. `manner`: overwrites, sends nothing, passes on, passes on underscores."""
    handler = type("Handler", (_Handler,), {"manner": manner, "header": header, "service": service})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    manner: str
    header: str
    service: str

    def do_GET(self) -> None:
        request = urllib.request.Request(self.service + self.path, headers=self._headers())  # noqa: S310 - loopback
        try:
            with urllib.request.urlopen(request) as response:  # noqa: S310 - loopback
                self._answer(response.status, response.read())
        except urllib.error.HTTPError as error:
            with error:
                self._answer(error.code, error.read())

    def _headers(self) -> dict[str, str]:
        host = self.headers["Host"].replace("localhost", "127.0.0.1")
        sent = self.headers.get(self.header)
        underscored = self.headers.get(self.header.replace("-", "_"))
        if self.manner == "sends nothing":
            return {"Host": host}
        if self.manner == "passes on underscores" and underscored:
            return {"Host": host, self.header.replace("-", "_"): underscored}
        address = sent if self.manner == "passes on" and sent else ADDRESS
        return {"Host": host, self.header: address}

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Nothing: the tests look at answers."""
