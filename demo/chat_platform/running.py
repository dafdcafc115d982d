"""Start the platform in a thread of its own; control it from any other thread."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

from aiohttp import web

from demo.chat_platform import members, oauth, rest, scrobbler, shapes
from demo.chat_platform.gateway import Gateway
from demo.chat_platform.life import Life
from demo.chat_platform.shapes import Json
from demo.chat_platform.world import BOT, Switches, World

HOST = "127.0.0.1"
GUILD = "268473310000000000"
TOKEN = f"{base64.urlsafe_b64encode(BOT.encode()).decode().rstrip('=')}.simulated.token"
SECRET = "simulated"  # noqa: S105 - it opens nothing but this platform
LONGEST = 60.0  # seconds that anything here may take

Value = TypeVar("Value")


class Simulator(Switches):
    """The running platform. Every method may be called from any thread, and returns when it is done.

    A dispatched event may not have been read yet.
    """

    def __init__(self, *, guild_id: str, bot_token: str, oauth_secret: str, heartbeat_interval: float) -> None:
        super().__init__()
        self.guild_id, self.bot_token = guild_id, bot_token
        self.port = 0
        self._world = World(guild_id=guild_id, bot_token=bot_token, oauth_secret=oauth_secret, switches=self)
        self._gateway = Gateway(self._world, heartbeat_interval)
        self._life = Life(self._world)
        self._loop = asyncio.new_event_loop()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def api_url(self) -> str:
        return f"{self.url}{rest.API}"

    def add_member(
        self,
        chat_id: int | str,
        *,
        member: Json | None = None,
        user: Json | None = None,
        presence: Json | None = None,
        profile: Any = None,
    ) -> None:
        """Add a member over a plain one. No presence: offline. `profile`: any JSON, of the profile source."""
        value = shapes.member(str(chat_id), member, user)
        self._do(lambda: self._world.add_member(str(chat_id), value, presence=presence, profile=profile))

    def add_account(self, chat_id: int | str, **user: Any) -> None:
        """Add an account that is no member."""
        self._do(lambda: self._world.others.__setitem__(str(chat_id), shapes.user(str(chat_id), user)))

    def populate(self, count: int) -> list[int]:
        """Add `count` members without a dispatch, equal ones each time, two of three offline."""
        return self._do(lambda: members.fill(self._world, count))

    def count(self) -> int:
        """Return the number of members, with the bot."""
        return self._do(lambda: len(self._world.members))

    def account(self, chat_id: int | str) -> Json | None:
        """Return the user object of a member or another account; None: unknown id."""
        return self._do(lambda: self._world.accounts.get(str(chat_id)))

    def is_member(self, chat_id: int | str) -> bool:
        return self._do(lambda: str(chat_id) in self._world.members)

    def feature(self, *chat_ids: int | str) -> None:
        """With `is_alive`, change these members' presences every few seconds."""
        self._do(lambda: self._life.feature(map(str, chat_ids)))

    def _do(self, change: Callable[[], Value]) -> Value:
        async def on_the_loop() -> Value:
            return change()

        return self._wait_for(on_the_loop())

    def _wait_for(self, work: Coroutine[Any, Any, Value]) -> Value:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(LONGEST)

    async def _open(self, port: int, *, is_alive: bool) -> None:
        app = web.Application(middlewares=[rest.middleware(self._world)])
        app.add_routes([*rest.Rest(self._world).routes(), *self._gateway.routes()])
        app.add_routes([*oauth.routes(self._world), *scrobbler.routes(self._world)])
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, HOST, port).start()
        except OSError:
            await self._runner.cleanup()
            raise
        self.port = self._runner.addresses[0][1]
        self._world.url = self.url
        if is_alive:
            self._life.start()

    async def _end(self) -> None:
        await self._life.stop()
        await self._gateway.stop()
        if self._runner is not None:
            await self._runner.cleanup()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    @classmethod
    @contextmanager
    def started(
        cls,
        *,
        port: int = 0,
        guild_id: str = GUILD,
        bot_token: str | None = None,
        heartbeat_interval: float = 41.25,
        oauth_secret: str = SECRET,
        is_alive: bool = False,
        furnish: Callable[[Self], None] | None = None,
    ) -> Iterator[Self]:
        """Run a platform on loopback with an empty chat server (but for the bot); `port` 0: a free one.

        Raises OSError where the port is taken. `is_alive`: presences change by themselves. `furnish`: fills the chat
        server before clients can connect.
        """
        platform = cls(
            guild_id=guild_id,
            bot_token=bot_token or TOKEN,
            oauth_secret=oauth_secret,
            heartbeat_interval=heartbeat_interval,
        )
        thread = threading.Thread(target=platform._run, name="chat platform", daemon=True)
        thread.start()
        try:
            if furnish is not None:
                furnish(platform)
            platform._wait_for(platform._open(port, is_alive=is_alive))
            try:
                yield platform
            finally:
                platform._wait_for(platform._end())
        finally:
            platform._loop.call_soon_threadsafe(platform._loop.stop)
            thread.join()
            platform._loop.close()
