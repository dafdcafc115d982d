"""The chat server in the gateway: GUILD_CREATE, cut by size, and the answers to op 8 (Request Guild Members)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from demo import vocabulary
from demo.chat_platform import shapes
from demo.chat_platform.sessions import GUILD_MEMBERS, GUILD_PRESENCES, Session
from demo.chat_platform.shapes import Member
from demo.chat_platform.world import World

TOO_LARGE = 75_000  # members: above it GUILD_CREATE lists only the bot, and no presence
CHUNK = 1000  # members
MOST_IDS = 100  # that one op 8 may name
MOST_FOUND = 100  # members by a prefix
LONGEST_NONCE = 32  # bytes

words = vocabulary.load("chat")


def create(world: World, session: Session) -> str:
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
