"""A relay in front of a server, whose connections a test can break."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

TIMEOUT = 60


class Relay:
    """`heard`: what programs have sent, all connections together."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self._target = (str(parts.hostname), int(parts.port or 80))
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.base_url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.heard = b""
        threading.Thread(target=self._accept, daemon=True).start()

    def break_connections(self) -> None:
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        self._listening.close()
        self.break_connections()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                program, _ = self._listening.accept()
                service = socket.create_connection(self._target, timeout=TIMEOUT)
                self._open += [program, service]
                for ends in ((program, service), (service, program)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        """Copy until either side ends, then end both. The service is asked under its own name."""
        own = "{}:{}".format(*self._target).encode()
        with contextlib.suppress(OSError), source, target:
            is_request = target.getpeername() == self._target
            while part := source.recv(65536):
                sent = part.replace(urlsplit(self.base_url).netloc.encode(), own) if is_request else part
                self.heard += sent if is_request else b""
                target.sendall(sent)


@contextmanager
def relay(base_url: str) -> Iterator[Relay]:
    running = Relay(base_url)
    try:
        yield running
    finally:
        running.close()
