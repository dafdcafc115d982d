"""The port to the chat platform's gateway: its events and requests, and the reading of payloads.

The types of payloads are not validated: a bad row or message must not cost a good one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from presence.fields import MAX_ID, Json


class FatalFeedError(Exception):
    """The platform refuses this bot for good: its token or its intents are wrong. Do not retry."""


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A new session; events before it are lost. `guild_ids`: None where the platform named none."""

    guild_ids: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class SessionResumed:
    """The session goes on; missed events have been replayed."""


@dataclass(frozen=True, slots=True)
class SessionLost:
    """No session for now. `cause` in a few words, one of few."""

    cause: str


@dataclass(frozen=True, slots=True)
class Dispatch:
    """An event of the platform with its raw payload: any JSON object."""

    name: str
    payload: Json


@dataclass(frozen=True, slots=True)
class Garbage:
    """A message that is no event."""


FeedEvent = SessionStarted | SessionResumed | SessionLost | Dispatch | Garbage


class GatewayFeed(Protocol):
    """A connection to the gateway that reconnects by itself. It passes events on in order, one by one."""

    identifies_left: int | None  # of the day's budget, as far as it is known

    async def run(self, tell: Callable[[FeedEvent], None]) -> None:
        """Run until `close`. FatalFeedError where the platform refuses for good; after other errors it reconnects."""

    async def ask_for_all(self, nonce: str) -> bool:
        """Request all members with their presences, which come in chunks. False where nothing could be sent."""

    async def ask_for(self, chat_ids: Sequence[int], nonce: str) -> bool:
        """Request at most 100 ids; the chunk also names ids that are no members. Return whether it was sent."""

    async def close(self) -> None:
        """End the session, and `run`. Within 2 seconds."""


PRESENCE_TYPES: dict[str, type] = {"status": str, "client_status": dict, "activities": list}
MEMBER_KEYS = frozenset({"user", "guild_id", "roles", "nick"})  # of a presence's row
DISPATCH, RECONNECT, INVALID_SESSION = 0, 7, 9
IGNORED: Json = {"op": -1}
MAX_SEQUENCE = 2**53
LONG_PAUSE = 30.0  # seconds, where a rate limit does not say how long


def id_of(value: Any) -> int | None:
    """Return a chat id, of text or of a number; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 19:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_ID else None


def user_id_of(row: Any) -> int | None:
    """Return the id of a row's user."""
    user = row.get("user") if isinstance(row, dict) else None
    return id_of(user.get("id")) if isinstance(user, dict) else None


def is_of(guild_id: int, payload: Json) -> bool:
    """Return whether the payload names this chat server, or none."""
    return "guild_id" not in payload or id_of(payload["guild_id"]) == guild_id


def rows(payload: Json, name: str) -> list[Any] | None:
    """Return a list of the payload; None where there is none."""
    value = payload.get(name)
    return value if isinstance(value, list) else None


def ids(payload: Json, name: str) -> list[int]:
    """Return the chat ids of a list of the payload."""
    return [chat_id for value in rows(payload, name) or [] if (chat_id := id_of(value)) is not None]


def number(payload: Json, name: str, *, at_most: int) -> int | None:
    """Return a whole number from 0; None for anything else."""
    value = payload.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= at_most else None


def presence_of(row: Json) -> Json | None:
    """Return the presence of a row, without the member's fields; None where a type is wrong or no status is given."""
    if any(_is_bad(name, value) for name, value in row.items()) or not ("status" in row or "client_status" in row):
        return None
    return mended_presence_of(row)


def mended_presence_of(row: Json) -> Json:
    """Return the presence of a row without the fields whose type is wrong."""
    return {key: value for key, value in row.items() if key not in MEMBER_KEYS and not _is_bad(key, value)}


def _is_bad(name: str, value: Any) -> bool:
    """Return whether a field of a presence has the wrong type."""
    return name in PRESENCE_TYPES and not isinstance(value, PRESENCE_TYPES[name])


def member_of(row: Json) -> Json:
    """Return the member of a row without the chat server and the presence."""
    return {key: value for key, value in row.items() if key not in ("guild_id", "presence")}


def merged(old: Json, new: Json) -> Json:
    """Return the member after an update, whose fields, and its user's fields, replace the old ones."""
    user = {**old.get("user", {}), **new["user"]}
    return {**old, **new, "user": user}


class GatewayDecoder:
    """Sanitises messages that hikari would crash on; given to it as its JSON decoder.

    hikari trusts the platform's envelopes: text that is not JSON, or a dispatch whose payload is null, would end its
    connection and with it the session. A broken message becomes an operation that hikari ignores. `dispatch` gets each
    event here, because hikari makes a task for each event that it passes on, at a higher cost than all the rest.
    `complain` is called for each broken message. `last_order`: why the platform ended the connection, where it said so:
    "op 7", "op 9" or "".
    """

    def __init__(self, dispatch: Callable[[str, Json], None], *, complain: Callable[[], None]) -> None:
        self.last_order = ""
        self._tell = dispatch
        self._complain = complain
        self._sequence: int | None = None

    def read(self, text: str | bytes) -> Json:
        """Decode a message. Answers of REST, which have no `op`, get one that is ignored."""
        value = _decoded(text)
        if not isinstance(value, dict):
            self._complain()
            return dict(IGNORED)
        return self._mended(value) if "op" in value else {**value, **IGNORED}

    def _mended(self, envelope: Json) -> Json:
        operation = envelope["op"]
        if operation == RECONNECT:
            self.last_order = "op 7"
        elif operation == INVALID_SESSION:
            self.last_order = "op 9"
            return {**envelope, "d": envelope.get("d") is True}
        elif operation == DISPATCH:
            return self._dispatch(envelope)
        return envelope

    def _dispatch(self, envelope: Json) -> Json:
        name, payload = envelope.get("t"), envelope.get("d")
        sequence = number(envelope, "s", at_most=MAX_SEQUENCE)
        self._sequence = self._sequence if sequence is None else sequence
        if not isinstance(payload, dict):
            payload = {}
        is_nameless_guild = name == "GUILD_CREATE" and id_of(payload.get("id")) is None
        if not isinstance(name, str) or self._sequence is None or is_nameless_guild:
            self._complain()
            return dict(IGNORED)
        if name == "RATE_LIMITED":
            payload = {**payload, "opcode": _whole(payload.get("opcode")), "retry_after": _pause(payload)}
            payload.setdefault("meta", {})
        self._tell(name, payload)
        return {"op": DISPATCH, "t": name, "s": self._sequence, "d": payload}


def _decoded(text: str | bytes) -> Any:
    """Return the JSON value, None where it is none. A number too long for Python becomes None."""
    try:
        return json.loads(text)
    except RecursionError:
        return None
    except ValueError:
        text = text.decode(errors="replace") if isinstance(text, bytes) else text
    try:
        return json.loads(text, parse_int=_int)
    except (RecursionError, ValueError):
        return None


def _int(digits: str) -> int | None:
    return int(digits) if len(digits) <= 300 else None


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _pause(payload: Json) -> float:
    """Return the seconds to pause."""
    value = payload.get("retry_after")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return LONG_PAUSE
    return float(value) if 0 <= value <= 86_400 else LONG_PAUSE
