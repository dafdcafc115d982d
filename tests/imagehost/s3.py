"""Buckets on the S3 server of the tests, and a wire to it on which things go wrong."""

import atexit
import contextlib
import copy
import functools
import secrets
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from typing import Any

from imagehost.storing.storage import S3Storage
from tests.support import object_store
from tests.support.object_store import ObjectStore


@functools.cache
def server() -> ObjectStore:
    """The bed's; without the bed, one of this process's own."""
    if store := object_store.given():
        return store
    until_exit = contextlib.ExitStack()
    store = until_exit.enter_context(object_store.running())
    atexit.register(until_exit.close)
    return store


def options(store: ObjectStore, **changes: Any) -> dict[str, Any]:
    """OPTIONS of an S3Storage on a bucket that does not exist yet."""
    return {
        "bucket_name": f"bucket-{secrets.token_hex(8)}",
        "endpoint_url": store.endpoint_url,
        "access_key": store.access_key,
        "secret_key": store.secret_key,
        "region_name": "us-east-1",
        "proxies": {},  # none of the machine's
        **changes,
    }


def fresh_s3_storage() -> S3Storage:
    """A storage on an empty bucket of its own, with the client that the whole process shares."""
    storage = copy.copy(_first())
    storage.bucket_name = options(server())["bucket_name"]
    storage.client.create_bucket(Bucket=storage.bucket_name)
    return storage


@contextlib.contextmanager
def own_s3_storage(store: ObjectStore, **changes: Any) -> Iterator[S3Storage]:
    """A storage with a client of its own, on a bucket that does not exist yet. `changes` are options."""
    storage = S3Storage(**options(store, **changes))
    try:
        yield storage
    finally:
        storage.client.close()


@functools.cache
def _first() -> S3Storage:
    storage = S3Storage(**options(server()))
    atexit.register(storage.client.close)  # making a client takes a quarter of a second
    return storage


Watch = Callable[[int], bool]
"""Takes how many bytes of this connection came so far, before the newest are passed on; False cuts the connection."""


def pass_on(count: int) -> bool:
    return True


@contextlib.contextmanager
def relaying(target_port: int, *, upward: Watch = pass_on, downward: Watch = pass_on) -> Iterator[int]:
    """Pass on all connections to a port of this machine; yields the port to speak to."""

    ends: list[socket.socket] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(("127.0.0.1", target_port)) as target:
                ends.extend((self.request, target))
                up = threading.Thread(target=_pump, args=(self.request, target, upward))
                up.start()
                _pump(target, self.request, downward)
                up.join()

    with _serving(Handler) as port:
        try:
            yield port
        finally:
            _cut(*ends)  # connections that are kept alive


@contextlib.contextmanager
def answering(content: bytes) -> Iterator[int]:
    """A server that says this to everybody and hangs up; yields its port."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65_536)
            self.request.sendall(content)

    with _serving(Handler) as port:
        yield port


@contextlib.contextmanager
def silence() -> Iterator[int]:
    """A server that takes connections and never says a word; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextlib.contextmanager
def _serving(handler: type[socketserver.BaseRequestHandler]) -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _pump(source: socket.socket, sink: socket.socket, watch: Watch) -> None:
    """Until one side ends; then the other hears of it."""
    count = 0
    with contextlib.suppress(OSError):  # the other direction was cut
        while data := source.recv(65_536):
            count += len(data)
            if not watch(count):
                break
            sink.sendall(data)
    _cut(source, sink)


def _cut(*ends: socket.socket) -> None:
    for end in ends:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
