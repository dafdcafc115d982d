"""A leading flusher with its store, into which others write at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.core.cache import caches

from presence.gateway.payloads import Dispatch
from presence.gateway.roster import Roster
from presence.intervals import Intervals
from presence.store.store import LeaseLost, PresenceStore
from presence.worker.background import Background
from presence.worker.flushing import Flusher
from presence.worker.last_seen import LastSeen
from presence.worker.lease import Lease
from tests.presence import workers

GUILD = 268473310000000000
ADA, BOB, CYD = 268473310000000011, 268473310000000012, 268473310000000013
PACE = Intervals(stamp=0.0, dump_size=2)


class Eventful(PresenceStore):
    """Things happen next to its writes. Where `before` raises, nothing is written."""

    before: Callable[[], object] | None = None
    after: Callable[[], object] | None = None

    def write(self, texts: Mapping[int, str], removed: Collection[int], *, token: str, mark: str = "") -> None:
        if self.before is not None:
            self.before()
        super().write(texts, removed, token=token, mark=mark)
        if self.after is not None:
            self.after()


class LeadingFlusher:
    """A leading flusher and its store."""

    def __init__(self) -> None:
        self.roster = Roster(GUILD)
        for chat_id in (ADA, BOB, CYD):
            self.apply("GUILD_MEMBER_ADD", chat_id, username="someone")
            self.apply("PRESENCE_UPDATE", chat_id, status="online")
        self.store, self.background = Eventful(caches["presence"]), Background("flusher")
        self.lease = Lease(self.store)
        self.last_seen = LastSeen(self.roster, self.store, self.background, self.background)
        self.flusher = Flusher(
            self.roster,
            store=self.store,
            last_seen=self.last_seen,
            background=self.background,
            intervals=PACE,
        )
        self.lead()

    def lead(self) -> None:
        """Begin a term."""
        assert self.lease.take()
        self.flusher.begin_term(self.lease.token)

    def do(self, act: Callable[[], Any]) -> Any:
        """`act` gives something to await."""

        async def doing() -> Any:
            return await act()

        return asyncio.run(doing())

    def begin(self, *, is_repeat: bool = False) -> None:
        self.do(lambda: self.flusher.begin_dump(is_repeat=is_repeat))

    def flush(self) -> bool:
        return bool(self.do(self.flusher.flush))

    def settle(self) -> None:
        """Until nothing waits; a stamp is the end of it."""
        is_more = True
        while is_more:
            try:
                is_more = self.flush()
            except LeaseLost:  # as the worker does
                self.lease.lose(self.flusher.token)
                self.lead()
            if not self.flusher.generation:
                self.begin()
                is_more = True

    def apply(self, name: str, chat_id: int, status: str = "", **user: str) -> None:
        payload = {"guild_id": str(GUILD), "user": {"id": str(chat_id), **user}}
        more = {"status": status, "client_status": {"desktop": status}, "activities": []} if status else {}
        self.roster.apply(Dispatch(name, {**payload, **more}), 2000.0)

    def leave(self, chat_id: int) -> None:
        self.apply("GUILD_MEMBER_REMOVE", chat_id)

    def shown(self) -> dict[int, str]:
        return workers.statuses(self.store, [ADA, BOB, CYD])
