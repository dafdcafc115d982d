"""Whether the platform still speaks to us: a connection may be dead without a sign, and a process may have stood still.

In silence a question is asked whose answer costs the platform nothing. Whoever stood still does not believe what the
connection still holds, before a question that was asked since then is answered: the platform may have given it up.
"""

from __future__ import annotations

import time

from presence.feed import GatewayFeed
from presence.pace import Pace

PREFIX = "pulse"


class Pulse:
    """Of one worker. Times are those of the monotonic clock."""

    def __init__(self, feed: GatewayFeed, pace: Pace, *, guild_id: int) -> None:
        self._feed, self._pace = feed, pace
        self._guild_id = guild_id  # an id that is no member's: the answer says so, and nothing else
        self._ticked_at = self._heard_at = time.monotonic()
        self._asked_at = 0.0
        self._number = 0
        self._is_suspect = False

    def hear(self, now: float) -> None:
        """The platform has said something."""
        self._tick(now)
        self._heard_at = now

    def begin(self, now: float) -> None:
        """A session has begun, or goes on with everything that was missed."""
        self._ticked_at = self._heard_at = now
        self._is_suspect = False

    def take(self, nonce: object) -> bool:
        """Whether a chunk with this nonce answers a question of ours."""
        if not isinstance(nonce, str) or not nonce.startswith(PREFIX):
            return False
        if nonce == f"{PREFIX}{self._number}":
            self._is_suspect = False
        return True

    def is_felt(self, now: float) -> bool:
        """Whether what was heard is the platform's present word."""
        self._tick(now)
        return not self._is_suspect and now - self._heard_at <= self._pace.silence

    async def look(self) -> None:
        """Ask, where that is due."""
        now = time.monotonic()
        self._tick(now)
        is_due = self._is_suspect or now - self._heard_at >= self._pace.quiet
        if is_due and now - self._asked_at >= self._pace.quiet:
            self._asked_at = now
            self._number += 1
            await self._feed.ask_for([self._guild_id], f"{PREFIX}{self._number}")

    def _tick(self, now: float) -> None:
        if now - self._ticked_at > self._pace.standstill:
            self._is_suspect = True
            self._asked_at = 0.0
            self._number += 1  # an answer that is under way is too old
        self._ticked_at = now
