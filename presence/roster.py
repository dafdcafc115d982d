"""All members of the chat server with their presences, as the gateway tells of them.

Kept in memory, so with little of it: JSON text instead of objects (about a third). Nothing here waits, reads a clock or
raises on a bad payload: that is skipped, counted, and logged once for each kind.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from presence import payloads, status
from presence.feed import Dispatch
from presence.fields import Json
from presence.records import text_of

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Entry:
    """One member. `presence`: None for offline. `epoch`: the reconcile that last listed the member.

    `is_settled`: the presence is known; until then nobody is told of the member. Nobody is offline for lack of news.
    """

    member: str
    presence: str | None = None
    is_online: bool = False
    is_settled: bool = False
    epoch: int = 0
    touched_at: float = 0.0
    last_online: int | None = None


@dataclass(slots=True)
class Changes:
    """What came up since somebody last took it. Bounded by the number of members, never by that of events."""

    dirty: set[int] = field(default_factory=set)  # to be written; who is not in the roster, to be deleted
    since: float | None = None  # when the first event behind `dirty` came, in UNIX seconds
    asked: set[int] = field(default_factory=set)  # to be looked up
    joined: set[int] = field(default_factory=set)
    left: set[int] = field(default_factory=set)  # by their own event: the account exists
    departed: set[int] = field(default_factory=set)  # to be forgotten, however that came out
    updated: set[int] = field(default_factory=set)  # the member has a new record, maybe a new banner
    renamed: set[int] = field(default_factory=set)  # the user has a new name
    redrawn: set[int] = field(default_factory=set)  # the user has a new picture, or none any more
    offline_at: dict[int, int] = field(default_factory=dict)  # the new `last_online`

    def write_too(self, earlier: Changes) -> None:
        """What was to be written then is to be written now."""
        self.dirty |= earlier.dirty
        self.joined |= earlier.joined
        self.left |= earlier.left
        self.updated |= earlier.updated


class Roster:
    """`now` and other moments are UNIX seconds."""

    def __init__(self, guild_id: int) -> None:
        self.guild_id = guild_id
        self.members: dict[int, Entry] = {}
        self.changes = Changes()
        self.epoch = 0
        self.bad: Counter[str] = Counter()
        self._gap_at: float | None = None  # until when it was known who is offline, where that is not now
        # While a reconcile runs: what was told live since is newer than its chunks, whenever those come.
        self._is_reconciling = False
        self._told_member: set[int] = set()
        self._told_presence: set[int] = set()
        self._told_leaving: set[int] = set()

    def text(self, chat_id: int, generation: int) -> str | None:
        """The member's record, as `Record.to_text` writes it; None where there is none to be told of."""
        entry = self.members.get(chat_id)
        if entry is None or not entry.is_settled:
            return None
        last = "null" if entry.last_online is None else str(entry.last_online)
        touched = f"{entry.touched_at:.3f}"
        return f'{{"m":{entry.member},"p":{entry.presence or "null"},"g":{generation},"t":{touched},"l":{last}}}'

    def complain(self, kind: str) -> None:
        """Note a bad payload."""
        self.bad[kind] += 1
        if self.bad[kind] == 1:
            logger.warning("The chat platform sent a bad %s; it is skipped, and further ones are only counted.", kind)

    # --- Reconciles ---

    def open_epoch(self, gap_at: float | None) -> None:
        """A reconcile begins. `gap_at`: when the members were last known, if events have been missed since."""
        self.epoch += 1
        self._is_reconciling = True
        self._gap_at = gap_at
        for told in (self._told_member, self._told_presence, self._told_leaving):
            told.clear()

    def close_epoch(self) -> None:
        """Every chunk is there: members whom none has listed have left."""
        for chat_id in [chat_id for chat_id, entry in self.members.items() if entry.epoch < self.epoch]:
            self._delete(chat_id)
        self._is_reconciling = False
        self._gap_at = None
        for told in (self._told_member, self._told_presence, self._told_leaving):
            told.clear()

    def take_chunk(self, payload: Json, *, is_full: bool, now: float) -> bool:
        """Members with their presences; who is listed without one is offline. False: it is bad, and counts as lost.

        `is_full`: of the running reconcile. Else the answer to a question for some ids: their records are written anew
        even when nothing changed, for those who wait.
        """
        members, presences = payloads.rows(payload, "members"), payloads.rows(payload, "presences")
        if members is None or presences is None:
            self.complain("GUILD_MEMBERS_CHUNK")
            return False
        rows = {chat_id: row for row in presences if (chat_id := payloads.user_id_of(row)) is not None}
        for member in members:
            chat_id = payloads.user_id_of(member)
            if chat_id is None:
                self.complain("member in a chunk")
            elif not (is_full and chat_id in self._told_leaving):
                self._take_row(chat_id, member, rows.get(chat_id), is_full=is_full, now=now)
        if not is_full:
            for chat_id in payloads.ids(payload, "not_found"):
                self._delete(chat_id)
        return True

    def _take_row(self, chat_id: int, member: Json, row: Json | None, *, is_full: bool, now: float) -> None:
        entry = self.members.get(chat_id)
        if entry is None:
            entry = self.members[chat_id] = Entry(text_of(payloads.member_of(member)))
            self.changes.dirty.add(chat_id)
        elif not (is_full and chat_id in self._told_member):
            self._replace_member(chat_id, entry, member)
        if not (is_full and chat_id in self._told_presence):
            presence = None if row is None else payloads.presence_of(row)
            if row is not None and presence is None:
                self.complain("presence in a chunk")
            else:
                self._set_presence(chat_id, entry, presence, now if self._gap_at is None else self._gap_at)
        entry.epoch = self.epoch
        entry.touched_at = now
        if not is_full:
            self.changes.dirty.add(chat_id)

    # --- Live events ---

    def apply(self, event: Dispatch, now: float) -> None:
        """A live event about members; any other is none of the roster's business."""
        payload = event.payload
        if event.name not in _LIVE or not payloads.is_of(self.guild_id, payload):
            return
        chat_id = payloads.user_id_of(payload)
        if chat_id is None:
            self.complain(event.name)
        elif event.name == "PRESENCE_UPDATE":
            self._take_presence(chat_id, payload, now)
        elif event.name == "GUILD_MEMBER_REMOVE":
            self._delete(chat_id)
            self.changes.left.add(chat_id)
            self._told_leaving.add(chat_id)
        else:
            self._take_member(chat_id, payload, now, is_join=event.name == "GUILD_MEMBER_ADD")

    def _take_member(self, chat_id: int, payload: Json, now: float, *, is_join: bool) -> None:
        entry = self.members.get(chat_id)
        if entry is None or is_join:
            self.changes.joined.add(chat_id)
            self.changes.left.discard(chat_id)
            self.changes.asked.add(chat_id)  # its presence
        if entry is None:
            entry = self.members[chat_id] = Entry(text_of(payloads.member_of(payload)))
        else:
            self._replace_member(chat_id, entry, payload)
            self.changes.updated.add(chat_id)
        entry.epoch = self.epoch
        self._told_leaving.discard(chat_id)
        if self._is_reconciling:
            self._told_member.add(chat_id)
        self._touch(chat_id, entry, now)

    def _take_presence(self, chat_id: int, payload: Json, now: float) -> None:
        presence, entry = payloads.presence_of(payload), self.members.get(chat_id)
        if presence is None:
            self.complain("PRESENCE_UPDATE")
            self.changes.asked.add(chat_id)  # something has changed
        elif entry is None:
            self.changes.asked.add(chat_id)
        else:
            self._set_presence(chat_id, entry, presence, now)
            if self._is_reconciling:
                self._told_presence.add(chat_id)
            self._touch(chat_id, entry, now)

    # --- Entries ---

    def _replace_member(self, chat_id: int, entry: Entry, row: Json) -> None:
        old = json.loads(entry.member)
        new = payloads.merged(old, payloads.member_of(row))
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
        """`offline_at`: when the member was last online, should this be the news that it no longer is."""
        text = None if presence is None else text_of(presence)
        is_online = status.of(presence) != status.OFFLINE
        if entry.is_online and not is_online:
            self.note_offline(chat_id, entry, int(offline_at))
        if text != entry.presence or not entry.is_settled:
            self.changes.dirty.add(chat_id)
        entry.presence, entry.is_online, entry.is_settled = text, is_online, True

    def note_offline(self, chat_id: int, entry: Entry, at: int) -> None:
        """Move `last_online` on to this moment; never back."""
        if entry.last_online is None or at > entry.last_online:
            entry.last_online = at
            self.changes.offline_at[chat_id] = at
            self.changes.dirty.add(chat_id)

    def _touch(self, chat_id: int, entry: Entry, now: float) -> None:
        entry.touched_at = now
        self.changes.dirty.add(chat_id)
        if self.changes.since is None:
            self.changes.since = now

    def _delete(self, chat_id: int) -> None:
        self.members.pop(chat_id, None)
        self.changes.dirty.add(chat_id)
        self.changes.departed.add(chat_id)
        self.changes.offline_at.pop(chat_id, None)
        changes = self.changes
        for names in (changes.joined, changes.updated, changes.renamed, changes.redrawn, changes.asked):
            names.discard(chat_id)

    def forget_changes(self) -> Changes:
        """Nobody will write them, unless the caller does. What is to be looked up stays."""
        forgotten, self.changes = self.changes, Changes(asked=self.changes.asked)
        return forgotten

    def settled(self) -> Iterable[int]:
        """The ids of those who can be told of."""
        return [chat_id for chat_id, entry in self.members.items() if entry.is_settled]


_LIVE = frozenset({"PRESENCE_UPDATE", "GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE"})
