"""A client of the chat platform's gateway, written from its documentation alone: it sends and shows raw messages."""

from __future__ import annotations

import asyncio
import functools
import json
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, ParamSpec

import aiohttp

from tests.support.chat_platform import Simulator

PATIENCE = 10.0  # seconds for anything to come
ALL_INTENTS = 259

P = ParamSpec("P")
Json = dict[str, Any]  # whatever comes over the wire


class Client:
    """One connection. `frames`: what came in, as it came."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, platform: Simulator) -> None:
        self.socket, self.platform = socket, platform
        self.frames: list[str | bytes] = []
        self.seq: int | None = None
        self._inflate = zlib.decompressobj()

    async def send(self, op: int, data: Any) -> None:
        await self.socket.send_json({"op": op, "d": data})

    async def receive(self) -> Json:
        """The next object. AssertionError where the connection ends instead."""
        message = await self.socket.receive(PATIENCE)
        assert message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY), (message, self.socket.close_code)
        self.frames.append(message.data)
        text = message.data if isinstance(message.data, str) else self._inflate.decompress(message.data)
        value: Json = json.loads(text)
        if value["op"] == 0:
            self.seq = value["s"]
        return value

    async def event(self, name: str) -> Any:
        """The data of the next dispatch, which has this name."""
        value = await self.receive()
        assert (value["op"], value["t"]) == (0, name), value
        return value["d"]

    async def closed(self) -> int | None:
        """The code that the platform closes with, after whatever it still has to say."""
        while not self.socket.closed:
            await self.socket.receive(PATIENCE)
        return self.socket.close_code

    async def identify(self, **other: Any) -> Json:
        """READY. GUILD_CREATE is still to come."""
        data = {"token": self.platform.bot_token, "intents": ALL_INTENTS, "large_threshold": 250, "properties": {}}
        await self.send(2, {**data, **other})
        ready: Json = await self.event("READY")
        return ready

    async def resume(self, session_id: str, seq: int | None) -> None:
        await self.send(6, {"token": self.platform.bot_token, "session_id": session_id, "seq": seq})

    async def ask(self, **data: Any) -> None:
        """Op 8."""
        await self.send(8, {"guild_id": self.platform.guild_id, **data})


@asynccontextmanager
async def connected(platform: Simulator, query: str = "?v=10&encoding=json") -> AsyncIterator[Client]:
    """Before HELLO."""
    url = f"{platform.url}/{query}"
    async with aiohttp.ClientSession() as session, session.ws_connect(url, max_msg_size=0) as socket:
        yield Client(socket, platform)


@asynccontextmanager
async def greeted(platform: Simulator, query: str = "?v=10&encoding=json") -> AsyncIterator[Client]:
    """After HELLO."""
    async with connected(platform, query) as client:
        assert (await client.receive())["op"] == 10
        yield client


@asynccontextmanager
async def in_session(platform: Simulator, **identify: Any) -> AsyncIterator[Client]:
    """After READY and GUILD_CREATE."""
    async with greeted(platform) as client:
        await client.identify(**identify)
        await client.event("GUILD_CREATE")
        yield client


def run(work: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Makes a test of a coroutine."""

    @functools.wraps(work)
    def test(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(work(*args, **kwargs))

    return test
