"""The ASGI application of the embedded default, which has no nginx against slow clients.

    granian --interface asgi config.web.embedded:application

The busiest reads (`lane`) are answered on the event loop itself: SQLite reads a row by its key in 20 microseconds
and waits for no writer, while a thread costs a hundred. A request that has to write or to wait goes on in a thread.

`config.web.wsgi` runs in threads, and a slow client keeps none of them: a small body is received before a thread
starts, and an answer is sent between the calls that make its pieces. A large body is received while its thread reads it
(`config.web.received_body`); `config.web.request_body` limits such to half of the threads. Event streams are tasks of
`config.web.asgi`. A client that is too slow is cut off (`config.web.received_body`).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import sys
from asyncio import events
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote_to_bytes

from django.conf import settings

from config.web import asgi, lane, request_body, request_headers, web_worker, wsgi
from config.web.asgi import Message, Receive, Scope, Send
from config.web.lane import BusyRequest
from config.web.received_body import CutOff, Pace, ReceivedBody, TooSlow
from infrastructure.requests import request_context
from infrastructure.requests.request_context import Answer, MustWait

PIECE = 64 * 1024  # bytes of an answer that a thread makes before they are sent
CLOSE = (b"connection", b"close")  # the rest of the body would pass for the next request
TIMEOUT = b'{"error":"errors.requestTimeout"}'

# Of the environ of each request.
_CONSTANT = {
    "SCRIPT_NAME": "",
    "wsgi.url_scheme": wsgi.SCHEME,
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": True,
    "wsgi.multiprocess": False,
    "wsgi.run_once": False,
}
_threads = ThreadPoolExecutor(settings.WEB_THREADS, thread_name_prefix="web")


class ApplicationRun:
    """One run of the WSGI application. Its methods run in threads, one after the other."""

    def __init__(self, environ: dict[str, Any]) -> None:
        self.status = 500
        self.headers: list[tuple[bytes, bytes]] = []
        self._environ = environ
        self._answer: Any = None  # an iterable of bytes that may have `close`
        self._pieces: Iterator[bytes] = iter(())

    def begin(self) -> tuple[bytes, bool]:
        """Run the application; then as `take`."""
        self._answer = wsgi.serve(self._environ, self._start)
        self._pieces = iter(self._answer)
        return self.take()

    def take(self) -> tuple[bytes, bool]:
        """Return the next PIECE of the answer, about, and whether it is the last one, which closes the answer."""
        taken, size = [], 0
        try:
            for piece in self._pieces:
                taken.append(piece)
                size += len(piece)
                if size >= PIECE:
                    return b"".join(taken), False
        except BaseException:
            self.close()
            raise
        self.close()
        return b"".join(taken), True

    def close(self) -> None:
        """Close the answer. Idempotent."""
        answer, self._answer = self._answer, None
        if hasattr(answer, "close"):  # a list of bytes, as the lane answers, has nothing to close
            answer.close()

    def _start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        """WSGI's `start_response`."""
        self.status = int(status[:3])
        self.headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        await asgi.application(scope, receive, send)
    elif asgi.is_stream(scope["path"]):
        with contextlib.suppress(TimeoutError):
            await asgi.application(scope, receive, _at_pace(send))
    else:
        await _serve(scope, receive, send)


async def _serve(scope: Scope, receive: Receive, send: Send) -> None:
    environ = _environ(scope)
    has_body = "CONTENT_LENGTH" in environ or "HTTP_TRANSFER_ENCODING" in environ
    if not has_body and (found := lane.find(environ)) is not None and found.is_read:
        await _answer_read(found, send)
        return
    body = ReceivedBody(receive, has_any=has_body)
    waits_to_send = "HTTP_EXPECT" in environ  # until it is read (RFC 9110 §10.1.1)
    try:
        if not waits_to_send:
            try:
                await body.fill(request_body.LARGE + 1)
            except TooSlow:
                headers = [(b"content-type", b"application/json"), CLOSE]
                await send({"type": "http.response.start", "status": 408, "headers": headers})
                await send({"type": "http.response.body", "body": TIMEOUT})
                return
            except CutOff:
                pass  # what reads it answers: the client may have sent a bad chunk, and wait
        if body.is_over and environ.pop("HTTP_TRANSFER_ENCODING", None):
            environ["CONTENT_LENGTH"] = str(body.size)
        environ["wsgi.input"] = io.BufferedReader(body, request_body.CHUNK)
        await _answer(ApplicationRun(environ), body, _at_pace(send))
        if not (waits_to_send and body.is_untouched):
            await body.discard()
    finally:
        body.abandon()


async def _answer_read(found: BusyRequest, send: Send) -> None:
    loop = asyncio.get_running_loop()
    events._set_running_loop(None)
    try:
        answer: Answer | None = request_context.without_waiting(found.answer)
    except MustWait:
        answer = None
    finally:
        events._set_running_loop(loop)
    if answer is None:
        answer = await loop.run_in_executor(_threads, found.answer)
    headers = [_kept(field) if field[0] not in _CHANGING else _encoded(field) for field in answer.headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


async def _answer(run: ApplicationRun, body: ReceivedBody, send: Send) -> None:
    """Send what the application answers, a piece at a time, until the client has gone or is too slow."""
    loop = asyncio.get_running_loop()
    piece, is_last = await loop.run_in_executor(_threads, run.begin)
    headers = [*run.headers, CLOSE] if body.is_cut_off else run.headers
    await send({"type": "http.response.start", "status": run.status, "headers": headers})
    if is_last:
        await send({"type": "http.response.body", "body": piece})
        return
    gone = asyncio.create_task(body.wait_until_gone())
    try:
        while not gone.done():
            await send({"type": "http.response.body", "body": piece, "more_body": not is_last})
            if is_last:
                return
            piece, is_last = await loop.run_in_executor(_threads, run.take)
    except TimeoutError:
        return
    finally:
        gone.cancel()
        await loop.run_in_executor(_threads, run.close)


def _at_pace(send: Send) -> Send:
    """`send`, which raises TimeoutError where the client takes what is sent too slowly."""
    pace = Pace()

    async def send_at_pace(message: Message) -> None:
        await pace.keep(send(message))
        pace.count(len(message.get("body", b"")))

    return send_at_pace


def _environ(scope: Scope) -> dict[str, Any]:
    """WSGI's, without the body. Headers with an underscore are dropped: they would look like those with a hyphen."""
    path: bytes = scope["raw_path"]
    environ: dict[str, Any] = {
        **_CONSTANT,
        "REQUEST_METHOD": scope["method"],
        "PATH_INFO": (unquote_to_bytes(path) if b"%" in path else path).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": scope["server"][0],
        "SERVER_PORT": str(scope["server"][1]),
        "REMOTE_ADDR": scope["client"][0],
        "wsgi.input": io.BytesIO(),
    }
    for name, value in scope["headers"]:
        if variable := _variable(name):
            text = value.decode("latin-1")
            if variable in environ:
                text = f"{environ[variable]}{'; ' if variable == 'HTTP_COOKIE' else ','}{text}"
            environ[variable] = text
    request_headers.clean(environ)
    return environ


def _encoded(header: tuple[str, str]) -> tuple[bytes, bytes]:
    """A header of an answer as ASGI has it."""
    return header[0].encode("latin-1"), header[1].encode("latin-1")


_kept = functools.lru_cache(maxsize=1_000)(_encoded)
_CHANGING = frozenset({request_context.HEADER, "RateLimit", "ETag"})  # another value each time: they are not kept


@functools.lru_cache(maxsize=200)
def _variable(header: bytes) -> str:
    """The name of a header in WSGI; "" where it is dropped."""
    if b"_" in header:
        return ""
    name = header.decode("latin-1").upper().replace("-", "_")
    return name if name in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{name}"


web_worker.note_loaded()
