"""The worker and its store: emptied, out of reach, and back."""

from __future__ import annotations

import time

import pytest

from presence import last_online
from presence.simulator.running import Simulator
from presence.simulator.shapes import Json
from presence.store import PresenceStore
from tests.presence import outages, workers
from tests.presence.workers import wait_for_status, wait_for_truth, wait_until, working

pytestmark = pytest.mark.django_db(transaction=True)

ADA, BOB, NEW = 268473310000000011, 268473310000000012, 268473310000000013
ONLINE: Json = {"status": "online"}
IDLE: Json = {"status": "idle"}


@pytest.fixture
def members(simulator: Simulator) -> None:
    """Ada is online, Bob is idle."""
    simulator.add_member(ADA, presence=ONLINE)
    simulator.add_member(BOB, presence=IDLE)


@pytest.mark.usefixtures("members")
class TestEmptied:
    def test_everything_is_written_again(self, simulator: Simulator, store: PresenceStore) -> None:
        with working(simulator, store):
            wait_for_truth(store)
            first = store.generation()
            workers.empty()
            wait_for_truth(store)
            assert workers.statuses(store, [ADA, BOB, NEW]) == {ADA: "online", BOB: "idle", NEW: "absent"}
            assert store.generation() > first

    def test_it_is_never_fresh_and_wrong(self, simulator: Simulator, store: PresenceStore) -> None:
        """Members of an emptied store may be missing; then nobody may say that it holds the truth."""
        chat_ids = simulator.populate(3000)
        with working(simulator, store):
            wait_for_truth(store)
            for _ in range(3):
                workers.empty()
                until = time.time()
                while not workers.is_fresh(store, until):
                    glance = store.glance(chat_ids[0])
                    assert glance.record or glance.alive_at is None
        assert len(workers.statuses(store, chat_ids)) == len(chat_ids)

    def test_last_online_stays(self, simulator: Simulator, store: PresenceStore) -> None:
        with working(simulator, store):
            wait_for_truth(store)
            simulator.set_presence(ADA, {"status": "offline"})
            wait_until(lambda: ADA in last_online.all_of())
            workers.empty()
            wait_for_truth(store)
            record = store.glance(ADA).record
            assert record is not None
            assert record.last_online == last_online.all_of()[ADA]


@pytest.mark.usefixtures("members")
class TestOutOfReach:
    def test_what_happens_meanwhile_is_written_afterwards(self, simulator: Simulator) -> None:
        with outages.fragile() as outage, working(simulator, outage.store) as running:
            store = outage.store
            wait_for_truth(store)
            outage.go_away()
            simulator.set_presence(ADA, {"status": "dnd"})
            simulator.remove_member(BOB)
            simulator.add_member(NEW, presence=IDLE)
            wait_until(lambda: running.stats()["dirty"] >= 3)
            assert running.stats()["ready"]
            outage.come_back()
            wait_for_truth(store)
            assert workers.statuses(store, [ADA, BOB, NEW]) == {ADA: "dnd", BOB: "absent", NEW: "idle"}
            simulator.set_presence(ADA, IDLE)
            wait_for_status(store, ADA, "idle")

    def test_it_may_be_away_at_the_start(self, simulator: Simulator) -> None:
        with outages.fragile() as outage:
            outage.go_away()
            with working(simulator, outage.store) as running:
                wait_until(lambda: running.stats()["leader"])
                outage.come_back()
                wait_for_truth(outage.store)
                assert workers.statuses(outage.store, [ADA, BOB]) == {ADA: "online", BOB: "idle"}

    def test_it_is_told_once_and_so_is_its_return(self, simulator: Simulator, caplog: pytest.LogCaptureFixture) -> None:
        def told() -> list[str]:
            return [entry.message.split(":")[0] for entry in caplog.records if entry.name == "presence.worker"]

        with outages.fragile() as outage, working(simulator, outage.store):
            wait_for_truth(outage.store)
            outage.go_away()
            simulator.set_presence(ADA, {"status": "dnd"})
            wait_until(lambda: "The presence worker waits (store)" in told())
            outage.come_back()
            wait_for_truth(outage.store)
        assert told().count("The presence worker waits (store)") == 1
        assert told().count("The presence worker goes on (store).") == 1

    def test_it_ends_cleanly_without_it(self, simulator: Simulator) -> None:
        with outages.fragile() as outage, working(simulator, outage.store):
            wait_for_truth(outage.store)
            outage.go_away()
            simulator.set_presence(ADA, {"status": "dnd"})
