"""The port to the chat platform's gateway: what a connection tells, and what it can be asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from presence.fields import Json


class FatalFeedError(Exception):
    """The platform refuses this bot for good: its token or its intents are wrong. Trying again makes it worse."""


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A new session: whatever happened before it is unknown. `guild_ids`: None where the platform named none."""

    guild_ids: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class SessionResumed:
    """The session goes on; what was missed has been told."""


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
    """Something that is no event at all."""


FeedEvent = SessionStarted | SessionResumed | SessionLost | Dispatch | Garbage


class GatewayFeed(Protocol):
    """A connection to the gateway that keeps itself up. Events are told in the platform's order, and never while an
    earlier one is being told."""

    identifies_left: int | None  # of the day's budget, as far as it is known

    async def run(self, tell: Callable[[FeedEvent], None]) -> None:
        """Until `close`. FatalFeedError where the platform refuses for good; every other trouble is survived."""

    async def ask_for_all(self, nonce: str) -> bool:
        """Ask for all members with their presences: chunks will come. False where nothing could be sent."""

    async def ask_for(self, chat_ids: Sequence[int], nonce: str) -> bool:
        """The same for at most 100 ids; the chunk also tells which are no members."""

    async def close(self) -> None:
        """End the session, and `run`. Within 2 seconds."""
