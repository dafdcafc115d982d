"""Requests single members from the gateway: new ones, those with malformed events, those that readers asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from presence.feed import GatewayFeed
from presence.fields import Json
from presence.intervals import Intervals
from presence.roster import Roster

AT_ONCE = 100  # the platform's limit
TRIES = 3
PREFIX = "ids"


@dataclass(slots=True)
class _Request:
    tries: dict[int, int]  # by id, this one included
    asked_at: float


class MemberRefetch:
    """`now` is a time of the monotonic clock, in seconds."""

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
        """The platform rate-limited the request `nonce`: wait, then send it again."""
        self._ask_at = max(self._ask_at, now + seconds)
        self._requeue(nonce)

    async def tick(self, now: float) -> None:
        """Send the next request where one is due. Call it some times a second during a session."""
        self._requeue_unanswered(now)
        self.enqueue(self._roster.changes.asked)
        self._roster.changes.asked.clear()
        if not self._waiting or now < self._ask_at:
            return
        tries = {chat_id: self._waiting.pop(chat_id) + 1 for chat_id in list(self._waiting)[:AT_ONCE]}
        self._last = self._roster.next_order()
        nonce = f"{PREFIX}{self._last}"
        self._open[nonce] = _Request(tries, now)
        self._ask_at = now + self._intervals.lookups
        if not await self._feed.ask_for(list(tries), nonce):
            self._requeue(nonce)

    def handle_chunk(self, payload: Json, *, unix_now: float) -> None:
        """Take a chunk that answers no request for all members. Its nonce tells the order of the request, so a
        late answer still counts."""
        nonce = payload.get("nonce")
        asked = self._asked(nonce) if isinstance(nonce, str) else 0
        if self._roster.take_chunk(payload, asked=asked, now=unix_now) and isinstance(nonce, str):
            self._open.pop(nonce, None)

    def _asked(self, nonce: str) -> int:
        """The order of the request; 0 for an unknown nonce."""
        digits = nonce.removeprefix(PREFIX)
        is_number = len(nonce) > len(digits) and digits.isascii() and digits.isdigit() and len(digits) < 20
        return int(digits) if is_number and int(digits) <= self._last else 0

    def _requeue(self, nonce: str) -> None:
        """The request was not processed, so it counts as no attempt."""
        request = self._open.pop(nonce, None)
        if request is not None:
            self._waiting = {chat_id: tries - 1 for chat_id, tries in request.tries.items()} | self._waiting

    def _requeue_unanswered(self, now: float) -> None:
        """Retry requests without an answer, at most TRIES times; readers ask again for the rest."""
        lost = [nonce for nonce, asked in self._open.items() if now - asked.asked_at >= self._intervals.lookup_patience]
        for nonce in lost:
            for chat_id, tries in self._open.pop(nonce).tries.items():
                if tries < TRIES:
                    self._waiting.setdefault(chat_id, tries)
