"""The chat server as the gateway tells of it: GUILD_CREATE cut by size, and the answers to op 8."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from demo.chat_platform import shapes
from demo.chat_platform.sessions import GUILD_MEMBERS, GUILD_PRESENCES, Session
from demo.chat_platform.shapes import Json, Member
from demo.chat_platform.world import World

TOO_LARGE = 75_000  # members: from there on GUILD_CREATE tells of the bot alone, and of no presence
CHUNK = 1000  # members
MOST_IDS = 100  # that one op 8 may name
MOST_FOUND = 100  # members by a prefix
LONGEST_NONCE = 32  # bytes

PLAIN: Json = {
    "name": "The lounge",
    "icon": None,
    "icon_hash": None,
    "splash": None,
    "discovery_splash": None,
    "banner": None,
    "description": None,
    "region": "deprecated",
    "preferred_locale": "en-US",
    "afk_channel_id": None,
    "afk_timeout": 300,
    "widget_enabled": False,
    "widget_channel_id": None,
    "verification_level": 1,
    "default_message_notifications": 1,
    "explicit_content_filter": 0,
    "mfa_level": 0,
    "nsfw": False,
    "nsfw_level": 0,
    "application_id": None,
    "system_channel_id": None,
    "system_channel_flags": 0,
    "rules_channel_id": None,
    "public_updates_channel_id": None,
    "safety_alerts_channel_id": None,
    "vanity_url_code": None,
    "premium_tier": 0,
    "premium_subscription_count": 0,
    "premium_progress_bar_enabled": False,
    "max_members": 500_000,
    "max_video_channel_users": 25,
    "max_stage_video_channel_users": 50,
    "joined_at": shapes.JOINED_AT,
    "unavailable": False,
    "features": [],
    "emojis": [],
    "stickers": [],
    "voice_states": [],
    "channels": [],
    "threads": [],
    "stage_instances": [],
    "guild_scheduled_events": [],
    "soundboard_sounds": [],
}


def create(world: World, session: Session) -> str:
    """GUILD_CREATE as this session gets it: in a large chat server most of those who are offline are left out."""
    count = len(world.members)
    shown: Iterable[Member]
    if count > TOO_LARGE:
        shown = [world.members[world.bot_id]]
    elif count > session.large_threshold:
        bot = world.members[world.bot_id]
        shown = [other for other in world.members.values() if other.presence or other.is_prominent or other is bot]
    else:
        shown = world.members.values()
    tells_presences = session.may(GUILD_PRESENCES) and count <= TOO_LARGE
    presences = [member.presence for member in shown if member.presence] if tells_presences else []
    guild = {
        "id": world.guild_id,
        **PLAIN,
        "owner_id": world.bot_id,
        "roles": [_everyone(world.guild_id)],
        "large": count > session.large_threshold,
        "member_count": count,
    }
    lists = f'"members":[{_joined(member.text for member in shown)}],"presences":[{",".join(presences)}]'
    return f"{shapes.text(guild)[:-1]},{lists}}}"


def _everyone(guild_id: str) -> Json:
    return {
        "id": guild_id,
        "name": "@everyone",
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": 0,
        "permissions": "104320577",
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }


def _joined(texts: Iterable[str]) -> str:
    return ",".join(texts)


@dataclass(frozen=True)
class Request:
    """An op 8. `ids`: those asked for by name; None: by `prefix`, where an empty one with `limit` 0 means all."""

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
        """None: nothing that the platform understands."""
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
    """The whole list is for those who were given the intent."""
    return not request.is_for_all or session.may(GUILD_MEMBERS)


def chunks(world: World, session: Session, request: Request) -> Iterator[str]:
    """GUILD_MEMBERS_CHUNKs, each as true as at the moment at which it is taken."""
    found = _found(world, request)
    missing = [chat_id for chat_id in request.ids or () if chat_id not in world.members]
    tells_presences = request.wants_presences and session.may(GUILD_PRESENCES)
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
        if tells_presences:
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
