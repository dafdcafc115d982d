"""The gateway: the platform's protocol (version 10, JSON) on each of its connections.

GUILD_CREATE is cut by size; op 8 (Request Guild Members) is answered in chunks."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from demo import invented
from demo.chat_platform import shapes
from demo.chat_platform.connection import COMPRESSIONS, DECODE_ERROR, Closed, Connection
from demo.chat_platform.sessions import GUILD_MEMBERS, GUILD_PRESENCES, KNOWN, PRIVILEGED, Session
from demo.chat_platform.shapes import Json, Member
from demo.chat_platform.world import World

TOO_LARGE = 75_000  # members: above it GUILD_CREATE lists only the bot, and no presence
CHUNK = 1000  # members
MOST_IDS = 100  # that one op 8 may name
MOST_FOUND = 100  # members by a prefix
LONGEST_NONCE = 32  # bytes

words = invented.load("chat")


def create_guild(world: World, session: Session) -> str:
    """Return GUILD_CREATE for this session. Of a large chat server it leaves out most offline members."""
    count = len(world.members)
    shown: Iterable[Member]
    if count > TOO_LARGE:
        shown = [world.members[world.bot_id]]
    elif count > session.large_threshold:
        bot = world.members[world.bot_id]
        shown = [other for other in world.members.values() if other.presence or other.is_prominent or other is bot]
    else:
        shown = world.members.values()
    has_presences = session.may(GUILD_PRESENCES) and count <= TOO_LARGE
    presences = [member.presence for member in shown if member.presence] if has_presences else []
    guild = {
        "id": world.guild_id,
        **words.GUILD,
        "owner_id": world.bot_id,
        "roles": [{"id": world.guild_id, **words.EVERYONE}],
        "large": count > session.large_threshold,
        "member_count": count,
    }
    lists = f'"members":[{_joined(member.text for member in shown)}],"presences":[{",".join(presences)}]'
    return f"{shapes.text(guild)[:-1]},{lists}}}"


def _joined(texts: Iterable[str]) -> str:
    return ",".join(texts)


@dataclass(frozen=True)
class Request:
    """An op 8. `ids`: members by id; None: by `prefix`, where an empty one with `limit` 0 means all."""

    guild_id: str
    ids: tuple[str, ...] | None
    prefix: str
    limit: int
    wants_presences: bool
    nonce: str | None

    @property
    def is_for_all(self) -> bool:
        return self.ids is None and not self.prefix and self.limit == 0

    @classmethod
    def read(cls, data: Any) -> Request | None:
        """Return the request; None: malformed."""
        if not isinstance(data, dict) or ("query" not in data and "user_ids" not in data):
            return None
        ids = data.get("user_ids")
        if ids is not None:
            ids = tuple(map(str, ids if isinstance(ids, list) else [ids]))
        prefix, limit, nonce = data.get("query", ""), data.get("limit", 0), data.get("nonce")
        if not isinstance(prefix, str) or not isinstance(limit, int) or len(ids or ()) > MOST_IDS:
            return None
        if not isinstance(nonce, str) or len(nonce.encode(errors="replace")) > LONGEST_NONCE:
            nonce = None
        return cls(str(data.get("guild_id")), ids, prefix, limit, data.get("presences") is True, nonce)


def may_ask(session: Session, request: Request) -> bool:
    """Return whether the session has the intent that the whole list needs."""
    return not request.is_for_all or session.may(GUILD_MEMBERS)


def chunks(world: World, session: Session, request: Request) -> Iterator[str]:
    """Yield GUILD_MEMBERS_CHUNKs, each with the members as they are when it is taken."""
    found = _found(world, request)
    missing = [chat_id for chat_id in request.ids or () if chat_id not in world.members]
    has_presences = request.wants_presences and session.may(GUILD_PRESENCES)
    count = max(-(-len(found) // CHUNK), 1)
    for index in range(count):
        ids = found[index * CHUNK : (index + 1) * CHUNK]
        part = [world.members[chat_id] for chat_id in ids if chat_id in world.members]
        rest: dict[str, Any] = {"chunk_index": index, "chunk_count": count}
        if missing:
            rest["not_found"] = missing
        if request.nonce is not None:
            rest["nonce"] = request.nonce
        lists = f'"members":[{_joined(member.text for member in part)}]'
        if has_presences:
            lists += f',"presences":[{_joined(member.presence for member in part if member.presence)}]'
        yield f'{{"guild_id":{json.dumps(world.guild_id)},{lists},{shapes.text(rest)[1:]}'


def _found(world: World, request: Request) -> list[str]:
    if request.ids is not None:
        return [chat_id for chat_id in dict.fromkeys(request.ids) if chat_id in world.members]
    if request.is_for_all:
        return list(world.members)
    wanted = request.prefix.lower()
    names = ((chat_id, str(member.user()["username"])) for chat_id, member in world.members.items())
    named = (chat_id for chat_id, name in names if name.lower().startswith(wanted))
    return list(itertools.islice(named, max(min(request.limit, MOST_FOUND), 0)))


VERSION = 10
RESUME_PATH = "/resume"  # a second address of the same gateway, which only READY names
UNKNOWN_OPCODE, NOT_AUTHENTICATED, AUTHENTICATION_FAILED, ALREADY_AUTHENTICATED = 4001, 4003, 4004, 4005
INVALID_SHARD, INVALID_VERSION, INVALID_INTENTS, DISALLOWED_INTENTS = 4010, 4012, 4013, 4014
SESSION_IS_OVER = {1000, 1001}  # when the client closes with one of them
FATAL = {4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014}  # when the platform does


class Gateway:
    """All connections. `heartbeat_interval` in seconds."""

    def __init__(self, world: World, heartbeat_interval: float) -> None:
        self.world, self.heartbeat_interval = world, heartbeat_interval
        self.conversations: set[Conversation] = set()
        self._work: set[asyncio.Task[None]] = set()

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/", self.connect), web.get(RESUME_PATH, self.connect)]

    async def connect(self, request: web.Request) -> web.StreamResponse:
        if self.world.switches.gateway_is_down:
            return web.Response(status=503)
        connection = Connection(request, silence=self.heartbeat_interval * 2 + 2)
        await connection.open()
        self.world.counters.connections += 1
        conversation = Conversation(self, connection)
        self.conversations.add(conversation)
        try:
            await conversation.hold()
        finally:
            self.conversations.discard(conversation)
        return connection.socket

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work that goes on even when the connection that started it is cut."""
        task = asyncio.get_running_loop().create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    def drop(self) -> None:
        for conversation in list(self.conversations):
            conversation.detach()
            conversation.connection.abort()

    async def stop(self) -> None:
        for task in list(self._work):
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        self.drop()


class Conversation:
    """One connection from HELLO to its end."""

    def __init__(self, gateway: Gateway, connection: Connection) -> None:
        self.gateway, self.connection, self.world = gateway, connection, gateway.world
        self.session: Session | None = None

    async def hold(self) -> None:
        try:
            self._greet()
            while (message := await self.connection.receive()) is not None:
                self._take(message)
        except Closed as end:
            self.detach(is_over=end.code in FATAL)
            await self.connection.close(end.code, end.reason)
        finally:
            self.detach(is_over=self.connection.socket.close_code in SESSION_IS_OVER)
            await self.connection.end()

    def detach(self, *, is_over: bool = False) -> None:
        """Keep the session without this connection, unless it is over."""
        if self.session is not None and self.session.line is self.connection:
            self.session.line = None
            if is_over:
                self.world.sessions.end(self.session)

    def _greet(self) -> None:
        query = self.connection.query
        if query.get("v", str(VERSION)) != str(VERSION):
            raise Closed(INVALID_VERSION, "Invalid API version.")
        if query.get("encoding", "json") != "json" or query.get("compress", "zlib-stream") not in COMPRESSIONS:
            raise Closed(DECODE_ERROR, f"Only JSON is spoken here, plain or as one of {', '.join(COMPRESSIONS)}.")
        self.connection.send_op(10, {"heartbeat_interval": round(self.gateway.heartbeat_interval * 1000), "_trace": []})

    def _take(self, message: Json) -> None:
        op, data = message.get("op"), message.get("d")
        handlers: dict[int, Callable[[Any], object]] = {
            1: self._beat,
            2: self._identify,
            3: self._known,
            4: self._known,
            6: self._resume,
            8: self._request_members,
        }
        handler = handlers.get(op) if isinstance(op, int) else None
        if handler is None:
            raise Closed(UNKNOWN_OPCODE, "Unknown opcode.")
        handler(data)

    def _beat(self, data: Any) -> None:
        if self.world.switches.acks:
            self.connection.send_op(11)

    def _known(self, data: Any) -> Session:
        if self.session is None:
            raise Closed(NOT_AUTHENTICATED, "Not authenticated.")
        return self.session

    def _authenticate(self, data: Any) -> Json:
        """Check `data` of IDENTIFY or RESUME. The token comes with or without the word that REST wants before it."""
        if self.session is not None:
            raise Closed(ALREADY_AUTHENTICATED, "Already authenticated.")
        if not isinstance(data, dict):
            raise Closed(DECODE_ERROR, "Error while decoding payload.")
        token = data.get("token")
        if not isinstance(token, str) or token.removeprefix("Bot ") != self.world.bot_token:
            raise Closed(AUTHENTICATION_FAILED, "Authentication failed.")
        return data

    def _identify(self, data: Any) -> None:
        world, data = self.world, self._authenticate(data)
        threshold = data.get("large_threshold", 50)
        threshold = min(max(threshold, 50), 250) if isinstance(threshold, int) else 50
        session = Session(_intents(data, world.switches.granted_intents), threshold, _sees(data, world.guild_id))
        world.counters.identifies += 1
        world.switches.starts_left = max(world.switches.starts_left - 1, 0)
        self.session, session.line = session, self.connection
        world.sessions.open(session)
        session.dispatch("READY", shapes.text(_ready(world, session, data.get("shard", [0, 1]))))
        if session.hears("GUILD_CREATE") and not world.is_unavailable:
            session.dispatch("GUILD_CREATE", create_guild(world, session))

    def _resume(self, data: Any) -> None:
        data = self._authenticate(data)
        session, seq = self.world.sessions.find(data.get("session_id")), data.get("seq")
        missed = session.since(seq) if session is not None and isinstance(seq, int) else None
        if session is None or missed is None:
            self.connection.send_op(9, data=False)
            return
        if isinstance(session.line, Connection):
            session.line.abort()
        self.world.counters.resumes += 1
        for text in missed:
            self.connection.send(text)
        self.session, session.line = session, self.connection
        session.dispatch("RESUMED", '{"_trace":[]}')

    def _request_members(self, data: Any) -> None:
        session, world = self._known(data), self.world
        request = Request.read(data)
        if request is None:
            raise Closed(DECODE_ERROR, "Error while decoding payload.")
        if request.is_for_all:
            world.counters.full_requests += 1
        else:
            world.counters.member_requests.append(
                [int(chat_id) for chat_id in request.ids or () if chat_id.isdecimal()]
            )
        if request.guild_id != world.guild_id or not session.sees_guild or world.is_unavailable:
            return
        if not may_ask(session, request):
            raise Closed(DISALLOWED_INTENTS, "Disallowed intent(s).")
        if request.is_for_all and (seconds := self._seconds_to_wait()) > 0:
            meta = {"guild_id": world.guild_id, "nonce": request.nonce}
            session.dispatch("RATE_LIMITED", shapes.text({"opcode": 8, "retry_after": seconds, "meta": meta}))
            return
        self.gateway.start(self._send_chunks(session, request))

    def _seconds_to_wait(self) -> float:
        """Return the seconds until the bot may ask for all members again; 0: it may now, which counts."""
        world, now = self.world, asyncio.get_running_loop().time()
        if world.switches.limits_full_requests and world.full_request_at is not None:
            wait = world.full_request_at + world.switches.full_request_window - now
            if wait > 0:
                world.counters.refused_requests += 1
                return round(wait, 3)
        world.full_request_at = now
        return 0

    async def _send_chunks(self, session: Session, request: Request) -> None:
        """Send chunks in turn, as the connection takes them, which may be another one by then."""
        for chunk in chunks(self.world, session, request):
            if self.world.switches.member_chunks_delay:
                await asyncio.sleep(self.world.switches.member_chunks_delay)
            session.dispatch("GUILD_MEMBERS_CHUNK", chunk)
            if isinstance(session.line, Connection):
                await session.line.drained()


def _intents(data: Json, granted: int) -> int:
    intents = data.get("intents")
    if not isinstance(intents, int) or isinstance(intents, bool) or not 0 <= intents <= KNOWN:
        raise Closed(INVALID_INTENTS, "Invalid intent(s).")
    if intents & PRIVILEGED & ~granted:
        raise Closed(DISALLOWED_INTENTS, "Disallowed intent(s).")
    return intents


def _sees(data: Json, guild_id: str) -> bool:
    """Return whether the shard sees the chat server, which belongs to one shard."""
    match data.get("shard", [0, 1]):
        case [int() as shard, int() as count] if 0 <= shard < count:
            return (int(guild_id) >> 22) % count == shard
    raise Closed(INVALID_SHARD, "Invalid shard.")


def _ready(world: World, session: Session, shard: Any) -> Json:
    bot = world.accounts[world.bot_id]
    return {
        "v": VERSION,
        "user": {**bot, "flags": 0, "verified": True, "mfa_enabled": True, "email": None},
        "guilds": [{"id": world.guild_id, "unavailable": True}] if session.sees_guild else [],
        "session_id": session.id,
        "session_type": "normal",
        "resume_gateway_url": f"{world.gateway_url}{RESUME_PATH}",
        "shard": shard,
        "application": {"id": world.bot_id, "flags": 1 << 12 | 1 << 14},
        "presences": [],
        "private_channels": [],
        "relationships": [],
        "user_settings": {},
        "_trace": [],
    }
