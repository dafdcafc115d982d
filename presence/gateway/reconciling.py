"""Requests members from the gateway: all of them (`Reconciler`), and single ones (`MemberRefetch`).

`now` is a time of the monotonic clock, in seconds.
"""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from presence.fields import Json
from presence.gateway import payloads
from presence.gateway.payloads import GatewayFeed
from presence.gateway.roster import Roster
from presence.intervals import Intervals

MAX_CHUNKS = 1_000_000
AT_ONCE = 100  # single members; the platform's limit
TRIES = 3
FULL, REFETCH = "full", "ids"  # what nonces begin with
_NONCE = re.compile(REFETCH + "([0-9]{1,19})")  # of a refetch, with its order

logger = logging.getLogger(__name__)


class Progress(Enum):
    """How complete the roster is.

    ```
    IDLE ──begin──▶ GATHERING ──last chunk──▶ COMPLETE ──a day later──▶ REPEATING ──last chunk──▶ COMPLETE
    any  ──begin──▶ GATHERING    any ──stop──▶ IDLE
    ```
    """

    IDLE = "idle"  # the chat server is out of reach
    GATHERING = "gathering"  # members are missing
    COMPLETE = "complete"
    REPEATING = "repeating"  # complete, and read again


class Reconciler:
    """Requests all members after each gap in the events, and once a day, until every chunk has come."""

    def __init__(self, roster: Roster, feed: GatewayFeed, intervals: Intervals) -> None:
        self.progress = Progress.IDLE
        self.rate_limited = 0
        self.begun_epoch = 0  # of the last gap
        self.completed_epoch = 0
        self._completed_at = 0.0
        self._roster, self._feed, self._intervals = roster, feed, intervals
        self._attempt = 0
        self._nonce: str | None = None  # of the request that is being answered
        self._heard_at = 0.0
        self._ask_at = 0.0  # not before
        self._missing: set[int] | None = None  # chunks; None: their number is not known yet

    @property
    def is_complete(self) -> bool:
        """Whether the roster has every member and has missed nothing since."""
        return self.progress in (Progress.COMPLETE, Progress.REPEATING)

    @property
    def _is_running(self) -> bool:
        return self.progress in (Progress.GATHERING, Progress.REPEATING)

    def begin(self, *, gap_at: float | None) -> None:
        """Begin a session: nothing before it counts. `gap_at` in UNIX seconds: the end of the old one."""
        self._open(Progress.GATHERING, gap_at)
        self.begun_epoch = self._roster.epoch

    def stop(self) -> None:
        """Stop, as the chat server is out of reach."""
        self._enter(Progress.IDLE)

    async def look(self, now: float) -> None:
        """Send a request where one is due. Call it some times a second during a session."""
        if self.progress is Progress.COMPLETE and now - self._completed_at >= self._intervals.reconcile_again:
            self._open(Progress.REPEATING, None)
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
        """Return whether this chunk answers a request for all members. Older requests' chunks change nothing."""
        nonce = payload.get("nonce")
        if not isinstance(nonce, str) or not nonce.startswith(FULL):
            return False
        if not self._is_running or not nonce.startswith(self._prefix()):
            return True
        count = payloads.number(payload, "chunk_count", at_most=MAX_CHUNKS)
        index = payloads.number(payload, "chunk_index", at_most=MAX_CHUNKS)
        if not count or index is None or index >= count:
            self._roster.complain("GUILD_MEMBERS_CHUNK")
            return True
        self._heard_at = now  # a late chunk of an earlier request, too: the platform is at work
        if nonce != self._nonce or not self._roster.take_chunk(payload, asked=None, now=unix_now):
            return True
        if self._missing is None:
            self._missing = set(range(count))
        self._missing.discard(index)
        if not self._missing:
            self._close(now)
        return True

    def limit(self, seconds: float, now: float) -> None:
        """Wait for these seconds after a refused request, with jitter, because several workers share the limit."""
        self.rate_limited += 1
        self._ask_at = now + seconds + random.uniform(0, min(seconds, 1) / 4)  # noqa: S311 - jitter is no secret
        self._nonce = None

    def _prefix(self) -> str:
        return f"{FULL}{self._roster.epoch}."

    def _open(self, progress: Progress, gap_at: float | None) -> None:
        self._roster.open_epoch(gap_at)
        self._enter(progress)

    def _close(self, now: float) -> None:
        self._roster.close_epoch()
        self._enter(Progress.COMPLETE)
        self.completed_epoch, self._completed_at = self._roster.epoch, now

    def _enter(self, progress: Progress) -> None:
        self.progress, self._nonce = progress, None


@dataclass(slots=True)
class _Request:
    tries: dict[int, int]  # by id, this one included
    asked_at: float


class MemberRefetch:
    """Requests single members: new ones, ones with malformed events, ones that readers asked for."""

    def __init__(self, roster: Roster, feed: GatewayFeed, intervals: Intervals) -> None:
        self._roster, self._feed, self._intervals = roster, feed, intervals
        self._waiting: dict[int, int] = {}  # id -> failed attempts
        self._open: dict[str, _Request] = {}
        self._last = 0  # order of the last request
        self._ask_at = 0.0  # not before

    def enqueue(self, chat_ids: Iterable[int]) -> None:
        """Request these members at the next tick."""
        for chat_id in chat_ids:
            self._waiting.setdefault(chat_id, 0)

    def pause(self, nonce: str, seconds: float, now: float) -> None:
        """Wait after the rate limit of the request `nonce`, then send it again."""
        self._ask_at = max(self._ask_at, now + seconds)
        self._requeue(nonce)

    async def tick(self, now: float) -> None:
        """Send the next request where one is due. Call it some times a second during a session."""
        lost = [nonce for nonce, asked in self._open.items() if now - asked.asked_at >= self._intervals.lookup_patience]
        for nonce in lost:  # of each at most TRIES times; readers ask again for the rest
            for chat_id, failed in self._open.pop(nonce).tries.items():
                if failed < TRIES:
                    self._waiting.setdefault(chat_id, failed)
        self.enqueue(self._roster.changes.asked)
        self._roster.changes.asked.clear()
        if not self._waiting or now < self._ask_at:
            return
        tries = {chat_id: self._waiting.pop(chat_id) + 1 for chat_id in list(self._waiting)[:AT_ONCE]}
        self._last = self._roster.next_order()
        nonce = f"{REFETCH}{self._last}"
        self._open[nonce] = _Request(tries, now)
        self._ask_at = now + self._intervals.lookups
        if not await self._feed.ask_for(list(tries), nonce):
            self._requeue(nonce)

    def handle_chunk(self, payload: Json, *, unix_now: float) -> None:
        """Take a chunk that answers no request for all members. Its nonce tells the order of the request, so a
        late answer still counts."""
        nonce = payload.get("nonce")
        found = _NONCE.fullmatch(nonce) if isinstance(nonce, str) else None
        asked = int(found[1]) if found and int(found[1]) <= self._last else 0
        if self._roster.take_chunk(payload, asked=asked, now=unix_now):
            self._open.pop(str(nonce), None)

    def _requeue(self, nonce: str) -> None:
        """Queue the request again, without an attempt, as it was not processed."""
        request = self._open.pop(nonce, None)
        if request is not None:
            self._waiting = {chat_id: tries - 1 for chat_id, tries in request.tries.items()} | self._waiting
