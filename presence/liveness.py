"""Liveness of the gateway connection, which can be dead without a sign.

After some seconds of silence the worker sends a request whose answer costs the platform nothing. After a standstill of
its own process it trusts the connection again once a request that was sent since then is answered.
"""

from __future__ import annotations

import time

from presence.feed import GatewayFeed
from presence.intervals import Intervals

PREFIX = "liveness"


class Liveness:
    """Of one worker. Times are those of the monotonic clock."""

    def __init__(self, feed: GatewayFeed, intervals: Intervals, *, guild_id: int) -> None:
        self._feed, self._intervals = feed, intervals
        self._guild_id = guild_id  # not a member's id: the answer is empty
        self._ticked_at = self._heard_at = time.monotonic()
        self._asked_at = 0.0
        self._number = 0
        self._is_suspect = False

    def hear(self, now: float) -> None:
        """The platform has sent something."""
        self._tick(now)
        self._heard_at = now

    def begin(self, now: float) -> None:
        """A session has begun, or was resumed with everything that was missed."""
        self._ticked_at = self._heard_at = now
        self._is_suspect = False

    def take(self, nonce: object) -> bool:
        """Whether a chunk with this nonce answers a request of this class."""
        if not isinstance(nonce, str) or not nonce.startswith(PREFIX):
            return False
        if nonce == f"{PREFIX}{self._number}":
            self._is_suspect = False
        return True

    def is_alive(self, now: float) -> bool:
        """Whether the connection is up to date."""
        self._tick(now)
        return not self._is_suspect and now - self._heard_at <= self._intervals.silence

    async def tick(self) -> None:
        """Send a request where one is due."""
        now = time.monotonic()
        self._tick(now)
        is_due = self._is_suspect or now - self._heard_at >= self._intervals.quiet
        if is_due and now - self._asked_at >= self._intervals.quiet:
            self._asked_at = now
            self._number += 1
            await self._feed.ask_for([self._guild_id], f"{PREFIX}{self._number}")

    def _tick(self, now: float) -> None:
        if now - self._ticked_at > self._intervals.standstill:
            self._is_suspect = True
            self._asked_at = 0.0
            self._number += 1  # an answer that is under way is too old
        self._ticked_at = now
