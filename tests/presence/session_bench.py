"""A worker's session without worker and socket, at times that a test sets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from presence.fields import Json
from presence.gateway.payloads import Dispatch, SessionStarted
from presence.gateway.reconciling import MemberRefetch, Reconciler
from presence.gateway.roster import Roster
from presence.gateway.session import Liveness, Session
from presence.intervals import Intervals
from tests.presence.test_roster import ADA, BOB, GUILD, ONLINE, chunk, member, row


class Line:
    """A connection that takes every question. `questions`: nonce and ids, none for all members."""

    def __init__(self) -> None:
        self.identifies_left: int | None = None
        self.is_up = True
        self.questions: list[tuple[str, list[int]]] = []

    async def run(self, tell: object) -> None: ...

    async def close(self) -> None: ...

    async def ask_for_all(self, nonce: str) -> bool:
        return await self.ask_for([], nonce)

    async def ask_for(self, chat_ids: Sequence[int], nonce: str) -> bool:
        if self.is_up:
            self.questions.append((nonce, list(chat_ids)))
        return self.is_up


class Bench:
    """A worker's session without a worker. LastSeen are seconds since it was made."""

    def __init__(self) -> None:
        self.line, self.roster, intervals = Line(), Roster(GUILD), Intervals()
        self.reconciler = Reconciler(self.roster, self.line, intervals)
        self.refetch = MemberRefetch(self.roster, self.line, intervals)
        self.session = Session(
            self.roster, self.reconciler, self.refetch, Liveness(self.line, intervals, guild_id=GUILD)
        )
        self._made_at = time.monotonic()

    def tell(self, name: str, payload: Json) -> None:
        self.session.tell(Dispatch(name, {"guild_id": str(GUILD), **payload}))

    def start(self) -> str:
        """A new session. The question for all members."""
        self.session.tell(SessionStarted(None))
        self.tell("GUILD_CREATE", {"id": str(GUILD)})
        return self.look(0)[0][0]

    def fill(self) -> None:
        """A new session that is READY: Ada is online, Bob is offline."""
        self.answer(self.start(), member(ADA), member(BOB), presences=[row(ADA, ONLINE)])
        assert self.session.is_ready

    def answer(self, nonce: str, *members: Json, index: int = 0, count: int = 1, **more: Any) -> None:
        more = {"chunk_index": index, "chunk_count": count, "nonce": nonce, **more}
        self.tell("GUILD_MEMBERS_CHUNK", chunk(*members, **more))

    def refuse(self, nonce: str, seconds: float) -> None:
        self.tell("RATE_LIMITED", {"opcode": 8, "retry_after": seconds, "meta": {"nonce": nonce}})

    def look(self, at: float) -> list[tuple[str, list[int]]]:
        """The requests that are sent at this time."""
        before = len(self.line.questions)

        async def look() -> None:
            await self.reconciler.look(self._made_at + at)
            await self.refetch.tick(self._made_at + at)

        asyncio.run(look())
        return self.line.questions[before:]

    def ask(self, chat_id: int) -> str:
        self.refetch.enqueue([chat_id])
        ((nonce, chat_ids),) = self.look(2)
        assert chat_ids == [chat_id]
        return nonce

    def known(self) -> dict[int, str | None]:
        """Members and statuses; None where unknown."""
        members = self.roster.members.items()
        shown = {True: "online", False: "offline"}
        return {chat_id: shown[entry.is_online] if entry.is_settled else None for chat_id, entry in members}
