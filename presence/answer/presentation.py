"""A member as answers show it, from the platform's raw payloads. Pure but for the settings' URLs; never raises on
outside data."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings

from presence import fields
from presence.answer import assets
from presence.fields import Json

STATUSES = ("online", "idle", "dnd", "streaming", "offline")
OFFLINE = "offline"

_MANUAL = ("online", "idle", "dnd")
_SHOWN_DEVICES = ("desktop", "mobile", "web")
_OTHER_DEVICES = ("vr", "embedded")

PLAYING, STREAMING, LISTENING, WATCHING, CUSTOM_STATUS = 0, 1, 2, 3, 4
_PLAYER_ID = "spotify:1"
_EMOJI_LENGTH = 64  # the longest standard one has some 30 code units

# In the canonical order.
BADGE_NAMES = {
    "premium": "Premium",
    "staff": "Staff",
    "partner": "Partner",
    "moderator": "Moderator",
    "events": "Event Host",
    "bravery": "Bravery",
    "brilliance": "Brilliance",
    "balance": "Balance",
    "bughunter1": "Bug Hunter",
    "bughunter2": "Bug Hunter, Level 2",
    "developer": "Developer",
    "earlysupporter": "Early Supporter",
    "boosted": "Server Booster",
    "legacy": "Legacy Username",
    "quest": "Quest Completed",
    "leaf": "Leaf",
    "orb": "Orb",
    "gifting": "Gifting",
}

# Bits of `public_flags`. 22 is retired and means nothing.
_BADGE_BITS = {
    0: "staff",
    1: "partner",
    2: "events",
    3: "bughunter1",
    6: "bravery",
    7: "brilliance",
    8: "balance",
    9: "earlysupporter",
    14: "bughunter2",
    17: "developer",
    18: "moderator",
}

# The ids of the profile source.
_BADGE_IDS = {
    "premium": "premium",
    "staff": "staff",
    "partner": "partner",
    "certified_moderator": "moderator",
    "hypesquad": "events",
    "hypesquad_house_1": "bravery",
    "hypesquad_house_2": "brilliance",
    "hypesquad_house_3": "balance",
    "bug_hunter_level_1": "bughunter1",
    "bug_hunter_level_2": "bughunter2",
    "verified_developer": "developer",
    "early_supporter": "earlysupporter",
    "legacy_username": "legacy",
    "quest_completed": "quest",
    "orb_profile_badge": "orb",
}
_TIERED_BADGES = (
    (re.compile("premium_tenure_[1-9][0-9]{0,2}_month_v[0-9]"), "premium"),
    (re.compile("guild_booster_lvl[1-9]"), "boosted"),
)
_BADGE_PREFIXES = (("last_meadow", "leaf"), ("gifting", "gifting"))

_MOST_UNKNOWN_BADGES = 100
unknown_badges: Counter[str] = Counter()  # how often this process has read an id that is no badge here

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Activity:
    """`details` is the title line, `tooltip` the hover text of the artwork. `is_music_player` is not part of the
    answer."""

    name: str
    type: int
    state: str | None
    details: str | None
    tooltip: str | None
    emoji: str | None
    image: str | None
    is_music_player: bool = False


@dataclass(frozen=True, slots=True)
class Badge:
    name: str
    url: str


@dataclass(frozen=True, slots=True)
class Status:
    """`status`: one of STATUSES. `url`: its picture."""

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
    banner: object,
    biography: str | None,
    profile_badges: Sequence[str],
) -> Presence:
    """Return the presence of what the gateway sent. `banner`: the hash, which only REST is sure to have."""
    member = fields.mapping(member)
    user = fields.mapping(member.get("user"))
    username = fields.text(user.get("username")) or ""
    running, status = activities_of(presence), status_of(presence)
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
        activity=main_activity(running),
        activities=running,
        badges=badges_of(member, profile_badges),
        status=Status(status, f"{settings.ASSET_URL}/status/{status}.png"),
        last_online=last_online,
        clan=_clan(user.get("primary_guild")),
    )


def _clan(guild: object) -> Clan | None:
    """Return the tag, only where the platform says `true`: null means a tag that it took away."""
    guild = fields.mapping(guild)
    if guild.get("identity_enabled") is not True:
        return None
    tag, badge = fields.text(guild.get("tag")), assets.tag_badge(guild.get("identity_guild_id"), guild.get("badge"))
    return Clan(tag, badge) if tag and badge else None


def status_of(presence: Json | None) -> str:
    """Return one of STATUSES: `streaming` with a running stream, else that of the first device that is not offline.

    The devices are desktop, mobile and web. With only other devices, or none, the platform's summary counts.
    """
    presence = fields.mapping(presence)
    activities = fields.mappings(presence.get("activities"))
    if any(fields.whole(activity.get("type")) == STREAMING for activity in activities):
        return "streaming"
    devices = presence.get("client_status")
    summary = _known_status(presence.get("status"))
    if not isinstance(devices, dict):
        return summary or OFFLINE
    for device in _SHOWN_DEVICES:
        if _known_status(devices.get(device)) not in (None, OFFLINE):
            return str(devices[device])
    active = [
        known for device in _OTHER_DEVICES if (known := _known_status(devices.get(device))) not in (None, OFFLINE)
    ]
    return (summary or active[0] or OFFLINE) if active else OFFLINE


def _known_status(status: object) -> str | None:
    """Return a known status, else None; `invisible` reaches only the member's own client."""
    return status if isinstance(status, str) and status in (*_MANUAL, OFFLINE) else None


def activities_of(presence: Json | None) -> list[Activity]:
    """Return all activities of a presence, in the platform's order."""
    return [_activity(raw) for raw in fields.mappings(fields.mapping(presence).get("activities"))]


def main_activity(activities: Sequence[Activity]) -> Activity | None:
    """Return the music player, what is played, streamed or watched, other music or the custom status, in this order."""
    ranks: tuple[Callable[[Activity], bool], ...] = (
        lambda one: one.is_music_player,
        lambda one: one.type in (PLAYING, STREAMING, WATCHING),
        lambda one: one.type == LISTENING,
        lambda one: one.type == CUSTOM_STATUS,
    )
    return next((one for is_wanted in ranks for one in activities if is_wanted(one)), None)


def _activity(raw: Json) -> Activity:
    """Return the activity. An unreadable type counts as the platform's first one."""
    kind = fields.whole(raw.get("type")) or PLAYING
    is_custom = kind == CUSTOM_STATUS
    pictures = fields.mapping(raw.get("assets"))
    application_id = raw.get("application_id")
    return Activity(
        name="" if is_custom else fields.text(raw.get("name")) or "",
        type=kind,
        state=fields.text(raw.get("state")),
        details=None if is_custom else fields.text(raw.get("details")),
        tooltip=fields.text(pictures.get("large_text")) or fields.text(pictures.get("small_text")),
        emoji=_emoji(fields.mapping(raw.get("emoji"))),
        image=assets.activity_image(pictures.get("large_image"), application_id)
        or assets.activity_image(pictures.get("small_image"), application_id),
        is_music_player=kind == LISTENING
        and bool(
            raw.get("id") == _PLAYER_ID
            or fields.text(raw.get("sync_id"))
            or fields.text(raw.get("name")) in settings.CHAT.music_players
        ),
    )


def _emoji(raw: Json) -> str | None:
    """Return the URL of a custom one; a standard one is its own character."""
    if raw.get("id") is not None:
        return assets.emoji(raw["id"], is_animated=raw.get("animated") is True)
    character = fields.text(raw.get("name"))
    return character if character and len(character) <= _EMOJI_LENGTH else None


def badges_of(member: Json, profile_badges: Sequence[object]) -> dict[str, Badge]:
    """Return badges by key, in the canonical order. `profile_badges`: ids of the profile source; what is no text is no
    id."""
    held = set(_badges_of_member(member))
    for named in profile_badges:
        key = _badge_of(named) if isinstance(named, str) else None
        if key:
            held.add(key)
        else:
            _count_unknown(str(named)[:64])
    return {key: Badge(name, badge_url(key)) for key, name in BADGE_NAMES.items() if key in held}


def badge_url(key: str) -> str:
    """Return the URL of our own icon."""
    return f"{settings.ASSET_URL}/badges/chat/{key}.svg"


def _badges_of_member(member: Json) -> Iterator[str]:
    flags = fields.whole(fields.mapping(member.get("user")).get("public_flags")) or 0
    if flags > 0:
        yield from (key for bit, key in _BADGE_BITS.items() if flags >> bit & 1)
    if fields.text(member.get("premium_since")):
        yield "boosted"


def _badge_of(id: str) -> str | None:
    if id in _BADGE_IDS:
        return _BADGE_IDS[id]
    tiered = (key for shape, key in _TIERED_BADGES if shape.fullmatch(id))
    prefixed = (key for prefix, key in _BADGE_PREFIXES if id.startswith(prefix))
    return next(tiered, None) or next(prefixed, None)


def _count_unknown(id: str) -> None:
    """Log an id at its first sight; the count is bounded, since the ids come from outside."""
    if id not in unknown_badges:
        if len(unknown_badges) >= _MOST_UNKNOWN_BADGES:
            return
        logger.info("The profile source names a badge that is unknown here: %r", id)
    unknown_badges[id] += 1
