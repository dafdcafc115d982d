"""How long readers go without news when the leading gateway worker ends, at a million members.

Run: .venv/bin/python -m benchmarks.presence_failover [--members 1000000] [--cold]
A store that an earlier leader has filled and stamps; a worker that follows it, with a feed inside this process; then
the leader ends as in a crash. Printed, as JSON: after how many seconds the follower writes what it hears and
stamps, how old the newest stamp was at worst for readers, after how long everything is written under its own
generation, and the memory.
`--cold`: the store shows no stamp, as after a restart, so that nothing counts before everything is written anew.
`measure` needs Django set up, with a Redis and a database of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import presence

if TYPE_CHECKING:
    from presence.gateway.payloads import FeedEvent
    from presence.store.store import PresenceStore
    from presence.worker.worker import Worker

GUILD, FIRST = 268473310000000000, 268473310000000001
TERM, CHUNK, PATIENCE = "the earlier leader", 1000, 600.0
ACTIVITY = {"name": "A game", "type": 0, "details": "In a match", "application_id": "268473310000000009"}
PRESENCE: dict[str, Any] = {"status": "online", "client_status": {"desktop": "online"}, "activities": [ACTIVITY]}


@dataclass(frozen=True)
class Measured:
    """Times in seconds from the end of the earlier leader, the end of its lease included."""

    members: int
    is_cold: bool
    first_news: float  # an event is readable again
    first_stamp: float
    oldest_stamp: float  # that readers saw
    everything: float  # is written under the new generation
    kilobytes_a_member: float  # of the worker's process
    processor_seconds: float  # of the same, until then


class Feed:
    """`GatewayFeed` without a network: all members are there, and one of them changes ten times a second."""

    def __init__(self, members: int) -> None:
        self.identifies_left: int | None = None
        self.sent: dict[int, float] = {}  # probe -> when
        self._members = members
        self._tell: Callable[[FeedEvent], None] = print
        self._closing = asyncio.Event()
        self._sending: asyncio.Task[None] | None = None

    async def run(self, tell: Callable[[FeedEvent], None]) -> None:
        from presence.gateway.payloads import Dispatch, SessionStarted

        self._tell = tell
        tell(SessionStarted(frozenset({GUILD})))
        tell(Dispatch("GUILD_CREATE", {"id": str(GUILD)}))
        number = 0
        while not self._closing.is_set():
            await asyncio.sleep(0.1)
            number += 1
            self.sent[number] = time.monotonic()
            probe = {"user": {"id": str(FIRST)}, **PRESENCE, "activities": [{**ACTIVITY, "state": str(number)}]}
            tell(Dispatch("PRESENCE_UPDATE", probe))

    async def ask_for_all(self, nonce: str) -> bool:
        self._sending = asyncio.create_task(self._send(nonce))
        return True

    async def ask_for(self, chat_ids: Sequence[int], nonce: str) -> bool:
        return True

    async def close(self) -> None:
        self._closing.set()

    async def _send(self, nonce: str) -> None:
        from presence.gateway.payloads import Dispatch

        count = -(-self._members // CHUNK)
        for index in range(count):
            ids = range(FIRST + index * CHUNK, FIRST + min((index + 1) * CHUNK, self._members))
            presences = [{"user": {"id": str(chat_id)}, **PRESENCE} for chat_id in ids]
            payload = {"members": [_member(chat_id) for chat_id in ids], "presences": presences, "nonce": nonce}
            self._tell(Dispatch("GUILD_MEMBERS_CHUNK", {**payload, "chunk_index": index, "chunk_count": count}))
            await asyncio.sleep(0)


def _member(chat_id: int) -> dict[str, Any]:
    user = {"id": str(chat_id), "username": f"member{chat_id}", "global_name": "A member", "avatar": "a" * 32}
    return {"nick": None, "roles": ["268473310000000007"], "user": {**user, "public_flags": 64, "discriminator": "0"}}


class Leader:
    """The earlier one: it has written all members, and stamps until it ends."""

    def __init__(self, store: PresenceStore, members: int) -> None:
        from presence.store.store import Record

        self._store, self._ending = store, threading.Event()
        store.take_lease(TERM)
        for start in range(FIRST, FIRST + members, CHUNK):
            ids = range(start, min(start + CHUNK, FIRST + members))
            store.write(
                {
                    chat_id: Record(_member(chat_id), PRESENCE, 1, time.time(), 1_700_000_000).to_text()
                    for chat_id in ids
                },
                (),
                token=TERM,
                mark=f"{TERM} {start}",
            )
            store.renew_lease(TERM)
        store.set_complete(1, token=TERM)
        self._thread = threading.Thread(target=self._stamp)
        self._thread.start()

    def end(self) -> None:
        """As a crash: the lease runs on."""
        self._ending.set()
        self._thread.join()

    def _stamp(self) -> None:
        while not self._ending.wait(0.5):
            self._store.renew_lease(TERM)
            self._store.stamp(time.time(), generation=1, token=TERM)


def measure(members: int, *, is_cold: bool = False) -> Measured:
    from django.core.cache import caches

    from presence.intervals import Intervals
    from presence.store import store
    from presence.worker.worker import Worker

    opened, intervals = store.opened(), Intervals()
    leader = Leader(opened, members)
    before = _kilobytes()
    running: list[tuple[Worker, Feed, asyncio.AbstractEventLoop]] = []

    async def work() -> None:
        feed = Feed(members)
        worker = Worker(guild_id=GUILD, feed=feed, store=opened, intervals=intervals)
        running.append((worker, feed, asyncio.get_running_loop()))
        await worker.run()

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    _wait(lambda: running and running[0][0].stats()["ready"])
    worker, feed, loop = running[0]
    time.sleep(2 * intervals.forget + 2)  # it follows
    try:
        leader.end()
        if is_cold:
            caches["presence"].delete(store.ALIVE)
        return _followed(opened, feed, members, before, is_cold=is_cold)
    finally:
        loop.call_soon_threadsafe(worker.stop)
        thread.join()


def _followed(opened: PresenceStore, feed: Feed, members: int, before: float, *, is_cold: bool) -> Measured:
    """What a reader sees from now on."""
    used = time.process_time()
    ended, ended_at, last = time.monotonic(), time.time(), opened.state().alive_at or 0.0
    news = stamp = everything = oldest = 0.0
    while not everything:
        if time.monotonic() - ended > PATIENCE:
            raise SystemExit("The follower does not take over.")
        state, record = opened.state(), opened.snapshot(FIRST).record
        since = time.monotonic() - ended
        last = state.alive_at or last
        oldest = max(oldest, time.time() - last)
        stamp = stamp or (since if last > ended_at else 0.0)
        probe = int(record.presence["activities"][0].get("state", 0)) if record and record.presence else 0
        news = news or (since if probe and feed.sent.get(probe, 0.0) > ended else 0.0)
        everything = since if state.generation > 1 and stamp and news else 0.0
        time.sleep(0.02)
    kilobytes = (_kilobytes() - before) / members
    used = time.process_time() - used
    return Measured(members, is_cold, news, stamp, oldest, everything, kilobytes, used)


def _kilobytes() -> float:
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _wait(is_so: Callable[[], object]) -> None:
    give_up_at = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > give_up_at:
            raise SystemExit("The follower does not become ready.")
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=1_000_000)
    parser.add_argument("--cold", action="store_true")
    chosen = parser.parse_args()
    with presence.environment("redis") as values:
        os.environ.update(values)
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        print(json.dumps(asdict(measure(chosen.members, is_cold=chosen.cold))))


if __name__ == "__main__":
    main()
