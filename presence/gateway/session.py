"""The worker's session at the gateway: which event goes where, and whether the roster is up to date.

A connection can be dead without a sign (`Liveness`). After some seconds of silence the worker sends a request whose
answer costs the platform nothing. After a standstill of its own process it trusts the connection again once a request
that was sent since then is answered.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from enum import Enum

from presence.fields import Json
from presence.gateway import payloads
from presence.gateway.payloads import (
    Dispatch,
    FeedEvent,
    Garbage,
    GatewayFeed,
    SessionLost,
    SessionResumed,
    SessionStarted,
)
from presence.gateway.reconciling import REFETCH, MemberRefetch, Progress, Reconciler
from presence.gateway.roster import Roster
from presence.intervals import Intervals

MEMBERS_OPCODE = 8
LIVENESS = "liveness"  # prefix of its nonces
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 3600.0  # seconds

logger = logging.getLogger(__name__)


class Liveness:
    """Whether the connection is up to date. Times are of the monotonic clock."""

    def __init__(self, feed: GatewayFeed, intervals: Intervals, *, guild_id: int) -> None:
        self._feed, self._intervals = feed, intervals
        self._guild_id = guild_id  # not a member's id: the answer is empty
        self._ticked_at = self._heard_at = time.monotonic()
        self._asked_at = 0.0
        self._number = 0
        self._is_suspect = False

    def hear(self, now: float) -> None:
        """Note that the platform has sent something."""
        self._tick(now)
        self._heard_at = now

    def begin(self, now: float) -> None:
        """Note that a session has begun, or was resumed with everything that was missed."""
        self._ticked_at = self._heard_at = now
        self._is_suspect = False

    def take(self, nonce: object) -> bool:
        """Return whether a chunk with this nonce answers a request of this class."""
        if not isinstance(nonce, str) or not nonce.startswith(LIVENESS):
            return False
        if nonce == f"{LIVENESS}{self._number}":
            self._is_suspect = False
        return True

    def is_alive(self, now: float) -> bool:
        """Return whether the connection is up to date."""
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
            await self._feed.ask_for([self._guild_id], f"{LIVENESS}{self._number}")

    def _tick(self, now: float) -> None:
        if now - self._ticked_at > self._intervals.standstill:
            self._is_suspect = True
            self._asked_at = 0.0
            self._number += 1  # an answer that is under way is too old
        self._ticked_at = now


class SessionState(Enum):
    """The state of a worker's session, which `Session.state` decides at each call.

    ```
    CLOSED ──started──▶ ABSENT ──GUILD_CREATE──▶ GATHERING ──last chunk──▶ READY ◀──silence, answer──▶ SILENT
    any ──lost──▶ CLOSED ──resumed──▶ the state before      any ──outage, removal──▶ ABSENT
    ```
    """

    CLOSED = "closed"
    ABSENT = "absent"  # the chat server has an outage, or is not announced yet
    GATHERING = "gathering"  # members are missing
    SILENT = "silent"  # the connection may be dead
    READY = "ready"  # the roster is up to date


class Session:
    """Takes the feed's events, in order. Nothing here waits."""

    def __init__(self, roster: Roster, reconciler: Reconciler, refetch: MemberRefetch, liveness: Liveness) -> None:
        self.is_open = False
        self.lost: Counter[str] = Counter()  # sessions, by cause
        self._roster, self._reconciler, self._refetch, self.liveness = roster, reconciler, refetch, liveness
        self._gap_at: float | None = None  # since when members may be out of date; None: they are not

    @property
    def state(self) -> SessionState:
        """The state at this time; silence changes it without an event."""
        if not self.is_open:
            return SessionState.CLOSED
        if self._reconciler.progress is Progress.IDLE:
            return SessionState.ABSENT
        if self._reconciler.progress is Progress.GATHERING:
            return SessionState.GATHERING
        return SessionState.READY if self.liveness.is_alive(time.monotonic()) else SessionState.SILENT

    @property
    def is_ready(self) -> bool:
        """Whether the roster is up to date."""
        return self.state is SessionState.READY

    def tell(self, event: FeedEvent) -> None:
        """Take an event of the port. Never raises on what the platform sends."""
        if not isinstance(event, SessionLost):
            self.liveness.hear(time.monotonic())
        if isinstance(event, Dispatch):
            self._dispatch(event)
        elif isinstance(event, Garbage):
            self._roster.complain("message")
        elif isinstance(event, SessionLost):
            self.lost[event.cause] += 1
            self._note_gap()
            self.is_open = False
        elif isinstance(event, SessionResumed):
            self.liveness.begin(time.monotonic())
            self.is_open = True
            if self._reconciler.is_complete:
                self._gap_at = None
        else:
            self._start(event)

    def _start(self, event: SessionStarted) -> None:
        """Start a session; the chat server's own event follows and begins the reconcile."""
        self._note_gap()
        self.liveness.begin(time.monotonic())
        self._reconciler.stop()
        self.is_open = True
        if event.guild_ids is not None and self._roster.guild_id not in event.guild_ids:
            logger.error("The bot is not in the chat server %s: nobody's presence is known.", self._roster.guild_id)

    def _dispatch(self, event: Dispatch) -> None:
        payload = event.payload
        if event.name in ("GUILD_CREATE", "GUILD_DELETE"):
            if payloads.id_of(payload.get("id")) == self._roster.guild_id:
                self._note_guild(is_there=event.name == "GUILD_CREATE", payload=payload)
        elif event.name == "GUILD_MEMBERS_CHUNK":
            if payloads.is_of(self._roster.guild_id, payload):
                self._take_chunk(payload)
        elif event.name == "RATE_LIMITED":
            self._limit(payload)
        else:
            self._roster.apply(event, time.time())

    def _note_guild(self, *, is_there: bool, payload: Json) -> None:
        is_outage = payload.get("unavailable") is True
        if is_there and not is_outage:
            self._reconciler.begin(gap_at=self._gap_at)
            return
        self._note_gap()
        self._reconciler.stop()
        if is_outage:
            logger.warning("The chat server has an outage: presence waits for its end.")
        else:
            logger.error("The bot was removed from the chat server %s: nobody's presence is known.", payload.get("id"))

    def _take_chunk(self, payload: Json) -> None:
        if self.liveness.take(payload.get("nonce")):
            return
        unix_now = time.time()
        if not self._reconciler.take(payload, unix_now=unix_now, now=time.monotonic()):
            self._refetch.handle_chunk(payload, unix_now=unix_now)
        elif self._reconciler.is_complete:
            self._gap_at = None

    def _limit(self, payload: Json) -> None:
        if payload.get("opcode") != MEMBERS_OPCODE:
            return
        now, seconds = time.monotonic(), min(max(float(payload["retry_after"]), SHORTEST_PAUSE), LONGEST_PAUSE)
        meta = payload.get("meta")
        nonce = meta.get("nonce") if isinstance(meta, dict) else None
        if isinstance(nonce, str) and nonce.startswith(REFETCH):
            self._refetch.pause(nonce, seconds, now)
        else:
            self._reconciler.limit(seconds, now)

    def _note_gap(self) -> None:
        """Note the begin of a gap where none runs; it lasts until the roster is complete."""
        if self._gap_at is None:
            self._gap_at = time.time()
