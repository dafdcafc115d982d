"""What the gateway sends, read with care: nobody validates its types, and a bad row must not cost a good one."""

from __future__ import annotations

from typing import Any

from presence.fields import Json

MAX_ID = 2**63 - 1  # the platform's ids are 64 bits; the database's numbers have a sign
PRESENCE_TYPES: dict[str, type] = {"status": str, "client_status": dict, "activities": list}
MEMBER_KEYS = frozenset({"user", "guild_id", "roles", "nick"})  # of a presence's row


def id_of(value: Any) -> int | None:
    """A chat id, of text or of a number; None for anything else. Any: JSON from outside."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 19:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_ID else None


def user_id_of(row: Any) -> int | None:
    """The id of a row's user. Any: JSON from outside."""
    user = row.get("user") if isinstance(row, dict) else None
    return id_of(user.get("id")) if isinstance(user, dict) else None


def is_of(guild_id: int, payload: Json) -> bool:
    """Whether the payload is about this chat server. One that names none is."""
    return "guild_id" not in payload or id_of(payload["guild_id"]) == guild_id


def rows(payload: Json, name: str) -> list[Any] | None:
    """A list of the payload; None where there is none. Any: JSON from outside."""
    value = payload.get(name)
    return value if isinstance(value, list) else None


def ids(payload: Json, name: str) -> list[int]:
    """The chat ids of a list of the payload."""
    return [chat_id for value in rows(payload, name) or [] if (chat_id := id_of(value)) is not None]


def number(payload: Json, name: str, *, at_most: int) -> int | None:
    """A whole number from 0; None for anything else."""
    value = payload.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= at_most else None


def presence_of(row: Json) -> Json | None:
    """The presence of a row without what the row says of the member; None where a type is wrong, or it says nothing."""
    if any(_is_bad(name, value) for name, value in row.items()) or not ("status" in row or "client_status" in row):
        return None
    return mended_presence_of(row)


def mended_presence_of(row: Json) -> Json:
    """The presence of a row without the fields whose type is wrong; it may say nothing then."""
    return {key: value for key, value in row.items() if key not in MEMBER_KEYS and not _is_bad(key, value)}


def _is_bad(name: str, value: Any) -> bool:
    """Of a field of a presence. Any: JSON from outside."""
    return name in PRESENCE_TYPES and not isinstance(value, PRESENCE_TYPES[name])


def member_of(row: Json) -> Json:
    """The member of a row without what is known anyway."""
    return {key: value for key, value in row.items() if key not in ("guild_id", "presence")}


def merged(old: Json, new: Json) -> Json:
    """The member after an update: what the update names, and its user likewise, replaces what was there."""
    user = {**old.get("user", {}), **new["user"]}
    return {**old, **new, "user": user}
