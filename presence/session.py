"""What the worker knows of its session: whether the roster is the truth right now, and who is told of which event."""

from __future__ import annotations

import logging
import time
from collections import Counter

from presence import payloads
from presence.feed import Dispatch, FeedEvent, Garbage, SessionLost, SessionResumed, SessionStarted
from presence.fields import Json
from presence.liveness import Liveness
from presence.member_refetch import PREFIX as LOOKUP
from presence.member_refetch import MemberRefetch
from presence.reconciling import Reconciler
from presence.roster import Roster

MEMBERS_OPCODE = 8
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 3600.0  # seconds

logger = logging.getLogger(__name__)


class Session:
    """Takes the feed's events, in order. Nothing here waits."""

    def __init__(self, roster: Roster, reconciler: Reconciler, refetch: MemberRefetch, liveness: Liveness) -> None:
        self.is_open = False
        self.is_guild_there = False
        self.lost: Counter[str] = Counter()  # sessions, by cause
        self._roster, self._reconciler, self._refetch, self.liveness = roster, reconciler, refetch, liveness
        self._gap_at: float | None = None  # until when everything was known, where it is not now

    @property
    def is_ready(self) -> bool:
        """Whether the roster is the truth, and stays it."""
        return self._is_whole and self.liveness.is_alive(time.monotonic())

    @property
    def _is_whole(self) -> bool:
        """Whether everybody is known, as far as the platform has told."""
        return self.is_open and self.is_guild_there and self._reconciler.is_complete

    def tell(self, event: FeedEvent) -> None:
        """Of the port. Never raises on what the platform sends."""
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
        """The chat server's own event follows, and begins the reconcile."""
        self._note_gap()
        self.liveness.begin(time.monotonic())
        self._reconciler.stop()
        self.is_open, self.is_guild_there = True, False
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
            self.is_guild_there = True
            self._reconciler.begin(gap_at=self._gap_at)
            return
        self._note_gap()
        self.is_guild_there = False
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
        if isinstance(nonce, str) and nonce.startswith(LOOKUP):
            self._refetch.pause(nonce, seconds, now)
        else:
            self._reconciler.limit(seconds, now)

    def _note_gap(self) -> None:
        """The first moment of a gap counts; it lasts until everything is known."""
        if self._gap_at is None:
            self._gap_at = time.time()
