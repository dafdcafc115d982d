"""What the worker still owes to database and store when one of them fails, or another worker does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError, InterfaceError

from accounts.models import LinkedAccount
from demo.chat_platform.shapes import Json
from presence.store import store as store_module
from presence.store.store import Banner, PresenceStore, StoreUnavailable
from presence.worker import last_seen, lease, linked_account_sync
from tests.factories.accounts import LinkedAccountFactory
from tests.presence import workers
from tests.presence.workers import QUICK, wait_for_status, wait_for_truth, wait_until, working
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db(transaction=True)

ADA, BOB, NEW = 268473310000000011, 268473310000000012, 268473310000000013
ONLINE: Json = {"status": "online"}


class Unsteady(PresenceStore):
    """Does not keep a write while `is_away`, and is slow where a test asks for it."""

    def __init__(self) -> None:
        super().__init__(caches["presence"])
        self.is_away = False
        self.failed = 0
        self.goes_on = threading.Event()
        self.goes_on.set()

    def write(self, texts: Mapping[int, str], removed: Collection[int], *, token: str, mark: str = "") -> None:
        self.goes_on.wait(workers.PATIENCE)
        if self.is_away:
            self.failed += 1
            raise StoreUnavailable("It is away.")
        super().write(texts, removed, token=token, mark=mark)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str, BaseException], list[int]]:
    """Makes a function of the database's fail the first time."""

    def fail(module: Any, name: str, error: BaseException) -> list[int]:
        work, calls = getattr(module, name), []

        def act(*args: Any) -> Any:
            calls.append(1)
            if len(calls) == 1:
                raise error
            return work(*args)

        monkeypatch.setattr(module, name, act)
        return calls

    return fail


Failing = Callable[[Any, str, BaseException], list[int]]


@pytest.fixture
def unsteady() -> Iterator[Unsteady]:
    store = Unsteady()
    yield store
    store.goes_on.set()


class TestDatabase:
    """InterfaceError, which a closed connection raises, is no DatabaseError."""

    def test_a_moment_that_could_not_be_kept_is_kept_later(
        self, simulator: Simulator, store: PresenceStore, failing: Failing
    ) -> None:
        simulator.add_member(ADA, presence=ONLINE)
        calls = failing(last_seen, "keep", DatabaseError("The database restarts."))
        with working(simulator, store):
            wait_for_truth(store)
            simulator.set_presence(ADA, {"status": "offline"})
            wait_until(lambda: ADA in last_seen.all_of())
        assert len(calls) == 2

    def test_names_and_pictures_are_followed_later(
        self, simulator: Simulator, store: PresenceStore, failing: Failing
    ) -> None:
        simulator.add_member(ADA, presence=ONLINE)
        LinkedAccountFactory(external_id=str(ADA), name="ada", avatar_url="https://old.example/ada.png")
        with working(simulator, store):
            wait_for_truth(store)
            calls = failing(linked_account_sync, "follow", InterfaceError("The connection is closed."))
            simulator.update_member(ADA, user={"avatar": "0f", "username": "ada_l"})
            avatar_url = f"{settings.CHAT_CDN_URL}/avatars/{ADA}/0f.png"
            wait_until(lambda: LinkedAccount.objects.get().avatar_url == avatar_url)
        assert LinkedAccount.objects.get().name == "ada_l"
        assert len(calls) == 2


@pytest.mark.live
def test_an_emptied_store_is_written_again(simulator: Simulator, store: PresenceStore) -> None:
    simulator.add_member(ADA, presence=ONLINE)
    simulator.add_member(BOB, presence={"status": "idle"})
    with working(simulator, store):
        wait_for_truth(store)
        simulator.set_presence(ADA, {"status": "offline"})
        wait_until(lambda: ADA in last_seen.all_of())
        workers.empty()
        wait_for_truth(store)
        assert workers.statuses(store, [ADA, BOB, NEW]) == {ADA: "offline", BOB: "idle", NEW: "absent"}
        record = store.snapshot(ADA).record
        assert record is not None
        assert record.last_online == last_seen.all_of()[ADA]


@pytest.mark.live
def test_what_the_last_leader_could_not_write_the_next_one_does(
    simulator: Simulator, store: PresenceStore, unsteady: Unsteady
) -> None:
    """While the last one does not stamp, the next one puts nothing aside."""
    simulator.add_member(ADA, presence=ONLINE)
    with working(simulator, unsteady, replace(QUICK, ending=0.2)) as first:
        wait_for_truth(store)
        store.keep_banner(ADA, Banner("a" * 32, 0))
        with working(simulator, store, replace(QUICK, forget=0.1)) as second:
            wait_until(lambda: second.stats()["ready"] and not second.stats()["dirty"])  # its beginning is put aside
            unsteady.is_away = True
            simulator.update_member(ADA, member={"nick": "Ada"})
            wait_until(lambda: second.stats()["dirty"])
            first.stop()
            wait_until(lambda: second.stats()["leader"])
            wait_for_truth(store)
            wait_until(lambda: store.snapshot(ADA).banner is None)


@pytest.mark.live
def test_a_slow_store_does_not_cost_the_lease(
    simulator: Simulator, unsteady: Unsteady, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (store_module, lease):
        monkeypatch.setattr(module, "LEASE_SECONDS", 2.0)
    simulator.add_member(ADA, presence=ONLINE)
    with working(simulator, unsteady) as running:
        wait_for_truth(unsteady)
        unsteady.goes_on.clear()
        simulator.set_presence(ADA, {"status": "dnd"})
        begun = threading.Event()
        timer = threading.Timer(2.5, begun.set)  # longer than a lease
        timer.start()
        wait_until(lambda: begun.is_set() or not running.stats()["leader"])
        timer.cancel()
        assert running.stats()["leader"]
        unsteady.goes_on.set()
        wait_for_status(unsteady, ADA, "dnd")
    assert [entry.message for entry in caplog.records if "is over" in entry.message] == []


def test_what_changed_while_no_worker_ran_is_followed(simulator: Simulator, store: PresenceStore) -> None:
    simulator.add_member(ADA, user={"username": "ada_l", "avatar": "0f"})
    own = f"{settings.CHAT_CDN_URL}/avatars/{ADA}/"
    LinkedAccountFactory(external_id=str(ADA), name="ada", avatar_url=f"{own}aa.png")
    with working(simulator, store):
        wait_until(lambda: LinkedAccount.objects.get().avatar_url == f"{own}0f.png")
    assert LinkedAccount.objects.get().name == "ada_l"
