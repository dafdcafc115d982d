"""The gateway feed on hikari: its connection, heartbeats, compression, RESUME. Its models and its cache stay unused."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import sys
import time
import zlib
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import Any

import aiohttp
from hikari import UNDEFINED, GatewayBot, Intents, ShardDisconnectedEvent, ShardPayloadEvent, UndefinedType, errors
from hikari.api import CacheComponents, GatewayShard
from hikari.impl import CacheSettings

from presence.fields import Json
from presence.gateway import payloads
from presence.gateway.payloads import (
    Dispatch,
    FatalFeedError,
    FeedEvent,
    Garbage,
    GatewayDecoder,
    SessionLost,
    SessionResumed,
    SessionStarted,
)
from presence.intervals import Intervals

INTENTS = Intents.GUILDS | Intents.GUILD_MEMBERS | Intents.GUILD_PRESENCES
FATAL_CODES = frozenset({4004, 4010, 4011, 4012, 4013, 4014})
IDENTIFY, RESUME = 2, 6  # the operations that ask for a session
PATIENCE = 180.0  # seconds for a session that was asked for: the library may wait for an answer that never comes
LOOK = 0.5  # seconds between two checks of the connection
CLOSING = 1.5
FEW_IDENTIFIES = 100  # of the platform's 1000 new sessions a day
# The library's names of its tasks: of a shard, and of one connection.
_KEEP_ALIVE, _CONNECTION = "keep alive (shard", ("heartbeat (shard", "poll events (shard")
_ZSTD_ERRORS: tuple[type[Exception], ...] = ()  # hikari asks for zstd instead of zlib where its Python has it
if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError

    _ZSTD_ERRORS = (ZstdError,)
# Errors that may end a connection; some come from the library's own code.
_ENDS: tuple[type[Exception], ...] = (
    errors.HikariError,
    aiohttp.ClientError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    zlib.error,
    *_ZSTD_ERRORS,
)

logger = logging.getLogger(__name__)


class Connection(Enum):
    """How far the bot's connection is.

    ```
    OPENING ──IDENTIFY or RESUME──▶ ASKED ──READY or RESUMED──▶ LIVE
    any ──the connection ends, or another bot begins──▶ OPENING
    ```
    """

    OPENING = "opening"
    ASKED = "asked"  # for a session
    LIVE = "live"


class Starts:
    """When a new session may begin: the platform counts them, and resets the token of a bot that begins too many.

    Times are of the monotonic clock.
    """

    def __init__(self, intervals: Intervals) -> None:
        self._intervals = intervals
        self._in_a_row = 0  # begun since one lasted
        self._begun_at: float | None = None
        self._ready_at: float | None = None

    def seconds_to_wait(self, now: float, left: int | None) -> float:
        """Return the seconds to wait, from the last begin on. `left`: how many the day still allows, if known."""
        if self._begun_at is None:
            return 0.0
        intervals, pause = self._intervals, 0.0
        if self._in_a_row >= intervals.free_sessions:
            doublings = min(self._in_a_row - intervals.free_sessions, 30)
            pause = min(intervals.session_pause * 2**doublings, intervals.longest_session_pause)
        if left is not None and left < FEW_IDENTIFIES:
            pause = max(pause, intervals.few_sessions_pause)
        return max(self._begun_at + pause - now, 0.0)

    def begin(self, now: float) -> None:
        """Note a begin, whether or not it becomes ready."""
        self._in_a_row += 1
        self._begun_at, self._ready_at = now, None

    def be_ready(self, now: float) -> None:
        self._ready_at = now

    def lose(self, now: float) -> bool:
        """Note the connection's end. Return whether the session has lasted."""
        has_lasted = self._ready_at is not None and now - self._ready_at >= self._intervals.lasting
        if has_lasted:
            self._in_a_row = 0
        return has_lasted


class HikariFeed:
    """`GatewayFeed`. `guild_id`, `token` and `api_url` come from `settings.CHAT`."""

    def __init__(self, *, guild_id: int, token: str, api_url: str, intervals: Intervals | None = None) -> None:
        self.identifies_left: int | None = None
        self._intervals = intervals or Intervals()
        self._starts = Starts(self._intervals)
        self._guild_id = guild_id
        self._token = token
        self._api_url = api_url
        self._tell: Callable[[FeedEvent], None] = lambda _event: None  # before `run`
        self._bot: GatewayBot | None = None
        self._shard: GatewayShard | None = None  # of the bot
        self._connection = Connection.OPENING
        self._since = 0.0  # of a connection that is not live; by the monotonic clock
        self._envelopes = GatewayDecoder(self._on_dispatch, complain=lambda: self._tell(Garbage()))
        self._closing = asyncio.Event()
        self._hurried = asyncio.Event()  # the library wanted to begin a session too soon
        self._has_lasted = False  # a session, since the last new beginning
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, tell: Callable[[FeedEvent], None]) -> None:
        self._tell = tell
        pause = 0.0
        while not self._closing.is_set():
            try:
                await self._run_bot()
                cause = "closed"
            except _ENDS as error:
                _raise_fatal(error)
                cause = type(error).__name__
                logger.warning("The gateway connection broke: %s: %s", cause, str(error)[:300])
            self._lose(cause)
            has_lasted, self._has_lasted = self._has_lasted, False
            pause = (
                self._intervals.first_pause
                if has_lasted or not pause
                else min(pause * 2, self._intervals.longest_pause)
            )
            jittered = random.uniform(pause / 2, pause)  # noqa: S311 - jitter is no secret
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), max(jittered, self._seconds_to_wait()))

    async def ask_for_all(self, nonce: str) -> bool:
        return await self._ask(nonce)

    async def ask_for(self, chat_ids: Sequence[int], nonce: str) -> bool:
        return await self._ask(nonce, list(chat_ids))

    async def _ask(self, nonce: str, users: list[int] | UndefinedType = UNDEFINED) -> bool:
        """Return whether the request was sent. In a task of its own, which the library may cancel with a connection."""
        shard = self._shard
        if shard is None or self._connection is not Connection.LIVE:
            return False
        request = shard.request_guild_members(self._guild_id, include_presences=True, nonce=nonce, users=users)
        task = asyncio.create_task(request)
        await asyncio.wait([task])
        if task.cancelled():
            return False
        error = task.exception()
        if error is not None and not isinstance(error, _ENDS):
            raise error
        return error is None

    async def close(self) -> None:
        self._closing.set()

    async def _run_bot(self) -> None:
        """Run one bot, from its beginning to its end."""
        before = asyncio.all_tasks()
        bot = self._bot = self._new_bot()
        self._shard = None
        life = asyncio.create_task(_live(bot))
        self._hurried.clear()
        ends = [asyncio.create_task(event.wait()) for event in (self._closing, self._hurried)]
        try:
            await self._watch(life, ends)
        finally:
            for task in (*ends, life):
                task.cancel()
            await asyncio.wait([life])
            await _end(bot, before)

    async def _watch(self, life: asyncio.Task[None], ends: Sequence[asyncio.Task[Any]]) -> None:
        """Wait for the bot's end or one of `ends`. TimeoutError where no session begins for too long.

        A connection that cannot even ask for one is given up sooner: the library's own pauses grow to a minute.
        """
        self._step(Connection.OPENING)
        while True:
            await asyncio.wait([life, *ends], timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
            if any(end.done() for end in ends):
                return
            if life.done():
                await life
                return
            patience = PATIENCE if self._connection is Connection.ASKED else self._intervals.connect_patience
            if self._connection is not Connection.LIVE and time.monotonic() - self._since > patience:
                raise TimeoutError(f"No session for {patience:g} s.")

    def _step(self, connection: Connection) -> None:
        self._connection, self._since = connection, time.monotonic()

    def _new_bot(self) -> GatewayBot:
        try:
            bot = GatewayBot(
                self._token,
                banner=None,
                logs=None,
                suppress_optimization_warning=True,
                auto_chunk_members=False,
                cache_settings=CacheSettings(components=CacheComponents.NONE),
                intents=INTENTS,
                dumps=self._write,
                loads=self._envelopes.read,
                rest_url=self._api_url,
            )
        except ValueError as error:
            raise FatalFeedError("The bot token is malformed.") from error
        bot.subscribe(ShardPayloadEvent, self._on_payload)
        bot.subscribe(ShardDisconnectedEvent, self._on_lost)
        return bot

    async def _on_payload(self, event: ShardPayloadEvent) -> None:
        """Keep the shard, which the library shows only with its events. One is enough: each costs a task."""
        if self._shard is None and self._bot is not None:
            self._shard = event.shard
            self._bot.unsubscribe(ShardPayloadEvent, self._on_payload)

    def _on_dispatch(self, name: str, payload: Json) -> None:
        """Handle each message as it is decoded. An event whose handling fails is logged and skipped."""
        try:
            if name in ("READY", "RESUMED"):
                self._step(Connection.LIVE)
                self._envelopes.last_order = ""
            if name == "READY":
                self._starts.be_ready(time.monotonic())
                task = asyncio.create_task(self._read_budget())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                found = payloads.rows(payload, "guilds")
                ids = (payloads.id_of(row.get("id")) for row in found or () if isinstance(row, dict))
                self._tell(SessionStarted(None if found is None else frozenset(one for one in ids if one is not None)))
            elif name == "RESUMED":
                self._tell(SessionResumed())
            else:
                self._tell(Dispatch(name, payload))
        except Exception:
            logger.exception("An event of the gateway is lost: %s", name[:50])

    async def _on_lost(self, event: ShardDisconnectedEvent) -> None:
        self._lose(self._envelopes.last_order or "dropped")
        self._step(Connection.OPENING)

    def _lose(self, cause: str) -> None:
        if self._connection is Connection.LIVE:
            self._step(Connection.OPENING)
            self._has_lasted |= self._starts.lose(time.monotonic())
            self._tell(SessionLost(cause))

    def _write(self, message: Any) -> bytes:
        """Return JSON (Any: as the library sends it).

        The library by itself begins one session after the other. An IDENTIFY that comes too soon raises an error that
        the library takes for one of the connection.
        """
        is_asking = isinstance(message, dict) and message.get("op") in (IDENTIFY, RESUME)
        if is_asking and self._connection is not Connection.LIVE:  # else the earlier session's end is not reported yet
            self._step(Connection.ASKED)
        if isinstance(message, dict) and message.get("op") == IDENTIFY:
            now = time.monotonic()
            if self._starts.seconds_to_wait(now, self.identifies_left):
                self._hurried.set()
                for task in asyncio.all_tasks():  # the library forgets them where its first message cannot be sent
                    if task.get_name().startswith(_CONNECTION):
                        task.cancel()
                raise errors.GatewayConnectionError("It is too soon for another session.")
            self._starts.begin(now)
            if self.identifies_left:
                self.identifies_left -= 1
        return json.dumps(message, separators=(",", ":")).encode()

    def _seconds_to_wait(self) -> float:
        """Return the seconds until the next session may begin."""
        seconds = self._starts.seconds_to_wait(time.monotonic(), self.identifies_left)
        if seconds and not self._closing.is_set():
            logger.warning("The gateway's sessions end too soon: the next one begins in %.0f s.", seconds)
        return seconds

    async def _read_budget(self) -> None:
        """Read how many sessions the day still allows."""
        if self._bot is None:
            return
        try:
            info = await self._bot.rest.fetch_gateway_bot_info()
        except _ENDS as error:
            logger.info("The budget of sessions cannot be read: %s", type(error).__name__)
            return
        left = self.identifies_left = info.session_start_limit.remaining
        if left < FEW_IDENTIFIES:
            logger.error("Only %s gateway sessions are left for today.", left)


async def _live(bot: GatewayBot) -> None:
    """Return the shard that holds the whole chat server: the bot is in few of them."""
    await bot.start(check_for_updates=False, shard_ids=[0], shard_count=1)
    await bot.join()


async def _end(bot: GatewayBot, before: set[asyncio.Task[Any]]) -> None:
    """Close the bot, and cancel the task of a connection in the making, which the library forgets."""
    if bot.is_alive:
        await _briefly(bot.close())
    for task in asyncio.all_tasks() - before:
        if task.get_name().startswith(_KEEP_ALIVE) and not task.done():
            task.cancel()
            await _briefly(asyncio.wait([task]))


async def _briefly(work: Awaitable[Any]) -> None:
    try:
        await asyncio.wait_for(work, CLOSING)
    except _ENDS as error:  # a timeout is among them
        logger.info("The gateway connection did not close in time: %s", type(error).__name__)


def _raise_fatal(error: BaseException) -> None:
    if isinstance(error, errors.GatewayServerClosedConnectionError) and error.code in FATAL_CODES:
        raise FatalFeedError(
            f"The gateway closed the connection with code {int(error.code or 0)}: {error.reason}"
        ) from error
    if isinstance(error, errors.UnauthorizedError):
        raise FatalFeedError("The platform does not accept the bot token.") from error
