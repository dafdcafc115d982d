"""The worker and gaps in its events: lost connections, lost sessions, outages, lost chunks, restarts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from presence import last_online
from presence.simulator.running import Simulator
from presence.simulator.shapes import Json
from presence.store import PresenceStore
from tests.presence import workers
from tests.presence.workers import QUICK, wait_for_status, wait_for_truth, wait_until, working

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

ADA, BOB, EVE, NEW = (268473310000000011 + number for number in range(4))
ONLINE: Json = {"status": "online"}
IDLE: Json = {"status": "idle"}

LOSSES: dict[str, Callable[[Simulator], None]] = {
    "drop": lambda simulator: simulator.drop(),
    "drop-without-resume": lambda simulator: simulator.drop(sessions_too=True),
}


@pytest.fixture
def members(simulator: Simulator) -> None:
    """Ada is online, Bob and Eve are idle."""
    simulator.add_member(ADA, presence=ONLINE)
    simulator.add_member(BOB, presence=IDLE)
    simulator.add_member(EVE, presence=IDLE)


def change_everything(simulator: Simulator) -> None:
    """Ada goes offline, Bob leaves, Eve does not disturb, somebody new joins."""
    simulator.set_presence(ADA, {"status": "offline"})
    simulator.remove_member(BOB)
    simulator.set_presence(EVE, {"status": "dnd"})
    simulator.add_member(NEW, presence=IDLE)


CHANGED = {ADA: "offline", BOB: "absent", EVE: "dnd", NEW: "idle"}


@pytest.mark.usefixtures("members")
class TestLostConnections:
    @pytest.mark.parametrize("lose", list(LOSSES.values()), ids=list(LOSSES))
    def test_what_happens_in_the_gap_is_made_up_for(
        self, simulator: Simulator, store: PresenceStore, lose: Callable[[Simulator], None]
    ) -> None:
        with working(simulator, store) as running:
            wait_for_truth(store)
            last_online.keep({BOB: 1000})
            begun = int(time.time())
            lose(simulator)
            change_everything(simulator)
            wait_until(lambda: sum(running.stats()["reconnects"].values()) == 1)
            lost = time.time()
            wait_until(lambda: workers.statuses(store, list(CHANGED)) == CHANGED)
            wait_for_truth(store)
            assert workers.statuses(store, list(CHANGED)) == CHANGED
            wait_until(lambda: set(last_online.all_of()) == {ADA})
        resumed = simulator.counters.resumes > 0
        assert begun <= last_online.all_of()[ADA] <= (time.time() if resumed else lost)

    def test_nothing_is_said_to_be_true_while_the_platform_is_away(
        self, simulator: Simulator, store: PresenceStore
    ) -> None:
        with working(simulator, store) as running:
            wait_for_truth(store)
            simulator.gateway_is_down = True
            simulator.drop()
            wait_until(lambda: not running.stats()["connected"])
            since = time.time()
            simulator.set_presence(ADA, IDLE)
            wait_until(lambda: not running.stats()["leader"])  # gives the lease back
            assert not workers.is_fresh(store, since)
            simulator.gateway_is_down = False
            wait_for_truth(store)
            assert workers.statuses(store, [ADA]) == {ADA: "idle"}


@pytest.mark.usefixtures("members")
class TestOutages:
    def test_an_outage_of_the_chat_server_is_no_mass_leave(self, simulator: Simulator, store: PresenceStore) -> None:
        with working(simulator, store) as running:
            wait_for_truth(store)
            simulator.set_unavailable(True)
            wait_until(lambda: not running.stats()["ready"])
            since = time.time()
            change_everything(simulator)
            assert workers.statuses(store, [ADA, BOB, EVE]) == {ADA: "online", BOB: "idle", EVE: "idle"}
            wait_until(lambda: not running.stats()["leader"])
            assert not workers.is_fresh(store, since)
            simulator.set_unavailable(False)
            wait_for_truth(store)
            assert workers.statuses(store, list(CHANGED)) == CHANGED

    def test_a_bot_that_was_removed_says_nothing_any_more(
        self, simulator: Simulator, store: PresenceStore, caplog: pytest.LogCaptureFixture
    ) -> None:
        with working(simulator, store) as running:
            wait_for_truth(store)
            simulator.dispatch("GUILD_DELETE", {"id": simulator.guild_id})
            wait_until(lambda: not running.stats()["ready"])
            since = time.time()
            wait_until(lambda: not running.stats()["leader"])
            assert not workers.is_fresh(store, since)
        told = [(entry.levelname, entry.message) for entry in caplog.records if entry.name == "presence.session"]
        expected = f"The bot was removed from the chat server {simulator.guild_id}: nobody's presence is known."
        assert told == [("ERROR", expected)]


@pytest.mark.usefixtures("members")
class TestReconciles:
    def test_a_refused_question_is_asked_again_when_it_may_be(self, simulator: Simulator, store: PresenceStore) -> None:
        """The daily one comes soon here."""
        simulator.limits_full_requests = True
        simulator.full_request_window = 2.0
        with working(simulator, store, replace(QUICK, reconcile_again=0.3)) as running:
            wait_until(lambda: running.stats()["rate_limited"])
            wait_until(lambda: running.stats()["epoch"] > 2)  # the second one was answered
        assert simulator.counters.refused_requests >= 1

    def test_a_lost_chunk_is_asked_for_again(self, simulator: Simulator, store: PresenceStore) -> None:
        """The platform is silent for longer than the worker's patience."""
        simulator.member_chunks_delay = 0.6
        with working(simulator, store, replace(QUICK, chunk_patience=0.2)):
            wait_until(lambda: simulator.counters.full_requests > 1)
            simulator.member_chunks_delay = 0.0
            wait_for_truth(store)

    def test_the_daily_one_repairs_what_no_event_told(self, simulator: Simulator, store: PresenceStore) -> None:
        with working(simulator, store, replace(QUICK, reconcile_again=0.5)) as running:
            wait_for_truth(store)
            wrong = {
                "user": {"id": str(ADA)},
                "guild_id": simulator.guild_id,
                "status": "dnd",
                "client_status": {"web": "dnd"},
            }
            simulator.dispatch("PRESENCE_UPDATE", wrong)
            simulator.dispatch("GUILD_MEMBER_ADD", {"user": {"id": str(NEW)}, "guild_id": simulator.guild_id})
            wait_for_status(store, ADA, "dnd")
            wait_for_status(store, ADA, "online")
            wait_for_status(store, NEW, "absent")
            assert running.stats()["ready"]


@pytest.mark.usefixtures("members")
class TestRestarts:
    def test_who_went_offline_meanwhile_was_last_seen_by_the_one_before(
        self, simulator: Simulator, store: PresenceStore
    ) -> None:
        with working(simulator, store):
            wait_for_truth(store)
        alive_at = store.alive_at()
        assert alive_at is not None
        simulator.set_presence(ADA, {"status": "offline"})
        with working(simulator, store):
            wait_for_truth(store)
            record = store.glance(ADA).record
            assert record is not None
            assert record.last_online == int(alive_at)
            wait_until(lambda: last_online.all_of() == {ADA: int(alive_at)})
