"""A member as answers show it, from the platform's raw payloads. Pure but for the settings' URLs; never raises on
outside data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from presence import activities, assets, badges, fields
from presence import status as statuses
from presence.activities import Activity
from presence.badges import Badge
from presence.fields import Json


@dataclass(frozen=True, slots=True)
class Status:
    """`status`: one of `status.STATUSES`. `url`: its picture."""

    status: str
    url: str


@dataclass(frozen=True, slots=True)
class Clan:
    """The tag of a chat server that the member wears. `badge`: a URL."""

    tag: str
    badge: str


@dataclass(frozen=True, slots=True)
class Presence:
    """`activity` is one of `activities`, by identity. `last_online`: UNIX seconds."""

    id: str
    username: str
    global_name: str
    server_nick: str | None
    avatar: str
    server_avatar: str | None
    server_banner: str | None
    banner: str | None
    decoration: str | None
    nameplate: str | None
    biography: str | None
    activity: Activity | None
    activities: list[Activity]
    badges: dict[str, Badge]
    status: Status
    last_online: int | None
    clan: Clan | None


def of(
    *,
    chat_id: int,
    member: Json,
    presence: Json | None,
    last_online: int | None,
    banner: str | None,
    biography: str | None,
    profile_badges: Sequence[str],
) -> Presence:
    """`member` and `presence` as the gateway sent them; `banner`: the hash, which only REST is sure to have."""
    member = fields.mapping(member)
    user = fields.mapping(member.get("user"))
    username = fields.text(user.get("username")) or ""
    running = activities.of(presence)
    return Presence(
        id=str(chat_id),
        username=username,
        global_name=fields.text(user.get("global_name")) or username,
        server_nick=fields.text(member.get("nick")),
        avatar=assets.avatar(chat_id, user),
        server_avatar=assets.server_avatar(chat_id, member.get("avatar")),
        server_banner=assets.server_banner(chat_id, member.get("banner")),
        banner=assets.banner(chat_id, banner),
        decoration=assets.decoration(member) or assets.decoration(user),
        nameplate=assets.nameplate(member) or assets.nameplate(user),
        biography=fields.text(biography),
        activity=activities.chosen(running),
        activities=running,
        badges=badges.of(member, profile_badges),
        status=_status(presence),
        last_online=last_online,
        clan=_clan(user.get("primary_guild")),
    )


def _status(presence: Json | None) -> Status:
    status = statuses.of(presence)
    return Status(status, f"{settings.ASSET_URL}/status/{status}.png")


def _clan(guild: object) -> Clan | None:
    """None unless the platform says `true`: null means a tag that it took away."""
    guild = fields.mapping(guild)
    if guild.get("identity_enabled") is not True:
        return None
    tag, badge = fields.text(guild.get("tag")), assets.tag_badge(guild.get("identity_guild_id"), guild.get("badge"))
    return Clan(tag, badge) if tag and badge else None
