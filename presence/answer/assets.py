"""URLs of the platform's pictures and videos.

What the platform names by itself must look like its hashes and paths; what users name (the assets of activities) must
have one of the known shapes. Everything else is None: no URL leads where its writer wants.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from django.conf import settings

from presence import fields
from presence.fields import Json

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


def banner(chat_id: int, hash: object) -> str | None:
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
