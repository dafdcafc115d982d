"""The worker while its Redis is out of reach, and after that."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.utils import timezone

from demo.chat_platform.shapes import Json
from presence.answer import members
from presence.store.store import PresenceStore
from tests.factories.accounts import LinkedAccountFactory
from tests.presence import lookups, outages, workers
from tests.presence.workers import wait_for_status, wait_for_truth, wait_until, working
from tests.support.chat_platform import Simulator

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

ADA, BOB, NEW = 268473310000000011, 268473310000000012, 268473310000000013
ONLINE: Json = {"status": "online"}
IDLE: Json = {"status": "idle"}


@pytest.fixture(name="members")
def two_members(simulator: Simulator) -> None:
    """Ada is online, Bob is idle."""
    simulator.add_member(ADA, presence=ONLINE)
    simulator.add_member(BOB, presence=IDLE)


def _shown(store: PresenceStore, chat_ids: list[int]) -> bool:
    """Whether a lookup shows one of them; one is made where the store has a record and a fresh stamp, which may be
    evicted, too."""
    now = timezone.now()
    ready = [
        id_ for id_, one in store.snapshots(chat_ids).items() if one.record and members.is_fresh(one.alive_at, now)
    ]
    return bool(ready) and lookups.get(ready[0], address="again").status == 200


class TestShortOfMemory:
    """Redis evicts records although it must not."""

    def test_who_is_evicted_is_no_miss_and_is_written_again(
        self, simulator: Simulator, caplog: pytest.LogCaptureFixture
    ) -> None:
        lookups.key()
        chat_ids = simulator.populate(4000)
        for chat_id in chat_ids[:300]:
            LinkedAccountFactory(external_id=str(chat_id))
        limits = ("--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru")
        with outages.fragile(*limits) as redis, working(simulator, redis.store):
            wait_for_truth(redis.store)
            evicted: list[int] = []

            def are_evicted() -> bool:
                """Some of those that have an account; the worker may have written them again already."""
                redis.evict()
                found = redis.store.snapshots(chat_ids[:300])
                evicted[:] = [chat_id for chat_id, snapshot in found.items() if snapshot.record is None]
                return bool(evicted)

            wait_until(are_evicted)
            wait_for_truth(redis.store)  # the stamp may be evicted, too: without it a lookup sends no request
            with override_settings(CACHES={**settings.CACHES, "presence": redis.config}):
                some = evicted[:20]  # with what follows fewer than a key may look up in a minute
                answers = [lookups.get(chat_id, address=str(chat_id)).status for chat_id in some]
                assert set(answers) <= {200, 503}
                wait_until(lambda: _shown(redis.store, some))
        assert "Redis may evict members (maxmemory-policy allkeys-lru): set noeviction." in caplog.messages

    @pytest.mark.parametrize(
        ("limits", "policy"),
        [
            ((), ""),
            (("--maxmemory-policy", "allkeys-lru"), ""),
            (("--maxmemory", "9mb", "--maxmemory-policy", "noeviction"), ""),
            (("--maxmemory", "9mb", "--maxmemory-policy", "volatile-ttl"), "volatile-ttl"),
        ],
    )
    def test_what_it_may_evict_is_reported(self, simulator: Simulator, limits: tuple[str, ...], policy: str) -> None:
        with outages.fragile(*limits) as redis:
            assert redis.store.eviction() == policy
            lookups.alive(redis.store)
            with override_settings(CACHES={**settings.CACHES, "presence": redis.config}):
                reported = Client().get("/readyz").json()["parts"]["presence"]
        advice = f"Redis may evict members (maxmemory-policy {policy}): set noeviction"
        assert reported == (advice if policy else "ok")


@pytest.mark.usefixtures("members")
class TestOutOfReach:
    def test_what_happens_meanwhile_is_written_afterwards(
        self, simulator: Simulator, caplog: pytest.LogCaptureFixture
    ) -> None:
        def log_lines() -> list[str]:
            return [entry.message.split(":")[0] for entry in caplog.records if entry.name == "presence.worker.worker"]

        with outages.fragile() as outage, working(simulator, outage.store) as running:
            store = outage.store
            wait_for_truth(store)
            outage.go_away()
            simulator.set_presence(ADA, {"status": "dnd"})
            simulator.remove_member(BOB)
            simulator.add_member(NEW, presence=IDLE)
            wait_until(lambda: "The presence worker waits (store)" in log_lines())
            wait_until(lambda: running.stats()["dirty"] >= 3)
            assert running.stats()["ready"]
            outage.come_back()
            wait_for_truth(store)
            assert workers.statuses(store, [ADA, BOB, NEW]) == {ADA: "dnd", BOB: "absent", NEW: "idle"}
            simulator.set_presence(ADA, IDLE)
            wait_for_status(store, ADA, "idle")
            outage.go_away()  # it ends without the store, too
        assert log_lines().count("The presence worker goes on (store).") == 1

    def test_it_may_be_away_at_the_start(self, simulator: Simulator) -> None:
        with outages.fragile() as outage:
            outage.go_away()
            with working(simulator, outage.store) as running:
                wait_until(lambda: running.stats()["ready"])
                outage.come_back()
                wait_for_truth(outage.store)
                assert workers.statuses(outage.store, [ADA, BOB]) == {ADA: "online", BOB: "idle"}
