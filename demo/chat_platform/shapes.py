"""The platform's JSON objects: a plain user, member and presence, with given fields over them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from demo import invented

Json = dict[str, Any]  # any value of the platform, or of a test of a broken one

ONLY_IN_ACCOUNTS = ("banner", "accent_color")  # of a user: only `GET /users/{id}` is sure to hold them
_encoder = json.JSONEncoder(separators=(",", ":"))
words = invented.load("chat")
JOINED_AT = words.MEMBER["joined_at"]


def text(value: Any) -> str:
    """Return JSON in ASCII, so that NUL and lone surrogates travel as the escapes that they are on the real wire."""
    return _encoder.encode(value)


def user(chat_id: str, given: Json | None = None) -> Json:
    """Return a user object as of `GET /users/{id}`, with the given fields over the plain ones."""
    return {"id": chat_id, "username": f"user{chat_id[-6:]}", **words.USER, **(given or {})}


def member(chat_id: str, given: Json | None = None, given_user: Json | None = None) -> Json:
    """Return a member object with its whole user and account. `given` may have a `user` of its own."""
    given = dict(given or {})
    inner = given.pop("user", None) or {}
    return {**words.MEMBER, **given, "user": user(chat_id, {**inner, **(given_user or {})})}


def presence(chat_id: str, given: Json | None = None) -> Json:
    """Return a presence object without the guild's id. The default device is the desktop."""
    given = given or {}
    status = given.get("status", "online")
    device = {} if status == "offline" else {"desktop": status}
    return {"user": {"id": chat_id}, "status": status, "client_status": device, "activities": [], **given}


def with_guild(guild_id: str, object_text: str) -> str:
    """Return the JSON object with `guild_id` in it, as dispatches have it and lists have not."""
    return f'{{"guild_id":{json.dumps(guild_id)},{object_text[1:]}'


@dataclass(slots=True)
class Member:
    """A member as JSON texts, because a chat server has many. Make one with `make_member`.

    `presence`: empty while offline. `account`: what `GET /users/{id}` adds to the user. `profile`: what the outside
    profile source says. `is_prominent`: has a role or a nick, and so is listed in a large server even when offline.
    """

    text: str
    presence: str = ""
    account: str = ""
    profile: str = ""
    is_prominent: bool = False

    def value(self) -> Json:
        """Return the member object with everything that its account holds."""
        value: Json = json.loads(self.text)
        value["user"] |= json.loads(self.account) if self.account else dict.fromkeys(ONLY_IN_ACCOUNTS)
        return value

    def user(self) -> Json:
        user: Json = self.value()["user"]
        return user


def make_member(value: Json) -> Member:
    """Return a member of `value`, an object as of `member()`."""
    account = {key: value["user"][key] for key in ONLY_IN_ACCOUNTS if key in value["user"]}
    shown = {**value, "user": {key: inner for key, inner in value["user"].items() if key not in account}}
    return Member(
        text(shown),
        account=text(account) if any(inner is not None for inner in account.values()) else "",
        is_prominent=bool(value.get("roles") or value.get("nick")),
    )
