"""What the tests of the reader stand on: a clock that stands still until a test moves it, and a small HTTP server."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import time_machine
from django.conf import settings

from accounts.api_keys import uses
from presence.answer import refreshing, rest
from tests.accounts.clock import NOON


@dataclass
class Clock:
    """Of the service, and of Redis where it has one."""

    traveller: time_machine.Traveller

    def wait(self, seconds: float) -> None:
        self.traveller.shift(timedelta(seconds=seconds))
        if settings.REDIS_URL:
            _let_redis_pass(seconds)


def _let_redis_pass(seconds: float) -> None:
    """Redis has a clock of its own, which no test can move: shorten what is left of every key that ends by itself."""
    from django_redis import get_redis_connection

    redis = get_redis_connection("default")
    for key in redis.scan_iter():
        left = redis.pttl(key)
        if left >= 0:
            redis.pexpire(key, left - math.ceil(seconds * 1000))  # one that is not positive deletes the key


@contextmanager
def standing_still() -> Iterator[Clock]:
    """It is noon, and no outside server has failed yet."""
    rest._circuit.cache_clear()
    refreshing._pause.cache_clear()
    refreshing._http_source.cache_clear()
    uses.buffer.clear()
    with time_machine.travel(NOON, tick=False) as traveller:
        yield Clock(traveller)


@dataclass(frozen=True)
class Reply:
    """An HTTP answer. `body`: sent in these pieces; None among them: nothing more comes until the test has ended; a
    number: the next one comes so many seconds later."""

    status: int = 200
    body: tuple[bytes | float | None, ...] = (b"{}",)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Server:
    """`replies`: by path, what to answer; another path is 404. `asked`: paths and headers, in order."""

    url: str
    replies: dict[str, Reply] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    before_answer: Callable[[], None] | None = None  # called once, at the next request


@contextmanager
def server() -> Iterator[Server]:
    """On a free loopback port."""
    is_over = threading.Event()
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    httpd.daemon_threads = True
    started = Server(f"http://127.0.0.1:{httpd.server_address[1]}")
    httpd.RequestHandlerClass = _handler(started, is_over.wait)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield started
    finally:
        is_over.set()
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def _handler(server: Server, wait: Callable[[float | None], object]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append((self.path, dict(self.headers)))
            before, server.before_answer = server.before_answer, None
            if before is not None:
                before()
            reply = server.replies.get(self.path, Reply(404))
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for piece in reply.body:
                if isinstance(piece, bytes):
                    self.wfile.write(piece)
                    continue
                self.wfile.flush()
                if wait(piece):
                    return

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    return Handler
