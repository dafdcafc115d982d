"""Two workers: one writes, the other takes over, and nobody reads a wrong answer in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from django.db import connections

from accounts.models import JobRun
from presence.lease import NAME
from presence.simulator import running as platforms
from presence.simulator.running import Simulator
from presence.store import PresenceStore
from tests.presence import workers
from tests.presence.gateway_process import Starter
from tests.presence.workers import QUICK, wait_for_truth, wait_until, working

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

ADA, BOB, EVE = 268473310000000011, 268473310000000012, 268473310000000013
GRACE = 60.0  # seconds: a reader takes no older stamp
LAG = 5.0  # seconds that news may be under way on a busy machine


@pytest.fixture
def start(simulator: Simulator) -> Iterator[Starter]:
    """Bob is idle all the time."""
    simulator.add_member(BOB, presence={"status": "idle"})
    with Starter(simulator) as starter:
        yield starter


class Watcher:
    """Reads all the time while Ada's presence counts upwards; notes every answer that a reader would have given."""

    def __init__(self, simulator: Simulator, store: PresenceStore) -> None:
        self.simulator, self.store = simulator, store
        self.told: list[tuple[float, int]] = []  # when the platform changed, to what
        self.wrong: list[str] = []
        self.reads = 0
        self._last = 0
        self._is_over = threading.Event()

    def count(self, number: int) -> None:
        self.told.append((time.time(), number))
        activities = [{"type": 0, "name": str(number)}]
        self.simulator.set_presence(ADA, {"status": "online", "activities": activities})

    def shown(self) -> int:
        """The number in the store; -1 for no record."""
        record = self.store.glance(ADA).record
        if record is None or record.presence is None:
            return -1
        return int(record.presence["activities"][0]["name"])

    def read_on(self) -> None:
        try:
            while not self._is_over.wait(0.01):  # the workers live in this process, too
                self._read()
        finally:
            connections.close_all()

    def _read(self) -> None:
        found = self.store.glances([ADA, BOB, EVE])
        ada = found[ADA]
        if ada.alive_at is None or time.time() - ada.alive_at >= GRACE:
            return
        self.reads += 1
        if ada.record is None or ada.record.presence is None:
            self.wrong.append("Ada is missing")
            return
        number = int(ada.record.presence["activities"][0]["name"])
        known = max((told for at, told in list(self.told) if at < ada.alive_at - LAG), default=0)
        if number < known or number < self._last:
            self.wrong.append(f"{number} after {self._last}, while the store says it knows {known}")
        self._last = max(self._last, number)
        bob, eve = found[BOB].record, found[EVE].record
        if bob is None or bob.presence is None or bob.presence["status"] != "idle" or eve is not None:
            self.wrong.append(f"Bob {bob}, Eve {eve}")

    @contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self.read_on)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()


def test_a_killed_leader_is_followed(simulator: Simulator, store: PresenceStore, start: Starter) -> None:
    watcher = Watcher(simulator, store)
    simulator.add_member(ADA)
    watcher.count(1)
    first = start()
    wait_for_truth(store)
    with watcher.watching(), working(simulator, store, replace(QUICK, lease=1.0)) as second:
        wait_until(lambda: second.stats()["ready"])
        watcher.count(2)
        wait_until(lambda: watcher.shown() == 2)
        assert not second.stats()["leader"]
        first.process.kill()
        watcher.count(3)
        wait_until(lambda: watcher.shown() == 3)
        wait_for_truth(store)
        assert second.stats()["leader"]
        watcher.count(4)
        wait_until(lambda: watcher.shown() == 4)
    assert watcher.wrong == []
    assert watcher.reads > 10


def test_a_leader_whose_lease_was_taken_writes_no_longer(simulator: Simulator, store: PresenceStore) -> None:
    """Its process stood still for longer than the lease, say."""
    with working(simulator, store) as running:
        wait_for_truth(store)
        JobRun.objects.filter(pk=NAME).update(leased_by="somebody else")
        wait_until(lambda: not running.stats()["leader"])
        store.set_complete(store.generation() + 10**6)
        simulator.add_member(ADA, presence={"status": "online"})
        wait_until(lambda: running.worker is not None and ADA in running.worker.roster.members)
        assert workers.statuses(store, [ADA]) == {ADA: "absent"}
        JobRun.objects.filter(pk=NAME).update(lease_ends_at=None)
        wait_for_truth(store)
        assert workers.statuses(store, [ADA]) == {ADA: "online"}


def test_a_leader_that_loses_its_gateway_hands_over(simulator: Simulator, store: PresenceStore) -> None:
    """The two workers reach the platform by different ways, of which one is cut."""
    simulator.add_member(ADA, presence={"status": "online"})
    with platforms.simulator() as other_way, working(simulator, store) as first:
        other_way.add_member(ADA, presence={"status": "online"})
        wait_for_truth(store)
        with working(other_way, store) as second:
            wait_until(lambda: second.stats()["ready"])
            simulator.gateway_is_down = True
            simulator.drop()
            wait_until(lambda: second.stats()["leader"])
            assert not first.stats()["leader"]
            other_way.set_presence(ADA, {"status": "dnd"})
            workers.wait_for_status(store, ADA, "dnd")
            wait_for_truth(store)
