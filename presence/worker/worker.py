"""The gateway worker: feed → roster → store. One event loop; calls that may wait for a server run in the background.

Several workers may run at once, all of them connected; the one with the lease writes and stamps, while its roster is up
to date (`State`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from enum import Enum

from django.db import Error as AnyDatabaseError

from accounts import jobs
from presence.fields import Json
from presence.gateway.payloads import GatewayFeed
from presence.gateway.reconciling import MemberRefetch, Reconciler
from presence.gateway.roster import Roster
from presence.gateway.session import Liveness, Session, SessionState
from presence.intervals import Intervals
from presence.store.store import LeaseLost, PresenceStore, StoreUnavailable
from presence.worker.background import Background
from presence.worker.flushing import Flusher, Phase
from presence.worker.last_seen import LastSeen
from presence.worker.lease import Follower, Lease
from presence.worker.linked_account_sync import LinkedAccounts

STATS_ARE_OLD = 10.0  # seconds without a stamp: then a worker that does not lead writes its stats

logger = logging.getLogger(__name__)


class State(Enum):
    """The state of a worker. Session, lease and store change by themselves, so `state_of` decides it at each call.

    ```
    session    no term       a term
    not ready  CONNECTING    PAUSED: gives the lease back after 5 s
    ready      STANDBY       TAKING_OVER ──▶ DUMPING ──▶ LIVE;  PAUSED between the end of the lease and its renewal
    ```

    docs/architecture.md has the diagram of its changes.
    """

    CONNECTING = "connecting"
    STANDBY = "standby"  # keeps its roster up to date while another worker writes
    PAUSED = "paused"  # has a term and writes nothing
    TAKING_OVER = "taking over"  # may write; nothing of this term is in the store
    DUMPING = "dumping"
    LIVE = "live"  # the store holds every record of the roster


_WRITING = {Phase.NOTHING: State.TAKING_OVER, Phase.DUMPING: State.DUMPING, Phase.WHOLE: State.LIVE}


def state_of(session: SessionState, *, has_term: bool, is_leader: bool, phase: Phase) -> State:
    """Return the state. `is_leader`: the lease runs by the clock, too. `phase`: of this term."""
    is_ready = session is SessionState.READY
    if not has_term:
        return State.STANDBY if is_ready else State.CONNECTING
    return _WRITING[phase] if is_ready and is_leader else State.PAUSED


class Worker:
    """`run` it on an event loop of its own; `stop` it from there."""

    def __init__(
        self, *, guild_id: int, feed: GatewayFeed, store: PresenceStore, intervals: Intervals | None = None
    ) -> None:
        self.roster = Roster(guild_id)
        self._feed, self._store, self._intervals = feed, store, intervals or Intervals()
        self._background = Background("presence store")
        self._renewing = Background("presence lease")  # a slow store must not cost the lease
        self._database = Background("presence database")  # nor may a slow database hold up the store
        self._lease = Lease(store)
        self._reconciler = Reconciler(self.roster, feed, self._intervals)
        self._refetch = MemberRefetch(self.roster, feed, self._intervals)
        liveness = Liveness(feed, self._intervals, guild_id=guild_id)
        self._session = Session(self.roster, self._reconciler, self._refetch, liveness)
        self._last_seen = LastSeen(self.roster, store, self._background, self._database)
        self._linked = LinkedAccounts(self.roster, self._database, is_leader=lambda: self.is_leader)
        self._flusher = Flusher(
            self.roster, store=store, last_seen=self._last_seen, background=self._background, intervals=self._intervals
        )
        self._ending = asyncio.Event()
        self._troubles: set[str] = set()
        self._retained = 0  # the last generation after which rows of former members were deleted
        self._dumped_epoch = 0  # the reconcile that the last dump holds
        self._ready_at = 0.0  # the end of readiness, by the monotonic clock
        self._asked_position = 0
        self._follower = Follower(self.roster, self._intervals)

    @property
    def state(self) -> State:
        token = self._lease.token
        phase = self._flusher.phase if self._flusher.token == token else Phase.NOTHING
        return state_of(self._session.state, has_term=bool(token), is_leader=self.is_leader, phase=phase)

    @property
    def is_leader(self) -> bool:
        """Whether this worker's term runs."""
        return self._lease.holds(time.monotonic())

    def stop(self) -> None:
        """End `run`, within about 3 seconds."""
        self._ending.set()

    async def run(self) -> None:
        """Run until `stop`. FatalFeedError where the platform refuses this bot for good."""
        feed = asyncio.create_task(self._feed.run(self._session.tell))
        ending = asyncio.create_task(self._ending.wait())
        writing = asyncio.create_task(self._write_forever())
        intervals = self._intervals
        duties: list[tuple[float, Callable[[], Awaitable[None]]]] = [
            (intervals.look, self._look),
            (intervals.lease, self._see_to_lease),
            (intervals.asked, self._read_wishes),
            (intervals.offline_at, self._keep_last_seen),
            (intervals.pictures, self._follow_pictures),
            (intervals.privacy, self._follow_privacy),
            (intervals.stats, self._tell_stats),
        ]
        loops = [asyncio.create_task(self._every(seconds, act)) for seconds, act in duties]
        try:
            await asyncio.wait([feed, ending, writing, *loops], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._ending.set()
            ending.cancel()
            await self._end(feed, writing, loops)
        for task in (feed, writing, *loops):
            if task.done() and not task.cancelled():
                task.result()  # raises what ended it

    # --- Writing ---

    async def _write_forever(self) -> None:
        while not self._ending.is_set():
            is_more = await self._trying("store", self._write, self._intervals.after_store_error)
            if not is_more:
                await asyncio.sleep(self._intervals.flush)

    async def _write(self) -> bool:
        """Write what the state allows. Return whether more should follow without a pause."""
        state, epoch = self.state, self._reconciler.completed_epoch
        if state is State.TAKING_OVER:
            await self._take_over()
        elif state not in (State.DUMPING, State.LIVE):
            return False
        elif epoch != self._dumped_epoch:
            await self._flusher.begin_dump(is_repeat=self._reconciler.begun_epoch <= self._dumped_epoch)
        self._dumped_epoch = epoch
        try:
            return self.state in (State.DUMPING, State.LIVE) and await self._flusher.flush()
        except LeaseLost:
            self._lease.lose(self._flusher.token)
            return False

    async def _take_over(self) -> None:
        """Begin to write, in a new term or into a store that lost a write."""
        token = self._lease.token
        state = await self._background.do(self._store.state)
        await self._last_seen.load_previous(state)
        await self._linked.read_privacy()  # before the first record is written
        if self._flusher.token != token:
            self._flusher.begin_term(token)
            is_close = self._follower.take_over(state)
            if is_close:
                self._flusher.adopt(state)
        else:
            is_close = False
        await self._flusher.begin_dump(is_repeat=is_close)

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
            await self._background.do(self._lease.release)  # after the write that is under way there

    # --- Other duties ---

    async def _look(self) -> None:
        if self._session.state not in (SessionState.CLOSED, SessionState.ABSENT):
            await self._session.liveness.tick()
            await self._reconciler.look(time.monotonic())
            await self._refetch.tick(time.monotonic())

    async def _read_wishes(self) -> None:
        """Refetch members that readers miss, or whose record is old."""
        chat_ids, self._asked_position = await self._background.do(self._store.pending_refreshes, self._asked_position)
        self._refetch.enqueue(chat_ids)
        self.roster.changes.dirty.update(self.roster.members.keys() & chat_ids)  # the store may have lost the record

    async def _keep_last_seen(self) -> None:
        if self.is_leader and self._flusher.generation:
            await self._last_seen.keep()
            generation = self._flusher.generation
            if generation != self._retained and self.state is State.LIVE:
                await self._last_seen.retain_members()
                self._retained = generation

    async def _follow_pictures(self) -> None:
        if self.is_leader:
            await self._linked.follow(self._flusher.generation if self.state is State.LIVE else 0)

    async def _follow_privacy(self) -> None:
        if self.is_leader:
            await self._linked.read_privacy()

    async def _tell_stats(self) -> None:
        if not self.is_leader:
            alive_at = await self._background.do(self._store.alive_at)
            if alive_at is not None and time.time() - alive_at < STATS_ARE_OLD:
                return
        await self._background.do(self._store.keep_stats, self.stats())

    def stats(self) -> Json:
        """Return the state of this worker, for the admin. Times in milliseconds, `at` in UNIX seconds."""
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

    # --- Loops and the end ---

    async def _every(self, seconds: float, act: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._trying(act.__name__.strip("_"), act, 0)
            await asyncio.sleep(seconds)

    async def _trying(self, name: str, act: Callable[[], Awaitable[bool | None]], pause: float) -> bool:
        """Return what `act` returns. A store or database that does not answer is logged once until it answers again."""
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
        """Flush, release the lease and close the session, each with a timeout."""
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
