"""Where the chat platform and the music scrobbler are: the real ones, or the simulated ones of the demo."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config import env

PLATFORM_API = "https://discord.com/api/v10"
PLATFORM_AUTHORIZE = "https://discord.com/oauth2/authorize"
SCROBBLER_API = "https://ws.audioscrobbler.com/2.0/"
SCROBBLER_AUTHORIZE = "https://www.last.fm/api/auth/"
_HEADER = re.compile(r"[A-Za-z0-9-]+: ?[\x20-\x7e]+")
SIMULATED_GUILD = "268473310000000000"
SIMULATED_BOT = "268473310000000001"


@dataclass(frozen=True)
class Chat:
    """The chat platform. `guild_id` and `bot_token` are empty where there is no live presence, the two of `oauth_`
    where accounts cannot be linked.

    `profile_url`: where biographies and further badges are read, with `{id}` in it; empty: nowhere. `profile_header`:
    `Name: value`, sent along. `music_players`: names of activities that count as the music player.
    `simulator_port`: where the simulated platform listens; 0: the platform is no simulated one.
    """

    guild_id: str
    bot_token: str
    api_url: str
    oauth_client_id: str
    oauth_client_secret: str
    oauth_authorize_url: str
    profile_url: str
    profile_header: str
    music_players: tuple[str, ...]
    simulator_port: int


@dataclass(frozen=True)
class Scrobbler:
    """The music scrobbler. `api_key` is empty where accounts cannot be linked."""

    api_key: str
    secret: str
    api_url: str
    authorize_url: str


def options(var_dir: Path, *, has_demo: bool, web_port: int) -> tuple[Chat, Scrobbler]:
    """Return the simulated ones of the demo, unless CHAT_GUILD_ID names a real server, or there is no port."""
    guild_id = env.text("CHAT_GUILD_ID", "")
    if guild_id and not (guild_id.isascii() and guild_id.isdigit() and 17 <= len(guild_id) <= 19):
        raise ImproperlyConfigured(f"CHAT_GUILD_ID must be the chat server's id, 17 to 19 digits; it is {guild_id!r}.")
    port = _simulator_port(web_port) if has_demo and not guild_id else 0
    if port:
        return _simulated(var_dir, port)
    bot_token = env.text("CHAT_BOT_TOKEN", "")
    if bool(bot_token) != bool(guild_id):
        raise ImproperlyConfigured("CHAT_GUILD_ID and CHAT_BOT_TOKEN must be set together.")
    oauth_client_id, oauth_client_secret = _pair("CHAT_OAUTH_CLIENT_ID", "CHAT_OAUTH_CLIENT_SECRET")
    api_key, secret = _pair("SCROBBLER_API_KEY", "SCROBBLER_SECRET")
    profile_url, profile_header = env.text("CHAT_PROFILE_URL", ""), env.text("CHAT_PROFILE_HEADER", "")
    if profile_header and not _HEADER.fullmatch(profile_header):
        raise ImproperlyConfigured("CHAT_PROFILE_HEADER must be `Name: value`, in printable ASCII characters.")
    if profile_url and ("{id}" not in profile_url or not profile_url.startswith(("http://", "https://"))):
        raise ImproperlyConfigured(f"CHAT_PROFILE_URL must be a URL with {{id}} in it; it is {profile_url!r}.")
    chat = Chat(
        guild_id=guild_id,
        bot_token=bot_token,
        api_url=env.base_url("CHAT_API_URL", PLATFORM_API),
        oauth_client_id=oauth_client_id,
        oauth_client_secret=oauth_client_secret,
        oauth_authorize_url=env.base_url("CHAT_OAUTH_AUTHORIZE_URL", PLATFORM_AUTHORIZE),
        profile_url=profile_url,
        profile_header=profile_header,
        music_players=_music_players(),
        simulator_port=0,
    )
    scrobbler = Scrobbler(
        api_key=api_key,
        secret=secret,
        api_url=_url("SCROBBLER_API_URL", SCROBBLER_API),
        authorize_url=_url("SCROBBLER_AUTHORIZE_URL", SCROBBLER_AUTHORIZE),
    )
    return chat, scrobbler


def _simulated(var_dir: Path, port: int) -> tuple[Chat, Scrobbler]:
    """Return loopback addresses; the secrets are this installation's own, and open nothing elsewhere."""
    where = f"http://127.0.0.1:{port}"
    secret = env.kept_secret("chat_simulator", var_dir)
    first = base64.urlsafe_b64encode(SIMULATED_BOT.encode()).decode().rstrip("=")
    chat = Chat(
        guild_id=SIMULATED_GUILD,
        bot_token=f"{first}.simulated.{secret}",
        api_url=f"{where}/api/v10",
        oauth_client_id=SIMULATED_BOT,
        oauth_client_secret=secret,
        oauth_authorize_url=f"{where}/oauth2/authorize",
        profile_url=f"{where}/profiles/{{id}}",
        profile_header="",
        music_players=_music_players(),
        simulator_port=port,
    )
    scrobbler = Scrobbler(
        api_key="simulated",
        secret=secret,
        api_url=f"{where}/scrobbler/2.0/",
        authorize_url=f"{where}/scrobbler/auth/",
    )
    return chat, scrobbler


def _simulator_port(web_port: int) -> int:
    """Return the port next to the web's; 0: no platform is simulated."""
    port = env.integer("CHAT_SIMULATOR_PORT", web_port + 1 if web_port < 65_535 else web_port - 1, at_most=65_535)
    if port < 0:
        raise ImproperlyConfigured(f"CHAT_SIMULATOR_PORT must be a port, or 0 for none; it is {port}.")
    return port


def _pair(name: str, secret_name: str) -> tuple[str, str]:
    """Return both or neither."""
    pair = env.text(name, ""), env.text(secret_name, "")
    if bool(pair[0]) != bool(pair[1]):
        raise ImproperlyConfigured(f"{name} and {secret_name} must be set together.")
    return pair


def _url(name: str, default: str) -> str:
    """Return a URL, which may end in a slash, unlike one of `env.base_url`."""
    url = env.text(name, default)
    if not url.startswith(("http://", "https://")) or not urlsplit(url).hostname:
        raise ImproperlyConfigured(f"{name} must be a URL; it is {url!r}.")
    return url


def _music_players() -> tuple[str, ...]:
    return tuple(env.words("CHAT_MUSIC_PLAYERS", "Spotify"))
