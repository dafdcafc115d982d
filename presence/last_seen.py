"""When members were last seen online, kept across restarts: read from store and database, written to the database."""

from __future__ import annotations

from collections.abc import Iterable

from presence import last_online, status
from presence.background import Background
from presence.records import Ending
from presence.roster import Roster
from presence.store import PresenceStore, StoreState


class LastSeen:
    """Used by the worker that writes."""

    def __init__(self, roster: Roster, store: PresenceStore, background: Background, database: Background) -> None:
        self._roster, self._store, self._background, self._database = roster, store, background, database
        self._unread_before: set[int] = set()  # members whose record by the earlier writer is not read yet
        self._complete = 0
        self._alive_at: float | None = None
        self._kept: dict[int, int] = {}

    async def load_previous(self, state: StoreState) -> None:
        """Read the stored timestamps when this worker begins to write. Raises database errors; can be retried."""
        self._complete, self._alive_at = state.generation, state.alive_at
        self._kept = await self._database.do(last_online.all_of)
        self._unread_before = set(self._roster.members)

    async def inherit(self, chat_ids: Iterable[int]) -> None:
        """Take over what the earlier writer knew of these, before their records are overwritten for the first time.

        A member that was online in its record and is offline now was last seen at that writer's last stamp. A new
        member has no timestamp. Raises StoreUnavailable; can be retried.
        """
        unread = [chat_id for chat_id in chat_ids if chat_id in self._unread_before]
        if not unread:
            return
        stored = await self._background.do(self._store.texts, unread)
        for chat_id in unread:
            ending = Ending(stored[chat_id]) if chat_id in stored else None
            is_current = ending is not None and 0 < self._complete <= ending.generation
            self._restore(chat_id, ending if is_current else None)
        self._unread_before.difference_update(unread)
        if not self._unread_before:
            self._kept = {}

    async def keep(self) -> None:
        """Write what is new since the last call, as one batch. Raises database errors and loses nothing then."""
        changes = self._roster.changes
        moments, changes.offline_at = changes.offline_at, {}
        departed, changes.departed = changes.departed, set()
        try:
            await self._database.do(_keep, moments, departed)
        except BaseException:  # a cancellation too: this worker's last act is to keep them
            changes = self._roster.changes
            changes.departed |= departed
            for chat_id in moments.keys() & self._roster.members.keys():
                changes.offline_at.setdefault(chat_id, moments[chat_id])
            raise

    async def retain_members(self) -> None:
        """After a complete reconcile: delete timestamps of members that have left."""
        await self._database.do(last_online.retain, set(self._roster.members))

    def _restore(self, chat_id: int, ending: Ending | None) -> None:
        entry, kept = self._roster.members.get(chat_id), self._kept.get(chat_id)
        if entry is None:
            return
        known = [kept, entry.last_online, ending.last_online if ending else None]
        is_offline = entry.is_settled and not entry.is_online
        if ending and is_offline and self._alive_at is not None and status.of(ending.presence()) != status.OFFLINE:
            known.append(int(self._alive_at))
        latest = max((at for at in known if at is not None), default=None)
        if latest is None:
            return
        self._roster.note_offline(chat_id, entry, latest)
        if latest != kept:
            self._roster.changes.offline_at[chat_id] = latest
        else:
            self._roster.changes.offline_at.pop(chat_id, None)


def _keep(moments: dict[int, int], departed: set[int]) -> None:
    """Runs in the background. A member that left and came back keeps the later timestamp."""
    if departed:
        last_online.forget(departed)
    if moments:
        last_online.keep(moments)
