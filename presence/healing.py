"""Looks up single members: those who joined, those whose events are odd, and those for whom a reader asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from presence.feed import GatewayFeed
from presence.fields import Json
from presence.pace import Pace
from presence.roster import Roster

AT_ONCE = 100  # the platform's limit
TRIES = 3
PREFIX = "ids"


@dataclass(slots=True)
class _Question:
    tries: dict[int, int]  # by id, this one included
    asked_at: float


class Healer:
    """`now` is a moment of the monotonic clock."""

    def __init__(self, roster: Roster, feed: GatewayFeed, pace: Pace) -> None:
        self._roster, self._feed, self._pace = roster, feed, pace
        self._waiting: dict[int, int] = {}  # id -> how often it was asked for in vain
        self._open: dict[str, _Question] = {}
        self._last = 0  # the order of the last question
        self._ask_at = 0.0  # not before

    def want(self, chat_ids: Iterable[int]) -> None:
        """Look these up soon."""
        for chat_id in chat_ids:
            self._waiting.setdefault(chat_id, 0)

    def pause(self, nonce: str, seconds: float, now: float) -> None:
        """The platform wants fewer questions, and did not look at this one."""
        self._ask_at = max(self._ask_at, now + seconds)
        self._take_back(nonce)

    async def look(self, now: float) -> None:
        """Ask where it is time. Call it some times a second while there is a session."""
        self._wait_again(now)
        self.want(self._roster.changes.asked)
        self._roster.changes.asked.clear()
        if not self._waiting or now < self._ask_at:
            return
        tries = {chat_id: self._waiting.pop(chat_id) + 1 for chat_id in list(self._waiting)[:AT_ONCE]}
        self._last = self._roster.next_order()
        nonce = f"{PREFIX}{self._last}"
        self._open[nonce] = _Question(tries, now)
        self._ask_at = now + self._pace.lookups
        if not await self._feed.ask_for(list(tries), nonce):
            self._take_back(nonce)

    def take(self, payload: Json, *, unix_now: float) -> None:
        """A chunk that is of no question for all members. Its nonce says when it was asked for: it counts also where
        nobody waits for it any more."""
        nonce = payload.get("nonce")
        asked = self._asked(nonce) if isinstance(nonce, str) else 0
        if self._roster.take_chunk(payload, asked=asked, now=unix_now) and isinstance(nonce, str):
            self._open.pop(nonce, None)

    def _asked(self, nonce: str) -> int:
        """The order of the question; 0 for none of ours."""
        digits = nonce.removeprefix(PREFIX)
        is_number = len(nonce) > len(digits) and digits.isascii() and digits.isdigit() and len(digits) < 20
        return int(digits) if is_number and int(digits) <= self._last else 0

    def _take_back(self, nonce: str) -> None:
        """A question that nobody has heard counts for nothing."""
        question = self._open.pop(nonce, None)
        if question is not None:
            self._waiting = {chat_id: tries - 1 for chat_id, tries in question.tries.items()} | self._waiting

    def _wait_again(self, now: float) -> None:
        """Those whose answer is lost, unless it was lost too often: whoever needs them asks again."""
        lost = [nonce for nonce, asked in self._open.items() if now - asked.asked_at >= self._pace.lookup_patience]
        for nonce in lost:
            for chat_id, tries in self._open.pop(nonce).tries.items():
                if tries < TRIES:
                    self._waiting.setdefault(chat_id, tries)
