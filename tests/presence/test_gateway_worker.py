"""The worker over real sockets: everybody's presence, what happens to it live, and gaps in its events."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from accounts.models import LinkedAccount
from demo.chat_platform import gateway
from demo.chat_platform.shapes import Json
from presence.answer import presentation
from presence.store.store import Banner, PresenceStore
from presence.worker import last_seen
from tests.factories.accounts import LinkedAccountFactory
from tests.presence import workers
from tests.presence.workers import QUICK, wait_for_status, wait_for_truth, wait_until, working
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db(transaction=True)

ADA, BOB, NEW, EVE = (268473310000000011 + number for number in range(4))

ONLINE: Json = {"status": "online"}


def truth(simulator: Simulator, chat_ids: list[int]) -> dict[int, str]:
    return {chat_id: presentation.status_of(simulator.presence(chat_id)) for chat_id in chat_ids}


@pytest.mark.parametrize(("count", "too_large"), [(100, 75_000), (1500, 75_000), (1500, 1000)])
def test_everybody_is_right_once_the_store_holds_the_truth(
    simulator: Simulator, store: PresenceStore, monkeypatch: pytest.MonkeyPatch, count: int, too_large: int
) -> None:
    """Small, above the threshold of 250, and so large that the platform tells of no presence by itself."""
    monkeypatch.setattr(gateway, "TOO_LARGE", too_large)
    chat_ids = simulator.populate(count)
    with working(simulator, store):
        wait_for_truth(store)
        assert workers.statuses(store, chat_ids) == truth(simulator, chat_ids)
        assert workers.statuses(store, [NEW]) == {NEW: "absent"}
    assert simulator.counters.full_requests == 1
    assert last_seen.all_of() == {}  # no member was seen going offline


class TestLive:
    def test_a_change_is_readable_at_once_as_it_came(self, simulator: Simulator, store: PresenceStore) -> None:
        activities = [
            {"type": 2, "name": "Spotify", "id": "spotify:1", "sync_id": "x", "assets": {"large_image": "spotify:ab"}},
            {"type": 0, "name": "A game", "timestamps": {"start": 1}, "odd": {"any": [None, "\0", "\ud800"]}},
        ]
        simulator.add_member(ADA)
        with working(simulator, store):
            wait_for_truth(store)
            for name in ("idle", "dnd", "offline"):
                simulator.set_presence(ADA, {"status": name})
                wait_for_status(store, ADA, name)
            client_status = {"vr": "online", "embedded": "idle"}
            simulator.set_presence(ADA, {"status": "online", "client_status": client_status, "activities": activities})
            wait_for_status(store, ADA, "online")
            record = store.snapshot(ADA).record
            assert record is not None
            assert record.presence == {
                "status": "online",
                "client_status": client_status,
                "activities": activities,
            }

    @pytest.mark.embedded
    def test_somebody_joins_and_leaves(self, simulator: Simulator, store: PresenceStore) -> None:
        with working(simulator, store):
            wait_for_truth(store)
            store.keep_miss(NEW, "notMember")
            simulator.add_member(NEW, presence={"status": "idle"})
            wait_for_status(store, NEW, "idle")
            wait_until(lambda: store.snapshot(NEW).miss == "")
            simulator.remove_member(NEW)
            wait_for_status(store, NEW, "absent")
            wait_until(lambda: store.snapshot(NEW).miss == "notMember")

    def test_a_changed_member_is_stored_and_its_linked_account_follows(
        self, simulator: Simulator, store: PresenceStore
    ) -> None:
        simulator.add_member(ADA, user={"username": "ada"})
        LinkedAccountFactory(external_id=str(ADA), name="ada")
        with working(simulator, store):
            wait_for_truth(store)
            store.keep_banner(ADA, Banner("b1", time.time()))
            simulator.update_member(ADA, member={"nick": "Countess"}, user={"username": "lovelace"})
            wait_until(lambda: store.snapshot(ADA).banner is None)
            record = store.snapshot(ADA).record
            assert record is not None
            assert record.member["nick"] == "Countess"
            wait_until(lambda: LinkedAccount.objects.get().name == "lovelace")
            reported = {"connected": True, "ready": True, "leader": True, "members": 2, "epoch": 1, "dirty": 0}
            wait_until(lambda: (store.stats() or {}).items() >= reported.items())


class TestLookups:
    """Readers ask; the worker looks the member up."""

    def test_an_event_that_never_came_is_made_up_for(self, simulator: Simulator, store: PresenceStore) -> None:
        simulator.add_member(ADA)
        with working(simulator, store):
            wait_for_truth(store)
            store.request_refresh(ADA)
            wait_until(lambda: [ADA] in simulator.counters.member_requests)


BAD: list[tuple[str, Any]] = [
    ("PRESENCE_UPDATE", None),
    ("PRESENCE_UPDATE", []),
    ("PRESENCE_UPDATE", {}),
    ("PRESENCE_UPDATE", {"user": None}),
    ("PRESENCE_UPDATE", {"user": {"id": str(ADA)}, "client_status": None, "activities": 5, "status": "offline"}),
    ("PRESENCE_UPDATE", {"user": {"id": str(ADA)}, "client_status": "x"}),
    ("GUILD_MEMBER_UPDATE", {"user": {"id": "nobody"}}),
    ("GUILD_MEMBER_ADD", {"user": 5}),
    ("GUILD_MEMBER_REMOVE", {"user": [str(ADA)]}),
    ("GUILD_MEMBERS_CHUNK", {"members": None, "nonce": "full1.1"}),
    ("GUILD_CREATE", {"id": None}),
    ("GUILD_DELETE", {"unavailable": True}),
    ("RATE_LIMITED", {"retry_after": "soon"}),
    ("SOMETHING_NEW", {"any": "thing"}),
]


class TestBadEvents:
    def test_each_is_skipped_and_the_next_one_counts(self, simulator: Simulator, store: PresenceStore) -> None:
        simulator.add_member(ADA, presence=ONLINE)
        simulator.add_member(BOB)
        with working(simulator, store) as running:
            wait_for_truth(store)
            for name, payload in BAD:
                is_object = isinstance(payload, dict)
                simulator.dispatch(name, {"guild_id": simulator.guild_id, **payload} if is_object else payload)
            simulator.send_text("{no json")
            huge = [{"type": 0, "name": "x" * 2_000_000}]
            simulator.set_presence(BOB, {"status": "dnd", "activities": huge})
            wait_for_status(store, BOB, "dnd")
            assert workers.statuses(store, [ADA]) == {ADA: "online"}
            assert running.stats()["reconnects"] == {}
            assert running.stats()["bad_payloads"]["message"] == 2  # and GUILD_CREATE without an id


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


@pytest.mark.live
@pytest.mark.usefixtures("members")
class TestLostConnections:
    @pytest.mark.parametrize("lose", list(LOSSES.values()), ids=list(LOSSES))
    def test_what_happens_in_the_gap_is_made_up_for(
        self, simulator: Simulator, store: PresenceStore, lose: Callable[[Simulator], None]
    ) -> None:
        with working(simulator, store) as running:
            wait_for_truth(store)
            last_seen.keep({BOB: 1000})
            begun = int(time.time())
            lose(simulator)
            change_everything(simulator)
            wait_until(lambda: sum(running.stats()["reconnects"].values()) == 1)
            lost = time.time()
            wait_until(lambda: workers.statuses(store, list(CHANGED)) == CHANGED)
            wait_for_truth(store)
            assert workers.statuses(store, list(CHANGED)) == CHANGED
            wait_until(lambda: set(last_seen.all_of()) == {ADA})
        resumed = simulator.counters.resumes > 0
        assert begun <= last_seen.all_of()[ADA] <= (time.time() if resumed else lost)


@pytest.mark.live
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
        reported = [
            (entry.levelname, entry.message) for entry in caplog.records if entry.name == "presence.gateway.session"
        ]
        expected = f"The bot was removed from the chat server {simulator.guild_id}: nobody's presence is known."
        assert reported == [("ERROR", expected)]


@pytest.mark.live
@pytest.mark.usefixtures("members")
class TestReconciles:
    def test_the_daily_one_repairs_what_no_event_reported(self, simulator: Simulator, store: PresenceStore) -> None:
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
