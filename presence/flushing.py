"""Writes the roster into the store: changes in small batches, and everything once under a generation of its own.

The set of changed members is all that waits: it is bounded by the number of members, and of several changes of one
member the last is written. What a store did not take stays in it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from itertools import count, islice

from presence.background import Background
from presence.intervals import Intervals
from presence.last_seen import LastSeen
from presence.roster import Roster
from presence.store import LeaseLost, PresenceStore, StoreState, StoreUnavailable

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Batch:
    """What one call in the background writes. `stamp`: None for none."""

    changed: list[int]
    dumped: list[int]  # whom the dump named
    texts: dict[int, str] = field(default_factory=dict)
    gone: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    updated: list[int] = field(default_factory=list)
    since: float | None = None
    stamp: float | None = None


class Flusher:
    """Of a worker that leads. `generation`: under which it writes, 0 before its first dump; `completed`: the one that
    is written whole, 0 until then, and again once the store was found to lack something.

    Each write has a mark, and before the next one the store must still show it. Else the store came back with an older
    snapshot: then everything is written anew, under a newer generation.
    """

    def __init__(
        self,
        roster: Roster,
        *,
        store: PresenceStore,
        moments: LastSeen,
        background: Background,
        intervals: Intervals,
    ) -> None:
        self.generation = self.completed = 0
        self.last_ms = self.lag_ms = 0.0
        self._roster, self._store, self._last_seen = roster, store, moments
        self._background, self._intervals = background, intervals
        self.token = ""  # of the term
        self._dump: list[int] = []  # who is still to be written under the generation
        self._numbers = count(1)  # of writes
        self._marks: tuple[
            str, ...
        ] = ()  # of the last write, and of one after it that failed: it may have come through
        self._stamped_at = 0.0

    def begin_term(self, token: str) -> None:
        """From now on write under this token; nothing that an earlier term wrote counts."""
        self.token = token
        self._reset()

    def _reset(self) -> None:
        self.generation = self.completed = 0
        self._dump, self._marks = [], ()

    def adopt(self, state: StoreState) -> None:
        """Go on with a store that lacks nothing but the roster's changes, before the first dump of the term."""
        self.completed, self._marks = state.generation, (state.mark,) if state.mark else ()

    async def begin_dump(self, *, is_repeat: bool) -> None:
        """Write everybody under a new generation: from its completion on, whoever is not in the roster is no member.

        `is_repeat`: the store holds the truth already, but for the changes; stamps go on once those are written. The
        clock takes part in the number: none is used twice, also where the store was emptied or a dump never ended.
        """
        stored = await self._background.do(self._store.generation)
        self.generation = max(stored, self.generation, int(time.time() * 1000)) + 1
        self.completed = self.completed if is_repeat else 0
        dirty = self._roster.changes.dirty
        changed = [] if is_repeat else _taken(dirty, len(dirty))
        self._dump = [*(set(self._roster.settled()) - {*changed, *dirty}), *changed]  # from its end: news comes first

    @property
    def is_dumping(self) -> bool:
        """Whether a dump is still to be completed."""
        return self.generation != self.completed

    async def flush(self) -> bool:
        """Write what waits, at most a batch, and stamp. Whether so much more waits that there should be no pause.

        StoreUnavailable, LeaseLost: nothing is lost, call it again.
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
        self._note(batch, begun)
        is_more = bool(self._dump) or await self._complete()
        return is_more or len(self._roster.changes.dirty) >= self._intervals.flush_size

    def _batch(self, now: float) -> _Batch:
        """Whom it is about. With nobody changed left, it is up to now."""
        changes, unix_now = self._roster.changes, time.time()
        batch = _Batch(_taken(changes.dirty, self._intervals.flush_size), [])
        if self.is_dumping:
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
        """With what is known at this moment."""
        for chat_id in (*batch.changed, *batch.dumped):
            self._add(batch, chat_id)
        changes = self._roster.changes
        changes.dirty.difference_update(batch.texts, batch.gone)
        batch.left = [chat_id for chat_id in batch.left if chat_id not in self._roster.members]
        batch.left = [chat_id for chat_id in batch.left if chat_id not in self._roster.private]

    def _add(self, batch: _Batch, chat_id: int) -> None:
        """Somebody whose presence is not known yet is left out: the news of it names them again."""
        text = self._roster.text(chat_id, self.generation)
        if text is not None:
            batch.texts[chat_id] = text
        elif chat_id not in self._roster.members:
            batch.gone.append(chat_id)

    def _deliver(self, batch: _Batch) -> bool:
        """In the background. False: the store is not as this worker left it."""
        if not self._is_last_writer():
            return False
        self._store.keep_departures(batch.left, token=self.token)  # first: without a record and a miss nothing is known
        if batch.texts or batch.gone:
            self._write(batch)
        self._store.drop_banners(batch.updated, token=self.token)
        if batch.stamp is None:
            return True
        mark = self._marks[-1] if self._marks else ""
        return self._store.stamp(batch.stamp, generation=self.completed, token=self.token, mark=mark)

    def _is_last_writer(self) -> bool:
        """In the background. Whether the store is as this worker left it; so it is before its first write."""
        if not self._marks:
            return True
        mark = self._store.mark()
        if mark not in self._marks:
            return False
        self._marks = (mark,)
        return True

    def _write(self, batch: _Batch) -> None:
        mark = f"{self.token} {next(self._numbers)}"
        if self._marks:
            self._marks = (*self._marks, mark)
        self._store.write(batch.texts, batch.gone, token=self.token, mark=mark)
        self._marks = (mark,)

    def _put_back(self, batch: _Batch) -> None:
        changes = self._roster.changes
        changes.dirty.update(batch.changed)
        changes.left.update(batch.left)
        changes.updated.update(batch.updated)
        changes.since = batch.since if changes.since is None else changes.since
        self._dump.extend(batch.dumped)

    def _note(self, batch: _Batch, begun: float) -> None:
        """After a write that went well."""
        self.last_ms = (time.monotonic() - begun) * 1000
        self.lag_ms = self.lag_ms if batch.since is None else (time.time() - batch.since) * 1000
        if batch.stamp is not None:
            self._stamped_at = begun

    def _begin_anew(self) -> None:
        logger.warning("The presence store lacks what was written: everything is written anew.")
        self._reset()

    async def _complete(self) -> bool:
        """Where a dump is at its end: declare it. Whether there is more to do at once."""
        if not self.is_dumping or self._dump:
            return False
        is_whole = await self._background.do(self._declare, self.generation)
        if not is_whole:
            self._begin_anew()
            return True
        self.completed, self._stamped_at = self.generation, 0.0
        return True

    def _declare(self, generation: int) -> bool:
        """In the background. False: the store has lost some of the dump. Should it do so in this very moment, it gets
        no stamp: readers do not take it for whole."""
        if not self._is_last_writer():
            return False
        self._store.set_complete(generation, token=self.token)
        return True


def _taken(names: set[int], most: int) -> list[int]:
    """Some of the set, which are out of it then."""
    some = list(islice(names, most))
    names.difference_update(some)
    return some
