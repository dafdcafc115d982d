"""One WebSocket connection of the gateway: texts out in order, plain or compressed, objects in, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import zlib
from collections import deque
from collections.abc import Callable
from typing import Any

from aiohttp import WSMessage, WSMsgType, web

from demo.chat_platform import shapes
from demo.chat_platform.shapes import Json

SENDS, SENDS_IN = 120, 60.0  # that many a minute from one connection
LARGEST = 64 * 1024  # bytes that a client may send at once
PATIENCE = 2.0  # seconds for a client to take what is left, and then to answer a close

DECODE_ERROR, RATE_LIMITED = 4002, 4008

_Compress = Callable[[bytes], bytes]
"""Append a text to the stream of a connection, and return the bytes with which the client can read all of it."""


def _zlib() -> _Compress:
    stream = zlib.compressobj(1)
    return lambda text: stream.compress(text) + stream.flush(zlib.Z_SYNC_FLUSH)


COMPRESSIONS: dict[str, Callable[[], _Compress]] = {"zlib-stream": _zlib}
"""What a client may ask for, beside no compression. hikari asks for zstd where its Python has it."""
if sys.version_info >= (3, 14):
    from compression import zstd

    def _zstd() -> _Compress:
        stream = zstd.ZstdCompressor(level=1)
        return lambda text: stream.compress(text, mode=stream.FLUSH_BLOCK)

    COMPRESSIONS["zstd-stream"] = _zstd


class Closed(Exception):
    """The connection ends with this close code."""

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(code)
        self.code, self.reason = code, reason


class Connection:
    """A connection whose texts wait in a queue, from which `write` takes them."""

    def __init__(self, request: web.Request, *, silence: float) -> None:
        """`silence`: seconds after which a silent client counts as disconnected."""
        self.query = request.query
        self.socket = web.WebSocketResponse(max_msg_size=LARGEST, compress=False, timeout=PATIENCE)
        self._request, self._silence = request, silence
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        begin = COMPRESSIONS.get(request.query.get("compress", ""))
        self._compress = None if begin is None else begin()
        self._came_in_at: deque[float] = deque(maxlen=SENDS)
        self._closing = asyncio.Lock()
        self._is_open = True

    async def open(self) -> None:
        await self.socket.prepare(self._request)
        self._writer = asyncio.get_running_loop().create_task(self._write())

    def send(self, text: str) -> None:
        self._outgoing.put_nowait(text)

    def send_op(self, op: int, data: Any = None) -> None:
        self.send(shapes.text({"op": op, "d": data, "s": None, "t": None}))

    async def drained(self) -> None:
        """Wait until everything is sent, or the connection is closed."""
        while self._is_open and not self._outgoing.empty():
            await asyncio.sleep(0.002)

    async def _write(self) -> None:
        """Write one compressed stream for the whole connection, flushed after each text."""
        with contextlib.suppress(ConnectionError):
            while True:
                text = await self._outgoing.get()
                if self._compress is None:
                    await self.socket.send_str(text)
                else:
                    await self.socket.send_bytes(self._compress(text.encode()))

    async def receive(self) -> Json | None:
        """Return the next object; None: the connection has ended. A silent one is cut.

        Raises Closed for anything but an object, and for a client that sends too often.
        """
        try:
            message: WSMessage = await self.socket.receive(timeout=self._silence)
        except TimeoutError:
            self.abort()
            return None
        if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
            return None
        self._count()
        try:
            value = json.loads(message.data)
        except (ValueError, RecursionError) as error:
            raise Closed(DECODE_ERROR, "Error while decoding payload.") from error
        if not isinstance(value, dict):
            raise Closed(DECODE_ERROR, "Error while decoding payload.")
        return value

    def _count(self) -> None:
        now = asyncio.get_running_loop().time()
        if len(self._came_in_at) == SENDS and now - self._came_in_at[0] < SENDS_IN:
            raise Closed(RATE_LIMITED, "You are being rate limited.")
        self._came_in_at.append(now)

    def abort(self) -> None:
        """Cut the connection without a close frame."""
        self._is_open = False
        if self._request.transport is not None:
            self._request.transport.abort()

    async def close(self, code: int, reason: str = "") -> None:
        """Close after what is waiting has been sent."""
        async with self._closing:
            with contextlib.suppress(ConnectionError, TimeoutError):
                await asyncio.wait_for(self.drained(), PATIENCE)
                await self.socket.close(code=code, message=reason.encode())

    async def end(self) -> None:
        """Release everything, after a `close` that is under way."""
        self._is_open = False
        async with self._closing:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
