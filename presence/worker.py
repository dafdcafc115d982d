"""The gateway worker: feed → roster → store. One event loop; whatever may wait for a server happens in the background.

Several workers may run at once, all of them connected; the one with the lease writes. It is READY while the session
lives and the roster has every member; only then it writes, and says that the store holds the truth.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from django.db import Error as AnyDatabaseError

from accounts import jobs
from presence.background import Background
from presence.feed import GatewayFeed
from presence.fields import Json
from presence.flushing import Flusher
from presence.following import Follower
from presence.intervals import Intervals
from presence.last_seen import LastSeen
from presence.lease import Lease
from presence.linked_account_sync import LinkedAccounts
from presence.liveness import Liveness
from presence.member_refetch import MemberRefetch
from presence.reconciling import Reconciler
from presence.roster import Roster
from presence.session import Session
from presence.store import LeaseLost, PresenceStore, StoreUnavailable

STATS_ARE_OLD = 10.0  # seconds without a stamp: then a worker that does not lead tells of itself

logger = logging.getLogger(__name__)


class Worker:
    """One of them. `run` it on an event loop of its own; `stop` it from there."""

    def __init__(
        self, *, guild_id: int, feed: GatewayFeed, store: PresenceStore, intervals: Intervals | None = None
    ) -> None:
        self.roster = Roster(guild_id)
        self._feed, self._store, self._intervals = feed, store, intervals or Intervals()
        self._background = Background("presence store")
        self._renewing = Background("presence lease")  # a store that takes long must not cost the lease
        self._database = Background("presence database")  # nor may a database hold up the store
        self._lease = Lease(store)
        self._reconciler = Reconciler(self.roster, feed, self._intervals)
        self._refetch = MemberRefetch(self.roster, feed, self._intervals)
        liveness = Liveness(feed, self._intervals, guild_id=guild_id)
        self._session = Session(self.roster, self._reconciler, self._refetch, liveness)
        self._last_seen = LastSeen(self.roster, store, self._background, self._database)
        self._linked = LinkedAccounts(self.roster, self._database, is_leader=lambda: self.is_leader)
        self._flusher = Flusher(
            self.roster, store=store, moments=self._last_seen, background=self._background, intervals=self._intervals
        )
        self._ending = asyncio.Event()
        self._troubles: set[str] = set()
        self._retained = 0  # the last generation for which it was done
        self._dumped_epoch = 0
        self._ready_at = 0.0  # when it was last so, by the monotonic clock
        self._asked_position = 0
        self._follower = Follower(self.roster, self._intervals)

    @property
    def is_leader(self) -> bool:
        """Whether this worker's term runs."""
        return self._lease.holds(time.monotonic())

    def stop(self) -> None:
        """End `run`, within about 3 seconds."""
        self._ending.set()

    async def run(self) -> None:
        """Until `stop`. FatalFeedError where the platform refuses this bot for good."""
        feed = asyncio.create_task(self._feed.run(self._session.tell))
        ending = asyncio.create_task(self._ending.wait())
        writing = asyncio.create_task(self._write_forever())
        loops = [asyncio.create_task(self._every(seconds, act)) for seconds, act in self._duties()]
        try:
            await asyncio.wait([feed, ending, writing, *loops], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._ending.set()
            ending.cancel()
            await self._end(feed, writing, loops)
        for task in (feed, writing, *loops):
            if task.done() and not task.cancelled():
                task.result()  # raises what ended it

    def _duties(self) -> list[tuple[float, Callable[[], Awaitable[None]]]]:
        intervals = self._intervals
        return [
            (intervals.look, self._look),
            (intervals.lease, self._see_to_lease),
            (intervals.asked, self._read_wishes),
            (intervals.offline_at, self._keep_last_seen),
            (intervals.pictures, self._follow_pictures),
            (intervals.privacy, self._follow_privacy),
            (intervals.stats, self._tell_stats),
        ]

    # --- Writing ---

    async def _write_forever(self) -> None:
        while not self._ending.is_set():
            is_more = await self._trying("store", self._write, self._intervals.after_store_error)
            if not is_more:
                await asyncio.sleep(self._intervals.flush)

    async def _write(self) -> bool:
        """Whether there is more to write at once."""
        if not self._may_write():
            return False
        epoch = self._reconciler.completed_epoch
        if not self._flusher.generation or self._flusher.token != self._lease.token:
            await self._begin()
            self._dumped_epoch = epoch
        elif epoch != self._dumped_epoch:
            await self._flusher.begin_dump(is_repeat=self._reconciler.begun_epoch <= self._dumped_epoch)
            self._dumped_epoch = epoch
        try:
            return self._may_write() and await self._flusher.flush()
        except LeaseLost:
            self._lease.lose(self._flusher.token)
            return False

    async def _begin(self) -> None:
        """Begin to write, in a new term or into a store that lost something."""
        token = self._lease.token
        state = await self._background.do(self._store.state)
        await self._last_seen.load_previous(state)
        await self._linked.read_privacy()  # no record is written before it is known who is private
        if self._flusher.token != token:
            self._flusher.begin_term(token)
            is_close = self._follower.take_over(state)
            if is_close:
                self._flusher.adopt(state)
        else:
            is_close = False
        await self._flusher.begin_dump(is_repeat=is_close)

    def _may_write(self) -> bool:
        return self.is_leader and self._session.is_ready

    # --- The lease ---

    async def _see_to_lease(self) -> None:
        now = time.monotonic()
        if self._session.is_ready:
            self._ready_at = now
        if not self._lease.token:
            state = await self._renewing.do(self._store.state)
            self._follower.look(state, epoch=self._reconciler.completed_epoch, now=now)
        if self._session.is_ready:
            token = self._lease.token
            if await self._renewing.do(self._lease.take) and self._lease.token != token:
                logger.info("This worker writes presence now.")
                if policy := await self._background.do(self._store.eviction):
                    logger.error("Redis may evict members (maxmemory-policy %s): set noeviction.", policy)
        elif now - self._ready_at < self._intervals.leader_not_ready:
            await self._renewing.do(self._lease.renew)
        elif self._lease.token:
            logger.warning("This worker has no complete session and gives the writing back.")
            await self._background.do(self._lease.release)  # there: after the write that is under way

    # --- Other duties ---

    async def _look(self) -> None:
        if self._session.is_open and self._session.is_guild_there:
            await self._session.liveness.tick()
            await self._reconciler.look(time.monotonic())
            await self._refetch.tick(time.monotonic())

    async def _read_wishes(self) -> None:
        """Of readers who miss a member, or find its record untouched for long."""
        chat_ids, self._asked_position = await self._background.do(self._store.pending_refreshes, self._asked_position)
        self._refetch.enqueue(chat_ids)
        self.roster.changes.dirty.update(self.roster.members.keys() & chat_ids)  # the store may have lost the record

    async def _keep_last_seen(self) -> None:
        if self.is_leader and self._flusher.generation:
            await self._last_seen.keep()
            generation = self._flusher.generation
            if generation != self._retained and self._is_whole():
                await self._last_seen.retain_members()
                self._retained = generation

    async def _follow_pictures(self) -> None:
        if self.is_leader:
            await self._linked.follow(self._flusher.generation if self._is_whole() else 0)

    async def _follow_privacy(self) -> None:
        if self.is_leader:
            await self._linked.read_privacy()

    def _is_whole(self) -> bool:
        """Whether the roster is the truth, and written."""
        return self._session.is_ready and not self._flusher.is_dumping

    async def _tell_stats(self) -> None:
        if not self.is_leader:
            alive_at = await self._background.do(self._store.alive_at)
            if alive_at is not None and time.time() - alive_at < STATS_ARE_OLD:
                return
        await self._background.do(self._store.keep_stats, self.stats())

    def stats(self) -> Json:
        """About this worker, for the admin. Times in milliseconds, `at` in UNIX seconds."""
        return {
            "at": int(time.time()),
            "worker": self._lease.holder,
            "connected": self._session.is_open,
            "ready": self._session.is_ready,
            "leader": self.is_leader,
            "members": len(self.roster.members),
            "epoch": self.roster.epoch,
            "generation": self._flusher.completed,
            "identifies_left": self._feed.identifies_left,
            "reconnects": dict(self._session.lost),
            "dirty": len(self.roster.changes.dirty),
            "flush_ms": round(self._flusher.last_ms, 1),
            "lag_ms": round(self._flusher.lag_ms, 1),
            "rate_limited": self._reconciler.rate_limited,
            "bad_payloads": dict(self.roster.bad),
        }

    # --- How it goes on, and ends ---

    async def _every(self, seconds: float, act: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._trying(act.__name__.strip("_"), act, 0)
            await asyncio.sleep(seconds)

    async def _trying(self, name: str, act: Callable[[], Awaitable[bool | None]], pause: float) -> bool:
        """What `act` returns. A store or database that does not answer is logged once until it does again."""
        try:
            result = await act()
        except (StoreUnavailable, AnyDatabaseError) as error:
            if name not in self._troubles:
                self._troubles.add(name)
                logger.warning("The presence worker waits (%s): %s", name, jobs.described(error))
            await asyncio.sleep(pause)
            return False
        if name in self._troubles:
            self._troubles.discard(name)
            logger.warning("The presence worker goes on (%s).", name)
        return bool(result)

    async def _end(
        self, feed: asyncio.Task[None], writing: asyncio.Task[None], loops: list[asyncio.Task[None]]
    ) -> None:
        """The last flush, the lease, the session; nothing of it may hold up the end for long."""
        for task in loops:
            task.cancel()
        await asyncio.wait([writing], timeout=self._intervals.ending)
        is_answering = not writing.cancel()  # the store
        if self.is_leader and is_answering:
            await _briefly(self._write_the_rest(), self._intervals.ending)
        if self.is_leader:
            await _briefly(self._background.do(self._lease.release), self._intervals.ending / 2)
        await self._feed.close()
        await asyncio.wait([feed], timeout=2)
        feed.cancel()
        for background in (self._background, self._renewing, self._database):
            await background.close(self._intervals.ending / 2)

    async def _write_the_rest(self) -> None:
        while await self._trying("store", self._write, 0):
            pass
        await self._trying("keep_last_seen", self._keep_last_seen, 0)


async def _briefly(work: Awaitable[None], seconds: float) -> None:
    try:
        await asyncio.wait_for(work, seconds)
    except TimeoutError:
        logger.warning("The presence worker ends without waiting for the store.")
