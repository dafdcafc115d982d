"""The worker over real sockets: everybody's presence, and what happens to it live."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from accounts.models import LinkedAccount
from presence import last_online, status
from presence.simulator import guild
from presence.simulator.running import Simulator
from presence.simulator.shapes import Json
from presence.store import Banner, PresenceStore
from tests.factories.accounts import LinkedAccountFactory
from tests.presence import workers
from tests.presence.workers import QUICK, wait_for_status, wait_for_truth, wait_until, working

pytestmark = pytest.mark.django_db(transaction=True)

ADA, BOB, NEW = 268473310000000011, 268473310000000012, 268473310000000013
ONLINE: Json = {"status": "online"}


def truth(simulator: Simulator, chat_ids: list[int]) -> dict[int, str]:
    return {chat_id: status.of(simulator.presence(chat_id)) for chat_id in chat_ids}


@pytest.mark.parametrize(("count", "too_large"), [(100, 75_000), (1500, 75_000), (1500, 1000)])
def test_everybody_is_right_once_the_store_holds_the_truth(
    simulator: Simulator, store: PresenceStore, monkeypatch: pytest.MonkeyPatch, count: int, too_large: int
) -> None:
    """Small, above the threshold of 250, and so large that the platform tells of no presence by itself."""
    monkeypatch.setattr(guild, "TOO_LARGE", too_large)
    chat_ids = simulator.populate(count)
    with working(simulator, store):
        wait_for_truth(store)
        assert workers.statuses(store, chat_ids) == truth(simulator, chat_ids)
        assert workers.statuses(store, [NEW]) == {NEW: "absent"}
    assert simulator.counters.full_requests == 1
    assert last_online.all_of() == {}  # nobody was seen going offline


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
            record = store.glance(ADA).record
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
            wait_until(lambda: store.glance(NEW).miss == "")
            simulator.remove_member(NEW)
            wait_for_status(store, NEW, "absent")
            wait_until(lambda: store.glance(NEW).is_account_known)

    def test_a_changed_member_is_stored_and_its_linked_account_follows(
        self, simulator: Simulator, store: PresenceStore
    ) -> None:
        simulator.add_member(ADA, user={"username": "ada"})
        LinkedAccountFactory(external_id=str(ADA), name="ada")
        with working(simulator, store):
            wait_for_truth(store)
            store.keep_banner(ADA, Banner("b1", time.time()))
            simulator.update_member(ADA, member={"nick": "Countess"}, user={"username": "lovelace"})
            wait_until(lambda: store.glance(ADA).banner is None)
            record = store.glance(ADA).record
            assert record is not None
            assert record.member["nick"] == "Countess"
            wait_until(lambda: LinkedAccount.objects.get().name == "lovelace")
            told = {"connected": True, "ready": True, "leader": True, "members": 2, "epoch": 1, "dirty": 0}
            wait_until(lambda: (store.stats() or {}).items() >= told.items())


class TestLookups:
    """Readers ask; the worker looks the member up."""

    def test_an_answer_that_is_older_than_the_news_is_asked_for_again(
        self, simulator: Simulator, store: PresenceStore
    ) -> None:
        """The second question shows that the first answer was read."""
        simulator.add_member(ADA, presence=ONLINE)
        with working(simulator, store, replace(QUICK, lookup_patience=60.0)):
            wait_for_truth(store)
            simulator.member_chunks_delay = 0.4
            store.ask(ADA)
            wait_until(lambda: simulator.counters.member_requests)
            simulator.set_presence(ADA, {"status": "dnd"})
            wait_until(lambda: simulator.counters.member_requests == [[ADA], [ADA]])
            wait_for_truth(store)
            assert workers.statuses(store, [ADA]) == {ADA: "dnd"}

    def test_an_event_that_never_came_is_made_up_for(self, simulator: Simulator, store: PresenceStore) -> None:
        simulator.add_member(ADA)
        with working(simulator, store):
            wait_for_truth(store)
            store.ask(ADA)
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
