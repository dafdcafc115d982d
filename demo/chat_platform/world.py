"""The state of the simulated platform: members, accounts and sessions. Each change is dispatched.

Everything here happens on the event loop of the platform; `running.Simulator` is the way in from elsewhere.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from demo.chat_platform import shapes
from demo.chat_platform.sessions import Sessions
from demo.chat_platform.shapes import Json, Member

BOT = "268473310000000001"


@dataclass
class Counters:
    """The requests to the platform. `rest`: the paths, `/api/v10` included, in order. `resumes`: successful ones.

    `refused_requests`: the part of `full_requests` that was answered with RATE_LIMITED.
    """

    identifies: int = 0
    resumes: int = 0
    connections: int = 0
    full_requests: int = 0
    refused_requests: int = 0
    member_requests: list[list[int]] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Switches:
    """Faults of the platform. May be set from any thread.

    `rest_status`: every REST call is answered with it, where it is not 0. `starts_left`: of today's IDENTIFYs.
    `full_request_window`: seconds, for `limits_full_requests`.
    """

    acks: bool = True
    rest_is_down: bool = False
    rest_status: int = 0
    profiles_are_down: bool = False
    gateway_is_down: bool = False
    member_chunks_delay: float = 0.0
    limits_full_requests: bool = False
    full_request_window: float = 30.0
    granted_intents: int = 259
    starts_left: int = 1000


class Accounts(Mapping[str, Json]):
    """Every user object by id, members or not."""

    def __init__(self, members: Mapping[str, Member], others: Mapping[str, Json]) -> None:
        self._members, self._others = members, others

    def __getitem__(self, chat_id: str) -> Json:
        return self._members[chat_id].user() if chat_id in self._members else self._others[chat_id]

    def __iter__(self) -> Iterator[str]:
        yield from self._members
        yield from self._others

    def __len__(self) -> int:
        return len(self._members) + len(self._others)


class World:
    """`members` by id, with the bot. `accounts`: all users, members or not. `bearers`: OAuth access tokens with the ids
    of their users, for `GET /users/@me`."""

    def __init__(self, *, guild_id: str, bot_token: str, oauth_secret: str, switches: Switches) -> None:
        self.guild_id, self.bot_token, self.oauth_secret = guild_id, bot_token, oauth_secret
        self.switches = switches
        self.url = ""  # http://127.0.0.1:port, once that is known
        self.counters = Counters()
        self.sessions = Sessions()
        self.members: dict[str, Member] = {}
        self.others: dict[str, Json] = {}
        self.accounts = Accounts(self.members, self.others)
        self.bearers: dict[str, str] = {}
        self.is_unavailable = False
        self.full_request_at: float | None = None
        self.bot_id = _bot_of(bot_token)
        bot = {"username": "presence-bot", "bot": True, "discriminator": "0418"}
        self.members[self.bot_id] = shapes.make_member(shapes.member(self.bot_id, given_user=bot))

    @property
    def gateway_url(self) -> str:
        return self.url.replace("http", "ws", 1)

    def dispatch(self, name: str, data: str) -> None:
        """Dispatch `data`, JSON. Nothing is dispatched while the chat server is unavailable."""
        if not self.is_unavailable:
            self.sessions.dispatch(name, data)

    def put_member(self, chat_id: str, value: Json, *, presence: Json | None = None, profile: Any = None) -> None:
        """Put a member there without a dispatch. `value`: a member object. Without a presence: offline."""
        self.others.pop(chat_id, None)
        self.members[chat_id] = shapes.make_member(value)
        if presence is not None:
            self.put_presence(chat_id, presence)
        if profile is not None:
            self.members[chat_id].profile = shapes.text(profile)

    def add_member(self, chat_id: str, value: Json, *, presence: Json | None = None, profile: Any = None) -> None:
        self.put_member(chat_id, value, presence=presence, profile=profile)
        self.dispatch("GUILD_MEMBER_ADD", shapes.with_guild(self.guild_id, self.members[chat_id].text))
        if presence is not None:
            self.set_presence(chat_id, presence)

    def set_presence(self, chat_id: str, presence: Json) -> None:
        text = self.put_presence(chat_id, presence)
        self.dispatch("PRESENCE_UPDATE", shapes.with_guild(self.guild_id, text))

    def put_presence(self, chat_id: str, presence: Json) -> str:
        """Set a presence without a dispatch; return its JSON. Lists leave out offline members."""
        text = shapes.text(shapes.presence(chat_id, presence))
        self.members[chat_id].presence = "" if presence.get("status") == "offline" else text
        return text

    def presence(self, chat_id: str) -> Json | None:
        """Return the presence; None while offline."""
        text = self.members[chat_id].presence
        return json.loads(text) if text else None


def _bot_of(token: str) -> str:
    """Return the id of the bot, with which its token begins, in base64."""
    first = token.partition(".")[0]
    try:
        bot_id = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        return BOT
    return bot_id if bot_id.isdigit() else BOT
