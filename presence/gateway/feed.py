"""The port to the chat platform's gateway: its events and its requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from presence.fields import Json


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
