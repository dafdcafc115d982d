"""What a worker that leads does for linked accounts: they follow their members, and private ones are noted."""

from __future__ import annotations

import json
from collections.abc import Callable

from presence import pictures, privacy
from presence.background import Background
from presence.fields import Json
from presence.roster import Roster


class LinkedAccounts:
    """Each method raises what the database raises; it may be called again."""

    def __init__(self, roster: Roster, database: Background, *, is_leader: Callable[[], bool]) -> None:
        self._roster, self._database, self._is_leader = roster, database, is_leader
        self._compared = 0  # the last generation for which all were compared

    async def read_privacy(self) -> None:
        """Whose presence is private now."""
        self._roster.set_private(await self._database.do(privacy.private_ids))

    async def follow(self, generation: int) -> None:
        """Take over changed names and pictures. `generation`: that is written whole; 0 for none."""
        if generation and generation != self._compared:
            await self._compare()
            self._compared = generation
        changes = self._roster.changes
        renamed, redrawn = changes.renamed, changes.redrawn
        if not (renamed or redrawn):
            return
        changes.renamed, changes.redrawn = set(), set()
        found = ((chat_id, self._member(chat_id)) for chat_id in renamed | redrawn)
        changed = {chat_id: member for chat_id, member in found if member is not None}
        try:
            await self._database.do(pictures.follow, changed, redrawn)
        except BaseException:  # and another one tries again, or the last act of this one
            self._roster.changes.renamed |= renamed
            self._roster.changes.redrawn |= redrawn
            raise

    async def _compare(self) -> None:
        """Compare all linked accounts with the roster, in batches, so that other work goes on."""
        position: int | None = 0
        while position is not None and self._is_leader():
            position = await self._database.do(pictures.compare, self._member, position)

    def _member(self, chat_id: int) -> Json | None:
        entry = self._roster.members.get(chat_id)
        return None if entry is None else json.loads(entry.member)
