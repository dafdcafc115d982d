"""Gateway workers in threads of their own, against the simulated platform, and ways to wait for what they write."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.core.cache import caches

from presence.answer import presentation
from presence.gateway.hikari_feed import HikariFeed
from presence.intervals import Intervals
from presence.store.store import PresenceStore
from presence.worker.worker import Worker
from tests.support.chat_platform import Simulator

QUICK = Intervals(
    after_store_error=0.05,
    lease=0.1,
    leader_not_ready=1.0,
    look=0.02,
    chunk_patience=2.0,
    lookups=0.05,
    lookup_patience=0.5,
    asked=0.05,
    offline_at=0.05,
    pictures=0.05,
    privacy=0.05,
    stats=0.05,
    stamp=0.1,
)
PATIENCE = 30.0


@dataclass
class Running:
    """A worker at work. `error`: what ended it, where something did."""

    simulator: Simulator
    store: PresenceStore
    intervals: Intervals = QUICK
    error: BaseException | None = None
    worker: Worker | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = field(default=None)

    def start(self) -> None:
        begun = threading.Event()

        async def work() -> None:
            guild_id = int(self.simulator.guild_id)
            feed = HikariFeed(guild_id=guild_id, token=self.simulator.bot_token, api_url=self.simulator.api_url)
            self._loop = asyncio.get_running_loop()
            self.worker = Worker(guild_id=guild_id, feed=feed, store=self.store, intervals=self.intervals)
            begun.set()
            await self.worker.run()

        def run() -> None:
            try:
                asyncio.run(work())
            except BaseException as error:  # the test looks at it
                self.error = error

        self._thread = threading.Thread(target=run, name="gateway worker")
        self._thread.start()
        assert begun.wait(PATIENCE)

    def stop(self) -> None:
        """Its clean end."""
        assert self._loop is not None
        assert self._thread is not None
        if self._thread.is_alive() and self.worker is not None:
            self.call(self.worker.stop)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def call(self, act: Callable[[], Any]) -> None:
        """On the worker's event loop."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(act)

    def stats(self) -> dict[str, Any]:
        """What it tells of itself."""
        assert self.worker is not None
        return self.worker.stats()


@contextmanager
def working(simulator: Simulator, store: PresenceStore, intervals: Intervals = QUICK) -> Iterator[Running]:
    """A worker until the end of the block. What ended it before is raised."""
    running = Running(simulator, store, intervals)
    running.start()
    try:
        yield running
    finally:
        running.stop()
    if running.error is not None:
        raise running.error


def wait_until(is_so: Callable[[], object], what: str = "", seconds: float = PATIENCE) -> None:
    """Until `is_so()` is true; AssertionError after so many seconds."""
    give_up_at = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < give_up_at, what or is_so
        time.sleep(0.01)


def is_fresh(store: PresenceStore, since: float) -> bool:
    """Whether a worker has stamped the store since `since`, in UNIX seconds."""
    alive_at = store.alive_at()
    return alive_at is not None and alive_at >= since


def wait_for_truth(store: PresenceStore, seconds: float = PATIENCE) -> None:
    """Wait until a worker stamps the store from now on."""
    since = time.time()
    wait_until(lambda: is_fresh(store, since), "no worker says that the store holds the truth", seconds)


def statuses(store: PresenceStore, chat_ids: list[int]) -> dict[int, str]:
    """The statuses that a reader shows; "absent" without a record."""
    found: dict[int, str] = {}
    for start in range(0, len(chat_ids), 1000):
        for chat_id, snapshot in store.snapshots(chat_ids[start : start + 1000]).items():
            found[chat_id] = presentation.status_of(snapshot.record.presence) if snapshot.record else "absent"
    return found


def wait_for_status(store: PresenceStore, chat_id: int, expected: str, seconds: float = PATIENCE) -> None:
    """`expected` as of `statuses`."""
    wait_until(lambda: statuses(store, [chat_id])[chat_id] == expected, f"{chat_id} is not {expected}", seconds)


def empty() -> None:
    """The store loses everything, as a Redis does that was restarted without its data."""
    caches["presence"].clear()
