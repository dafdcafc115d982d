"""The worker and a store that comes back with an older state: nobody is shown that as the truth."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connections

from presence import status
from presence.simulator.running import Simulator
from presence.store import PresenceStore, StoreUnavailable
from tests.presence import snapshots, workers
from tests.presence.snapshots import Fragile
from tests.presence.workers import wait_for_status, wait_for_truth, working

pytestmark = pytest.mark.django_db(transaction=True)

ADA, BOB, NEW = 268473310000000011, 268473310000000012, 268473310000000013


@pytest.fixture
def fragile() -> Iterator[Fragile]:
    with snapshots.fragile() as opened:
        yield opened


@contextmanager
def watching(store: PresenceStore, chat_id: int, since: float) -> Iterator[set[str]]:
    """What readers are shown of this member, under stamps that are newer than `since`."""
    shown: set[str] = set()
    is_over = threading.Event()

    def read() -> None:
        try:
            while not is_over.is_set():
                try:
                    glance = store.glance(chat_id)
                except StoreUnavailable:
                    continue
                if glance.alive_at is not None and glance.alive_at > since:
                    shown.add(status.of(glance.record.presence) if glance.record else "absent")
        finally:
            connections.close_all()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield shown
    finally:
        is_over.set()
        thread.join()


def test_what_was_written_since_the_snapshot_is_written_again(simulator: Simulator, fragile: Fragile) -> None:
    """Who changed, who joined and who left, three times."""
    store = fragile.store
    simulator.add_member(ADA, presence={"status": "online"})
    simulator.add_member(BOB, presence={"status": "idle"})
    with working(simulator, store):
        wait_for_truth(store)
        for now, there, away in (("dnd", NEW, BOB), ("idle", BOB, NEW), ("online", NEW, BOB)):
            fragile.save()
            simulator.set_presence(ADA, {"status": now})
            simulator.add_member(there, presence={"status": "idle"})
            simulator.remove_member(away)
            wait_for_status(store, ADA, now)
            wait_for_status(store, there, "idle")
            wait_for_status(store, away, "absent")
            changed_at = time.time()
            with watching(store, ADA, changed_at) as shown:
                fragile.fall_back()
                wait_for_truth(store)
                assert workers.statuses(store, [ADA, there, away]) == {ADA: now, there: "idle", away: "absent"}
            assert shown <= {now}


def test_a_snapshot_of_the_last_write_needs_no_new_dump(simulator: Simulator, fragile: Fragile) -> None:
    store = fragile.store
    simulator.add_member(ADA, presence={"status": "online"})
    with working(simulator, store):
        wait_for_truth(store)
        generation = store.generation()
        fragile.save()
        fragile.fall_back()
        wait_for_truth(store)
        wait_for_truth(store)
        assert store.generation() == generation
        assert workers.statuses(store, [ADA]) == {ADA: "online"}
