"""When members were last seen online: durable in the database, because no snapshot of the platform tells it.

Timestamps are whole UNIX seconds. Where the database fails (`django.db.Error`), each call may be repeated.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime

from django.db import connection, transaction

from presence import fields
from presence.answer import presentation
from presence.gateway.roster import Roster
from presence.models import LastOnline
from presence.store.records import Ending
from presence.store.store import PresenceStore, StoreState
from presence.worker.background import Background

AT_ONCE = 500

logger = logging.getLogger(__name__)


def keep(timestamps: Mapping[int, int]) -> None:
    """Store when these members went offline; the later of two timestamps stays. One statement for 500 members.

    Ids and timestamps out of the database's range are logged and left out.
    """
    rows = []
    for chat_id, at in sorted(timestamps.items()):  # by id, against deadlocks of two writers
        if 0 <= chat_id <= fields.MAX_ID and 0 <= at < 253_402_300_800:  # the year 10000
            rows.append((chat_id, datetime.fromtimestamp(at, UTC)))
        else:
            logger.warning("A moment of going offline is out of range: %s.", repr((chat_id, at))[:80])
    for start in range(0, len(rows), AT_ONCE):
        _upsert(rows[start : start + AT_ONCE])


def all_of() -> dict[int, int]:
    """Return the timestamp of every member, as numbers, because a new leader waits for a million of them."""
    seconds = (
        "EXTRACT(EPOCH FROM at)::bigint"
        if connection.vendor == "postgresql"
        else "CAST(strftime('%%s', at) AS INTEGER)"
    )
    timestamps: dict[int, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT chat_id, {seconds} FROM presence_lastonline", ())  # noqa: S608 - one of two constants
        while rows := cursor.fetchmany(10_000):
            timestamps.update(rows)
    return timestamps


def forget(chat_ids: Collection[int]) -> None:
    """Delete the rows of members who have left: joining is the opt-in."""
    ids = sorted(chat_id for chat_id in chat_ids if 0 <= chat_id <= fields.MAX_ID)
    for start in range(0, len(ids), AT_ONCE):
        LastOnline.objects.filter(chat_id__in=ids[start : start + AT_ONCE]).delete()


def retain(chat_ids: Collection[int]) -> None:
    """Delete the rows of all but these, the present members."""
    members = set(chat_ids)
    stored = LastOnline.objects.values_list("chat_id", flat=True).iterator(chunk_size=10_000)
    forget([chat_id for chat_id in stored if chat_id not in members])


def _upsert(rows: list[tuple[int, datetime]]) -> None:
    """Insert or update `rows`, sorted by id."""
    adapted = connection.ops.adapt_datetimefield_value
    values = [value for chat_id, at in rows for value in (chat_id, adapted(at))]
    places = ", ".join(["(%s, %s)"] * len(rows))
    sql = f"""
        INSERT INTO presence_lastonline (chat_id, at) VALUES {places}
        ON CONFLICT (chat_id) DO UPDATE SET at = EXCLUDED.at WHERE presence_lastonline.at < EXCLUDED.at
    """  # noqa: S608 - only placeholders are put in
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, values)


class LastSeen:
    """Last timestamps that the writing worker knows, from the earlier writer's records and the database."""

    def __init__(self, roster: Roster, store: PresenceStore, background: Background, database: Background) -> None:
        self._roster, self._store, self._background, self._database = roster, store, background, database
        self._unread_before: set[int] = set()  # members whose record by the earlier writer is not read yet
        self._complete = 0
        self._alive_at: float | None = None
        self._kept: dict[int, int] = {}

    async def load_previous(self, state: StoreState) -> None:
        """Read the stored timestamps when this worker begins to write. Raises database errors; can be retried."""
        self._complete, self._alive_at = state.generation, state.alive_at
        self._kept = await self._database.do(all_of)
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
        timestamps, changes.offline_at = changes.offline_at, {}
        departed, changes.departed = changes.departed, set()
        try:
            await self._database.do(_keep, timestamps, departed)
        except BaseException:  # a cancellation too: this worker's last action is to keep them
            changes = self._roster.changes
            changes.departed |= departed
            for chat_id in timestamps.keys() & self._roster.members.keys():
                changes.offline_at.setdefault(chat_id, timestamps[chat_id])
            raise

    async def retain_members(self) -> None:
        """Delete timestamps of members that have left, after a complete reconcile."""
        await self._database.do(retain, set(self._roster.members))

    def _restore(self, chat_id: int, ending: Ending | None) -> None:
        entry, kept = self._roster.members.get(chat_id), self._kept.get(chat_id)
        if entry is None:
            return
        known = [kept, entry.last_online, ending.last_online if ending else None]
        is_offline = entry.is_settled and not entry.is_online
        if (
            ending
            and is_offline
            and self._alive_at is not None
            and presentation.status_of(ending.presence()) != presentation.OFFLINE
        ):
            known.append(int(self._alive_at))
        latest = max((at for at in known if at is not None), default=None)
        if latest is None:
            return
        self._roster.note_offline(chat_id, entry, latest)
        if latest != kept:
            self._roster.changes.offline_at[chat_id] = latest
        else:
            self._roster.changes.offline_at.pop(chat_id, None)


def _keep(timestamps: dict[int, int], departed: set[int]) -> None:
    """Store the timestamps, in the background. A member that left and came back keeps the later timestamp."""
    if departed:
        forget(departed)
    if timestamps:
        keep(timestamps)
