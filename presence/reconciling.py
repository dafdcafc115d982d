"""The full picture: asks for all members after each gap in the events, and once a day, until every chunk is there."""

from __future__ import annotations

import logging
import random

from presence import payloads
from presence.feed import GatewayFeed
from presence.fields import Json
from presence.intervals import Intervals
from presence.roster import Roster

MAX_CHUNKS = 1_000_000
PREFIX = "full"

logger = logging.getLogger(__name__)


class Reconciler:
    """`now` is a moment of the monotonic clock. `is_complete`: the roster has everybody; nothing was missed since."""

    def __init__(self, roster: Roster, feed: GatewayFeed, intervals: Intervals) -> None:
        self.is_complete = False
        self.rate_limited = 0
        self.begun_epoch = 0  # of the last gap
        self.completed_epoch = 0
        self._completed_at: float | None = None
        self._roster, self._feed, self._intervals = roster, feed, intervals
        self._is_running = False
        self._attempt = 0
        self._nonce: str | None = None  # of the question that is being answered
        self._heard_at = 0.0
        self._ask_at = 0.0  # not before
        self._missing: set[int] | None = None  # chunks; None: nobody has said how many

    def begin(self, *, gap_at: float | None) -> None:
        """A new session: nothing before it counts. `gap_at` in UNIX seconds: until when the old one told everything."""
        self.is_complete = False
        self._open(gap_at)
        self.begun_epoch = self._roster.epoch

    def stop(self) -> None:
        """The chat server is out of reach: nothing is complete, and there is nobody to ask."""
        self.is_complete = False
        self._is_running = False
        self._nonce = None

    async def look(self, now: float) -> None:
        """Ask where it is time. Call it some times a second while there is a session."""
        if self._is_due(now):
            self._open(None)
        if not self._is_running or now < self._ask_at:
            return
        if self._nonce is not None:
            if now - self._heard_at < self._intervals.chunk_patience:
                return
            logger.warning("Members of the chat server are missing for %g s; asking again.", now - self._heard_at)
        self._attempt += 1
        nonce = f"{self._prefix()}{self._attempt}"
        self._nonce, self._heard_at, self._missing = nonce, now, None
        if not await self._feed.ask_for_all(nonce) and self._nonce == nonce:
            self._nonce = None

    def take(self, payload: Json, *, unix_now: float, now: float) -> bool:
        """Whether this chunk is of a question for all members. It counts where it is of the one that is being answered:
        what others say is older than what is known by now."""
        nonce = payload.get("nonce")
        if not isinstance(nonce, str) or not nonce.startswith(PREFIX):
            return False
        if not self._is_running or not nonce.startswith(self._prefix()):
            return True
        count = payloads.number(payload, "chunk_count", at_most=MAX_CHUNKS)
        index = payloads.number(payload, "chunk_index", at_most=MAX_CHUNKS)
        if not count or index is None or index >= count:
            self._roster.complain("GUILD_MEMBERS_CHUNK")
            return True
        self._heard_at = now  # also where it is late, of a question that was given up: the platform is at work
        if nonce != self._nonce or not self._roster.take_chunk(payload, asked=None, now=unix_now):
            return True
        if self._missing is None:
            self._missing = set(range(count))
        self._missing.discard(index)
        if not self._missing:
            self._close(now)
        return True

    def limit(self, seconds: float, now: float) -> None:
        """The question was refused: wait so long. Not all to the same moment: several workers share the limit."""
        self.rate_limited += 1
        self._ask_at = now + seconds + random.uniform(0, min(seconds, 1) / 4)  # noqa: S311 - jitter is no secret
        self._nonce = None

    def _is_due(self, now: float) -> bool:
        """The daily repeat."""
        if self._is_running or not self.is_complete or self._completed_at is None:
            return False
        return now - self._completed_at >= self._intervals.reconcile_again

    def _prefix(self) -> str:
        return f"{PREFIX}{self._roster.epoch}."

    def _open(self, gap_at: float | None) -> None:
        self._roster.open_epoch(gap_at)
        self._is_running = True
        self._nonce = None

    def _close(self, now: float) -> None:
        self._roster.close_epoch()
        self._is_running = False
        self._nonce = None
        self.is_complete = True
        self.completed_epoch = self._roster.epoch
        self._completed_at = now
