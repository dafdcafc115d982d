"""Start the platform in a thread of its own; control it from any other thread."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from aiohttp import web

from demo.chat_platform import gateway, members, oauth, rest, scrobbler, shapes
from demo.chat_platform.gateway import Gateway
from demo.chat_platform.life import Life
from demo.chat_platform.shapes import Json
from demo.chat_platform.world import BOT, Counters, Switches, World

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

    @property
    def counters(self) -> Counters:
        return self._world.counters

    # --- Who is there ------------------------------------------------------------------------------------------------
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

    def remove_member(self, chat_id: int | str) -> None:
        """Remove the member; the account stays."""
        self._do(lambda: self._world.remove_member(str(chat_id)))

    def update_member(self, chat_id: int | str, *, member: Json | None = None, user: Json | None = None) -> None:
        self._do(lambda: self._world.update_member(str(chat_id), member, user))

    def set_presence(self, chat_id: int | str, presence: Json) -> None:
        """Replace the presence. `presence` is laid over a plain one: `{"status": "idle"}` means idle at the desktop."""
        self._do(lambda: self._world.set_presence(str(chat_id), presence))

    def set_presences(self, presences: Mapping[int, Json]) -> None:
        """Replace many presences at once, by id: for measurements."""

        def change() -> None:
            for chat_id, presence in presences.items():
                self._world.set_presence(str(chat_id), presence)

        self._do(change)

    def presence(self, chat_id: int | str) -> Json | None:
        """Return the presence as the lists have it; None while offline."""
        return self._do(lambda: self._world.presence(str(chat_id)))

    def feature(self, *chat_ids: int | str) -> None:
        """With `is_alive`, change these members' presences every few seconds."""
        self._do(lambda: self._life.feature(map(str, chat_ids)))

    # --- What the gateway does ---------------------------------------------------------------------------------------
    def dispatch(self, name: str, payload: Any) -> None:
        """Send any event, even a malformed one, to every session that has its intent. The state does not change."""
        self._do(lambda: self._world.sessions.dispatch(name, shapes.text(payload)))

    def send_text(self, text: str) -> None:
        """Send every connection a frame that need not even be JSON."""
        self._do(lambda: self._gateway.send(text))

    def garble(self) -> None:
        """Send every connection a frame that cannot be decompressed."""
        self._do(self._gateway.garble)

    def drop(self, *, sessions_too: bool = False) -> None:
        """Cut every connection off. `sessions_too`: RESUME is answered op 9 false afterwards."""

        def cut() -> None:
            self._gateway.drop()
            if sessions_too:
                self._world.sessions.end_all()

        self._do(cut)

    def reconnect(self) -> None:
        """Send op 7."""
        self._do(self._gateway.reconnect)

    def invalidate(self, *, resumable: bool) -> None:
        """Send op 9."""
        self._do(lambda: self._gateway.invalidate(resumable=resumable))

    def close_with(self, code: int) -> None:
        """Close every connection. After a fatal code the sessions are over, too."""
        self._wait_for(self._gateway.close(code))

    def set_unavailable(self, unavailable: bool) -> None:  # noqa: FBT001 - the one thing that it says
        """Begin or end an outage of the chat server. Changes during it are not dispatched."""

        def change() -> None:
            world = self._world
            if unavailable:
                outage = {"id": world.guild_id, "unavailable": True}
                world.dispatch("GUILD_DELETE", shapes.text(outage))
            world.is_unavailable = unavailable
            for session in () if unavailable else world.sessions.that_hear("GUILD_CREATE"):
                session.dispatch("GUILD_CREATE", gateway.create_guild(world, session))

        self._do(change)

    # --- The thread --------------------------------------------------------------------------------------------------
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


@contextmanager
def simulator(
    *,
    port: int = 0,
    guild_id: str = GUILD,
    bot_token: str | None = None,
    heartbeat_interval: float = 41.25,
    oauth_secret: str = SECRET,
    is_alive: bool = False,
    furnish: Callable[[Simulator], None] | None = None,
) -> Iterator[Simulator]:
    """Run a platform on loopback with an empty chat server (but for the bot); `port` 0: a free one.

    Raises OSError where the port is taken. `is_alive`: presences change by themselves. `furnish`: fills the chat server
    before clients can connect.
    """
    started = Simulator(
        guild_id=guild_id,
        bot_token=bot_token or TOKEN,
        oauth_secret=oauth_secret,
        heartbeat_interval=heartbeat_interval,
    )
    thread = threading.Thread(target=started._run, name="chat platform", daemon=True)
    thread.start()
    try:
        if furnish is not None:
            furnish(started)
        started._wait_for(started._open(port, is_alive=is_alive))
        try:
            yield started
        finally:
            started._wait_for(started._end())
    finally:
        started._loop.call_soon_threadsafe(started._loop.stop)
        thread.join()
        started._loop.close()
