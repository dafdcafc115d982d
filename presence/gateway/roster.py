"""All members of the chat server with their presences, as the gateway sent them.

Kept in memory as JSON text, which takes a third of the memory of objects. Nothing here waits, reads a clock or raises
on a bad payload, which is skipped, counted, and logged once for each kind.

An answer is older than the events since its request: both are numbered in one order, and only newer replaces older.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from presence.answer import presentation
from presence.fields import Json
from presence.gateway import payloads
from presence.gateway.payloads import Dispatch
from presence.store.records import text_of

MOST_LEAVERS = 100_000  # former members whose departure is remembered

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Entry:
    """One member. `presence`: None for offline. `epoch`: the reconcile that last listed the member.

    `is_settled`: the presence is known; until then the member is written nowhere. `member_order`, `presence_order`: of
    the event or request that brought it; 0 for none.
    """

    member: str
    presence: str | None = None
    is_online: bool = False
    is_settled: bool = False
    epoch: int = 0
    member_order: int = 0
    presence_order: int = 0
    touched_at: float = 0.0
    last_online: int | None = None


@dataclass(slots=True)
class Changes:
    """Changes that wait to be taken. Bounded by the number of members, not of events."""

    dirty: set[int] = field(default_factory=set)  # to be written, or deleted where they have left
    since: float | None = None  # when the first event behind `dirty` came, in UNIX seconds
    asked: set[int] = field(default_factory=set)  # to be refetched
    left: set[int] = field(default_factory=set)  # misses to be written
    departed: set[int] = field(default_factory=set)  # rows of `last_online` to be deleted
    updated: set[int] = field(default_factory=set)  # the member has a new record, maybe a new banner
    renamed: set[int] = field(default_factory=set)  # the user has a new name
    redrawn: set[int] = field(default_factory=set)  # the user has a new picture, or none any more
    offline_at: dict[int, int] = field(default_factory=dict)  # the new `last_online`

    def merge(self, earlier: Changes) -> None:
        """Add the earlier changes that are still to be written."""
        self.dirty |= earlier.dirty
        self.left |= earlier.left
        self.updated |= earlier.updated


class Roster:
    """Times are UNIX seconds."""

    def __init__(self, guild_id: int) -> None:
        self.guild_id = guild_id
        self.members: dict[int, Entry] = {}
        self.changes = Changes()
        self.epoch = 0
        self.bad: Counter[str] = Counter()
        self.private: set[int] = set()  # chat ids, members or not
        self._gap_at: float | None = None  # since when presences may be out of date; None: they are not
        self._order = 0
        self._opened = 0  # the order of the last reconcile's beginning
        self._early: dict[int, Entry] | None = None  # presences of ids not listed yet; None: no reconcile runs
        self._left: dict[int, int] = {}  # id -> order; the latest at the end

    def next_order(self) -> int:
        """Return the number of the next event or request."""
        self._order += 1
        return self._order

    def text(self, chat_id: int, generation: int) -> str | None:
        """Return the record, as `Record.to_text` writes it; None for unknown members and without a known presence."""
        entry = self.members.get(chat_id)
        if entry is None or not entry.is_settled:
            return None
        last = "null" if entry.last_online is None else str(entry.last_online)
        touched, private = f"{entry.touched_at:.3f}", ',"x":true' if chat_id in self.private else ""
        ends = f'"g":{generation},"t":{touched},"l":{last}{private}'
        return f'{{"m":{entry.member},"p":{entry.presence or "null"},{ends}}}'

    def set_private(self, chat_ids: set[int]) -> None:
        """Replace the accounts whose presence is private."""
        self.changes.dirty |= (self.private ^ chat_ids) & self.members.keys()
        self.private = chat_ids

    def complain(self, kind: str) -> None:
        """Note a bad payload."""
        self.bad[kind] += 1
        if self.bad[kind] == 1:
            logger.warning("The chat platform sent a bad %s; it is skipped, and further ones are only counted.", kind)

    # --- Reconciles ---

    def open_epoch(self, gap_at: float | None) -> None:
        """Begin a reconcile. `gap_at`: when the members were last known, if events have been missed since."""
        self.epoch += 1
        self._opened = self.next_order()
        self._gap_at = gap_at
        self._early = {}

    def close_epoch(self) -> None:
        """End a reconcile after every chunk: members that none has listed have left."""
        for chat_id in [chat_id for chat_id, entry in self.members.items() if entry.epoch < self.epoch]:
            self._delete(chat_id, self._opened)
        self.changes.asked.update(self._early or ())
        self._gap_at = self._early = None

    def take_chunk(self, payload: Json, *, asked: int | None, now: float) -> bool:
        """Take members with their presences; a listed member without one is offline. False: a bad chunk counts as lost.

        `asked`: the order of the request for single members, 0 where it is unknown: then only unknown members count.
        None: the chunk is of the running reconcile.
        """
        members, presences = payloads.rows(payload, "members"), payloads.rows(payload, "presences")
        if members is None or presences is None:
            self.complain("GUILD_MEMBERS_CHUNK")
            return False
        rows = {chat_id: row for row in presences if (chat_id := payloads.user_id_of(row)) is not None}
        order = self._opened if asked is None else asked
        for member in members:
            chat_id = payloads.user_id_of(member)
            if chat_id is None:
                self.complain("member in a chunk")
            elif self._left.get(chat_id, -1) <= order:
                self._take_row(chat_id, member, rows.get(chat_id), order, now)
        if asked is not None:
            self._answer(payload, asked)
        return True

    def _answer(self, payload: Json, asked: int) -> None:
        """Write all these records again, because readers wait. Refetch members that had an event since."""
        missing = payloads.ids(payload, "not_found")
        for chat_id in [chat_id for chat_id in missing if self._known(chat_id) <= asked]:
            self._delete(chat_id, asked)
        for chat_id in (*missing, *filter(None, map(payloads.user_id_of, payload["members"]))):
            self.changes.dirty.add(chat_id)
            if 0 < asked < max(self._known(chat_id), self._left.get(chat_id, 0)):
                self.changes.asked.add(chat_id)

    def _take_row(self, chat_id: int, member: Json, row: Json | None, order: int, now: float) -> None:
        entry = self.members.get(chat_id)
        if entry is None:
            entry = self._add(chat_id, member)
        else:
            self._replace_member(chat_id, entry, member, is_older=order < entry.member_order)
        entry.member_order = max(entry.member_order, order)
        if order >= entry.presence_order:
            self._take_listed_presence(chat_id, entry, row, now)
            entry.presence_order = order
        if order >= self._opened:
            entry.epoch = self.epoch
        entry.touched_at = now

    def _take_listed_presence(self, chat_id: int, entry: Entry, row: Json | None, now: float) -> None:
        """Take the good fields of a bad presence; without a status among them a known presence stays."""
        presence = None if row is None else payloads.mended_presence_of(row)
        if row is not None and payloads.presence_of(row) is None:
            self.complain("presence in a chunk")
            if entry.is_settled and payloads.presence_of(presence or {}) is None:
                return
        # A member with an event after the beginning of the gap was online until then, at least.
        self._set_presence(chat_id, entry, presence, max(self._gap_at, entry.touched_at) if self._gap_at else now)

    def _known(self, chat_id: int) -> int:
        """Return the order of the last event or answer about a present member."""
        entry = self.members.get(chat_id) or (self._early or {}).get(chat_id)
        return 0 if entry is None else max(entry.member_order, entry.presence_order)

    # --- Live events ---

    def apply(self, event: Dispatch, now: float) -> None:
        """Apply a live event about members; ignore other events."""
        payload = event.payload
        if event.name not in _LIVE or not payloads.is_of(self.guild_id, payload):
            return
        chat_id = payloads.user_id_of(payload)
        if chat_id is None:
            self.complain(event.name)
        elif event.name == "PRESENCE_UPDATE":
            self._take_presence(chat_id, payload, now)
        elif event.name == "GUILD_MEMBER_REMOVE":
            self._delete(chat_id, self.next_order())
        else:
            self._take_member(chat_id, payload, now, is_join=event.name == "GUILD_MEMBER_ADD")

    def _take_member(self, chat_id: int, payload: Json, now: float, *, is_join: bool) -> None:
        entry = self.members.get(chat_id)
        if entry is None or is_join:
            self.changes.asked.add(chat_id)  # its presence
        if entry is None:
            entry = self._add(chat_id, payload)
        else:
            self._replace_member(chat_id, entry, payload)
            self.changes.updated.add(chat_id)
        entry.epoch = self.epoch
        entry.member_order = self.next_order()
        self._left.pop(chat_id, None)
        self._touch(chat_id, entry, now)

    def _take_presence(self, chat_id: int, payload: Json, now: float) -> None:
        presence, entry = payloads.presence_of(payload), self.members.get(chat_id)
        if presence is None:
            self.complain("PRESENCE_UPDATE")
        elif entry is None and self._early is not None:
            entry = self._early.setdefault(chat_id, Entry(""))  # the chunks will show whether it is a member
        if presence is None or entry is None:
            self.changes.asked.add(chat_id)  # something has changed
        else:
            self._set_presence(chat_id, entry, presence, now)
            entry.presence_order = self.next_order()
            self._touch(chat_id, entry, now)

    # --- Entries ---

    def _add(self, chat_id: int, row: Json) -> Entry:
        entry = (self._early or {}).pop(chat_id, None) or Entry("")
        entry.member = text_of(payloads.member_of(row))
        self.members[chat_id] = entry
        self.changes.dirty.add(chat_id)
        return entry

    def _replace_member(self, chat_id: int, entry: Entry, row: Json, *, is_older: bool = False) -> None:
        """Replace the member. An older row adds only fields that no newer one has: an event may leave out fields."""
        old, received = json.loads(entry.member), payloads.member_of(row)
        new = payloads.merged(received, old) if is_older else payloads.merged(old, received)
        text = text_of(new)
        if text == entry.member:
            return
        entry.member = text
        self.changes.dirty.add(chat_id)
        if old["user"].get("username") != new["user"].get("username"):
            self.changes.renamed.add(chat_id)
        if old["user"].get("avatar") != new["user"].get("avatar"):
            self.changes.redrawn.add(chat_id)

    def _set_presence(self, chat_id: int, entry: Entry, presence: Json | None, offline_at: float) -> None:
        """Set the presence. `offline_at`: when the member was last online, if it goes offline by this."""
        text = None if presence is None else text_of(presence)
        is_online = presentation.status_of(presence) != presentation.OFFLINE
        if entry.is_online and not is_online:
            self.note_offline(chat_id, entry, int(offline_at))
        if text != entry.presence or not entry.is_settled:
            self.changes.dirty.add(chat_id)
        entry.presence, entry.is_online, entry.is_settled = text, is_online, True

    def note_offline(self, chat_id: int, entry: Entry, at: int) -> None:
        """Move `last_online` forward to `at`."""
        if entry.last_online is None or at > entry.last_online:
            entry.last_online = at
            self.changes.offline_at[chat_id] = at
            self.changes.dirty.add(chat_id)

    def _touch(self, chat_id: int, entry: Entry, now: float) -> None:
        entry.touched_at = now
        self.changes.dirty.add(chat_id)
        self.changes.since = self.changes.since or now

    def _delete(self, chat_id: int, order: int) -> None:
        self.members.pop(chat_id, None)
        (self._early or {}).pop(chat_id, None)
        for names in (self.changes.dirty, self.changes.departed, self.changes.left):
            names.add(chat_id)
        self.changes.offline_at.pop(chat_id, None)
        changes = self.changes
        for names in (changes.updated, changes.renamed, changes.redrawn, changes.asked):
            names.discard(chat_id)
        self._left[chat_id] = max(order, self._left.pop(chat_id, 0))
        if len(self._left) > MOST_LEAVERS:
            del self._left[next(iter(self._left))]

    def forget_changes(self) -> Changes:
        """Take all changes out but the members to be refetched."""
        forgotten, self.changes = self.changes, Changes(asked=self.changes.asked)
        return forgotten

    def settled(self) -> Iterable[int]:
        """Return the ids of members with a known presence."""
        return [chat_id for chat_id, entry in self.members.items() if entry.is_settled]


_LIVE = frozenset({"PRESENCE_UPDATE", "GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE"})
