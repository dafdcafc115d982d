"""A member as answers show it, from the platform's raw payloads. Pure but for the settings' URLs; never raises on
outside data.

Of the URLs of pictures and videos, what the platform names by itself must look like its hashes and paths; what users
name (the assets of activities) must have one of the known shapes. Everything else is None: no URL leads where its
writer wants.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from django.conf import settings

from presence import fields
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
    """`details` is the title line, `tooltip` the hover text of the artwork. Not part of the answer: `is_music_player`,
    and `started_at`, in milliseconds since the epoch."""

    name: str
    type: int
    state: str | None
    details: str | None
    tooltip: str | None
    emoji: str | None
    image: str | None
    is_music_player: bool = False
    started_at: int | None = field(default=None, compare=False)


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
        avatar=avatar(chat_id, user),
        server_avatar=server_avatar(chat_id, member.get("avatar")),
        server_banner=server_banner(chat_id, member.get("banner")),
        banner=banner_url(chat_id, banner),
        decoration=decoration(member) or decoration(user),
        nameplate=nameplate(member) or nameplate(user),
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
    tag, badge = fields.text(guild.get("tag")), tag_badge(guild.get("identity_guild_id"), guild.get("badge"))
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
        image=activity_image(pictures.get("large_image"), application_id)
        or activity_image(pictures.get("small_image"), application_id),
        started_at=fields.whole(fields.mapping(raw.get("timestamps")).get("start")),
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
        return emoji(raw["id"], is_animated=raw.get("animated") is True)
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


MEDIA_URL = "https://media.discordapp.net"
SPOTIFY_URL = "https://i.scdn.co"
TWITCH_URL = "https://static-cdn.jtvnw.net"
YOUTUBE_URL = "https://i.ytimg.com"

_HASH = re.compile("[A-Za-z0-9_]{1,100}")
_COLLECTIBLE = re.compile("(?:[A-Za-z0-9_-]{1,64}/){1,8}")
_MEDIA_PATH = re.compile(r"[A-Za-z0-9_-]+(?:/[A-Za-z0-9._~%!$&()*+,;=:@/-]+)?(?:\?[A-Za-z0-9._~%!$&()*+,;=:@/?-]*)?")
_MEDIA_LENGTH = 2048
_SERVICES = {
    "spotify": (re.compile("[A-Za-z0-9]{1,64}"), SPOTIFY_URL + "/image/{}"),
    "twitch": (re.compile("[A-Za-z0-9_]{1,64}"), TWITCH_URL + "/previews-ttv/live_user_{}-640x360.jpg"),
    "youtube": (re.compile("[A-Za-z0-9_-]{1,64}"), YOUTUBE_URL + "/vi/{}/hqdefault.jpg"),
}


def avatar(chat_id: int, user: Json) -> str:
    """Return the account's picture, or the platform's default one."""
    return own_avatar(chat_id, user) or _default_avatar(chat_id, user.get("discriminator"))


def own_avatar(chat_id: int, user: Json) -> str:
    """Return the account's picture; empty where it has none."""
    return _hashed(f"avatars/{chat_id}", user.get("avatar")) or ""


def banner_url(chat_id: int, hash: object) -> str | None:
    return _hashed(f"banners/{chat_id}", hash)


def server_avatar(chat_id: int, hash: object) -> str | None:
    """Return the picture that the member shows only in the chat server."""
    return _hashed(f"guilds/{settings.CHAT.guild_id}/users/{chat_id}/avatars", hash)


def server_banner(chat_id: int, hash: object) -> str | None:
    return _hashed(f"guilds/{settings.CHAT.guild_id}/users/{chat_id}/banners", hash)


def decoration(owner: Json) -> str | None:
    """Return the frame around the picture, an APNG. `owner`: a member or a user."""
    asset = _hash(fields.mapping(owner.get("avatar_decoration_data")).get("asset"))
    return f"{settings.CHAT_CDN_URL}/avatar-decoration-presets/{asset}.png" if asset else None


def nameplate(owner: Json) -> str | None:
    """Return the moving background of the name, a WebM. `owner`: a member or a user."""
    asset = fields.mapping(fields.mapping(owner.get("collectibles")).get("nameplate")).get("asset")
    if not isinstance(asset, str) or not _COLLECTIBLE.fullmatch(asset):
        return None
    return f"{settings.CHAT_CDN_URL}/assets/collectibles/{asset}asset.webm"


def tag_badge(guild_id: object, hash: object) -> str | None:
    """Return the badge next to a chat server's tag."""
    guild, badge = fields.snowflake(guild_id), _hash(hash)
    return f"{settings.CHAT_CDN_URL}/guild-tag-badges/{guild}/{badge}.png" if guild and badge else None


def emoji(id: object, *, is_animated: bool) -> str | None:
    """Return a custom emoji."""
    known = fields.snowflake(id)
    return f"{settings.CHAT_CDN_URL}/emojis/{known}.{'gif' if is_animated else 'png'}" if known else None


def activity_image(asset: object, application_id: object) -> str | None:
    """Return an activity's artwork. `application_id`: of the activity, whose uploaded pictures have bare ids."""
    if not isinstance(asset, str):
        return None
    prefix, separator, name = asset.partition(":")
    if not separator:
        application, picture = fields.snowflake(application_id), fields.snowflake(asset)
        found = application and picture
        return f"{settings.CHAT_CDN_URL}/app-assets/{application}/{picture}.png" if found else None
    if prefix == "mp":
        return f"{MEDIA_URL}/{name}" if _is_media_path(name) else None
    shape, address = _SERVICES.get(prefix, (None, ""))
    return address.format(name) if shape and shape.fullmatch(name) else None


def _hashed(path: str, hash: object) -> str | None:
    """Return the URL of a picture; one whose hash begins with `a_` is animated."""
    known = _hash(hash)
    if known is None:
        return None
    return f"{settings.CHAT_CDN_URL}/{path}/{known}.{'gif' if known.startswith('a_') else 'png'}"


def _hash(value: object) -> str | None:
    return value if isinstance(value, str) and _HASH.fullmatch(value) else None


def _default_avatar(chat_id: int, discriminator: object) -> str:
    """Return the default picture: by the discriminator where the account still has one, else by its id's time."""
    old = int(fields.snowflake(discriminator) or 0)
    number = old % 5 if old else (chat_id >> 22) % 6
    return f"{settings.CHAT_CDN_URL}/embed/avatars/{number}.png"


def _is_media_path(path: str) -> bool:
    """Return whether the path has no dot segments, encoded ones included (WHATWG URL, "double-dot segment")."""
    if len(path) > _MEDIA_LENGTH or not _MEDIA_PATH.fullmatch(path):
        return False
    segments = re.split(r"[/\\]", unquote(path.partition("?")[0]))
    return not {".", ".."} & set(segments)
