"""Writes the roster into the store: changes in small batches, and a dump of every member under each generation.

The set of changed members is the queue: it is bounded by the number of members, and only the last of several changes of
one member is written. Members that the store did not take stay in it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from enum import Enum
from itertools import count, islice

from presence.gateway.roster import Roster
from presence.intervals import Intervals
from presence.store.store import LeaseLost, PresenceStore, StoreState, StoreUnavailable
from presence.worker.background import Background
from presence.worker.last_seen import LastSeen

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Batch:
    """The records that one call in the background writes. `stamp`: None for none."""

    changed: list[int]
    dumped: list[int]  # of the dump
    texts: dict[int, str] = field(default_factory=dict)
    removed: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    updated: list[int] = field(default_factory=list)
    since: float | None = None
    stamp: float | None = None


class Phase(Enum):
    """How much of the roster the store holds.

    ```
    NOTHING ──begin_dump──▶ DUMPING ──last batch──▶ WHOLE ──begin_dump──▶ DUMPING
    any ──the store lost a write, or a new term begins──▶ NOTHING
    ```
    """

    NOTHING = "nothing"
    DUMPING = "dumping"  # stamps go on in a repeat, because the store is up to date but for the changes
    WHOLE = "whole"


class Flusher:
    """The writer of a leading worker. `generation`: of its records, 0 before its first dump; `completed`: the last one
    that is written whole, 0 where there is none.

    Each write has a mark, and before the next one the store must still show it. Else the store came back with an older
    snapshot: then every member is written again under a newer generation.
    """

    def __init__(
        self,
        roster: Roster,
        *,
        store: PresenceStore,
        last_seen: LastSeen,
        background: Background,
        intervals: Intervals,
    ) -> None:
        self.generation = self.completed = 0
        self.last_ms = self.lag_ms = 0.0
        self._roster, self._store, self._last_seen = roster, store, last_seen
        self._background, self._intervals = background, intervals
        self.token = ""  # of the term
        self._dump: list[int] = []  # members still to be written under the generation
        self._numbers = count(1)  # of writes
        # Of the last write, and of a failed one after it, which the store may have taken.
        self._marks: tuple[str, ...] = ()
        self._stamped_at = 0.0

    def begin_term(self, token: str) -> None:
        """Write under this token from now on; writes of an earlier term do not count."""
        self.token = token
        self._reset()

    def _reset(self) -> None:
        self.generation = self.completed = 0
        self._dump, self._marks = [], ()

    def adopt(self, state: StoreState) -> None:
        """Go on with a store that lacks only the roster's changes, before the first dump of the term."""
        self.completed, self._marks = state.generation, (state.mark,) if state.mark else ()

    async def begin_dump(self, *, is_repeat: bool) -> None:
        """Begin to write every member under a new generation; its completion removes all older records.

        `is_repeat`: the store is up to date but for the changes; stamps go on once these are written. The number counts
        milliseconds, so that none is used twice, even after the store was emptied or a dump was broken off.
        """
        stored = await self._background.do(self._store.generation)
        self.generation = max(stored, self.generation, int(time.time() * 1000)) + 1
        self.completed = self.completed if is_repeat else 0
        dirty = self._roster.changes.dirty
        changed = [] if is_repeat else _taken(dirty, len(dirty))
        self._dump = [
            *(set(self._roster.settled()) - {*changed, *dirty}),
            *changed,
        ]  # written from its end

    @property
    def phase(self) -> Phase:
        if not self.generation:
            return Phase.NOTHING
        return Phase.WHOLE if self.generation == self.completed else Phase.DUMPING

    async def flush(self) -> bool:
        """Write one batch and stamp. Return whether the next batch should follow without a pause.

        After StoreUnavailable or LeaseLost the batch is queued again.
        """
        begun = time.monotonic()
        batch = self._batch(begun)
        if not (batch.changed or batch.dumped or batch.left or batch.updated or batch.stamp is not None):
            return await self._complete()
        try:
            await self._last_seen.inherit((*batch.changed, *batch.dumped))
            self._fill(batch)
            is_whole = await self._background.do(self._deliver, batch)
        except (StoreUnavailable, LeaseLost, asyncio.CancelledError):
            self._put_back(batch)
            raise
        if not is_whole:
            self._put_back(batch)
            self._begin_anew()
            return True
        self.last_ms = (time.monotonic() - begun) * 1000
        if batch.since is not None:
            self.lag_ms = (time.time() - batch.since) * 1000
        if batch.stamp is not None:
            self._stamped_at = begun
        is_more = bool(self._dump) or await self._complete()
        return is_more or len(self._roster.changes.dirty) >= self._intervals.flush_size

    def _batch(self, now: float) -> _Batch:
        """Return the members of the next batch, with a stamp where no changed member stays waiting."""
        changes, unix_now = self._roster.changes, time.time()
        batch = _Batch(_taken(changes.dirty, self._intervals.flush_size), [])
        if self.phase is Phase.DUMPING:
            first = max(len(self._dump) - self._intervals.dump_size, 0)
            batch.dumped, self._dump = self._dump[first:], self._dump[:first]
        batch.left = _taken(changes.left, self._intervals.flush_size)
        batch.updated = _taken(changes.updated, self._intervals.flush_size)
        if not changes.dirty:
            batch.since, changes.since = changes.since, None
            pause = self._intervals.stamp / 2 if batch.changed else self._intervals.stamp
            if self.completed and now - self._stamped_at >= pause:
                batch.stamp = unix_now
        return batch

    def _fill(self, batch: _Batch) -> None:
        """Add the records as they are now."""
        for chat_id in (*batch.changed, *batch.dumped):
            # Only a member with a known presence is written; the first presence queues any other again.
            text = self._roster.text(chat_id, self.generation)
            if text is not None:
                batch.texts[chat_id] = text
            elif chat_id not in self._roster.members:
                batch.removed.append(chat_id)
        changes = self._roster.changes
        changes.dirty.difference_update(batch.texts, batch.removed)
        batch.left = [one for one in batch.left if one not in self._roster.members and one not in self._roster.private]

    def _deliver(self, batch: _Batch) -> bool:
        """Write in the background. Return whether the store is as this worker left it."""
        if not self._is_last_writer():
            return False
        self._store.keep_departures(batch.left, token=self.token)  # before the records go
        if batch.texts or batch.removed:
            mark = f"{self.token} {next(self._numbers)}"
            if self._marks:
                self._marks = (*self._marks, mark)
            self._store.write(batch.texts, batch.removed, token=self.token, mark=mark)
            self._marks = (mark,)
        self._store.drop_banners(batch.updated, token=self.token)
        if batch.stamp is None:
            return True
        mark = self._marks[-1] if self._marks else ""
        return self._store.stamp(batch.stamp, generation=self.completed, token=self.token, mark=mark)

    def _is_last_writer(self) -> bool:
        """Return, in the background, whether the store is as this worker left it; true before its first write."""
        if not self._marks:
            return True
        mark = self._store.mark()
        if mark not in self._marks:
            return False
        self._marks = (mark,)
        return True

    def _put_back(self, batch: _Batch) -> None:
        changes = self._roster.changes
        changes.dirty.update(batch.changed)
        changes.left.update(batch.left)
        changes.updated.update(batch.updated)
        changes.since = batch.since if changes.since is None else changes.since
        self._dump.extend(batch.dumped)

    def _begin_anew(self) -> None:
        logger.warning("The presence store lacks what was written: everything is written anew.")
        self._reset()

    async def _complete(self) -> bool:
        """Declare a dump complete that has been written. Return whether it was, and a stamp is due."""
        if self.phase is not Phase.DUMPING or self._dump:
            return False
        is_whole = await self._background.do(self._declare, self.generation)
        if not is_whole:
            self._begin_anew()
            return True
        self.completed, self._stamped_at = self.generation, 0.0
        return True

    def _declare(self, generation: int) -> bool:
        """Declare the dump complete, in the background. False where the store has lost some of it.

        One that loses it after the check gets no stamp, so readers do not take it for complete.
        """
        if not self._is_last_writer():
            return False
        self._store.set_complete(generation, token=self.token)
        return True


def _taken(names: set[int], most: int) -> list[int]:
    """Remove at most `most` ids from the set and return them."""
    some = list(islice(names, most))
    names.difference_update(some)
    return some
