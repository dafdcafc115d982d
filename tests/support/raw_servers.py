"""A TCP server on a loopback port that does with each connection what a test says, with or without TLS."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

PATIENCE = 10.0  # seconds


@dataclass
class RawServer:
    """`requests`: what has come, head and body. `ended`: set when the test is over, for what waits."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    ended: threading.Event = field(default_factory=threading.Event)


Act = Callable[[socket.socket, RawServer], None]


@contextlib.contextmanager
def running(act: Act, tls: ssl.SSLContext | None = None) -> Iterator[RawServer]:
    """Start a server that calls `act` with each connection, once a request has come and, before it, the handshake."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        server = RawServer(listener.getsockname()[1])
        threads: list[threading.Thread] = []
        accepting = threading.Thread(target=_accept, args=(listener, server, act, tls, threads))
        accepting.start()
        try:
            yield server
        finally:
            server.ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            for thread in [accepting, *threads]:
                thread.join(PATIENCE)


def _accept(
    listener: socket.socket, server: RawServer, act: Act, tls: ssl.SSLContext | None, threads: list[threading.Thread]
) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:  # it is over
            return
        server.connections += 1
        threads.append(threading.Thread(target=_serve, args=(connection, server, act, tls)))
        threads[-1].start()


def _serve(connection: socket.socket, server: RawServer, act: Act, tls: ssl.SSLContext | None) -> None:
    connection.settimeout(PATIENCE)
    with contextlib.suppress(OSError), connection:  # the client ends what it does not want
        if tls is None:
            act(connection, server)
            return
        with tls.wrap_socket(connection, server_side=True) as encrypted:
            act(encrypted, server)


def read_request(connection: socket.socket, server: RawServer) -> None:
    """Read a request to its end, and keep it."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _some(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += _some(connection)
    server.requests.append(head + b"\r\n\r\n" + body)


def _some(connection: socket.socket) -> bytes:
    received = connection.recv(65536)
    if not received:
        raise ConnectionError
    return received


def answering(*parts: bytes | float, endlessly: bool = False) -> Act:
    """Return an act that reads the request and sends `parts`; a number is a pause.

    `endlessly`: the last bytes are sent again and again, with the pause after them.
    """
    last = max(number for number, part in enumerate(parts) if isinstance(part, bytes)) if endlessly else len(parts)

    def send(connection: socket.socket, server: RawServer, sent: Sequence[bytes | float]) -> None:
        for part in sent:
            if isinstance(part, bytes):
                connection.sendall(part)
            else:
                server.ended.wait(part)

    def act(connection: socket.socket, server: RawServer) -> None:
        read_request(connection, server)
        send(connection, server, parts)
        while parts[last:] and not server.ended.is_set():
            send(connection, server, parts[last:])

    return act


def saying(greeting: bytes) -> Act:
    """Return an act that sends `greeting` before it has read anything."""

    def act(connection: socket.socket, server: RawServer) -> None:
        connection.sendall(greeting)
        server.ended.wait(PATIENCE * 2)

    return act


def waiting(_connection: socket.socket, server: RawServer) -> None:
    """Say nothing until the test is over."""
    server.ended.wait(PATIENCE * 2)
