"""A presence is read in the round trip that checks the key, where both lie on one Redis."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import caches
from django.utils import timezone
from django_redis import get_redis_connection

from accounts import authentication
from accounts.models import Permission
from presence.answer import members, refreshing
from presence.store.store import Banner, PresenceStore, Snapshot
from tests.presence import lookups, reading, store_contents
from tests.presence.lookups import ADA, BEN
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def asked_before(db: None, store: PresenceStore) -> Iterator[None]:
    with reading.standing_still():
        lookups.key()
        lookups.tell(store)
        now = timezone.now().timestamp()
        store.keep_banner(ADA, Banner(None, now))
        yield


def test_what_a_key_may_not_read_is_not_shown() -> None:
    assert lookups.get(ADA).status == 200
    assert lookups.get(ADA, secret="x" * 52).status == 401


def test_what_changes_between_two_requests_is_seen(store: PresenceStore) -> None:
    assert lookups.get(ADA).body["status"]["status"] == "online"
    lookups.tell(store, presence=None)
    assert lookups.get(ADA).body["status"]["status"] == "offline"
    store.keep_privacy(ADA, is_private=True)
    assert lookups.get(ADA).whole == lookups.PRIVATE


def test_an_answer_stays_while_its_banner_is_the_same_and_is_read_again_in_its_time(
    store: PresenceStore, simulator: Simulator
) -> None:
    now = timezone.now().timestamp()
    bodies = []
    for hash_, read_at in (("a" * 32, now - 1), ("a" * 32, now), ("b" * 32, now), (None, now)):
        store.keep_banner(ADA, Banner(hash_, read_at))
        bodies.append(lookups.get(ADA).body["banner"] and members._answers[ADA].body)
    assert bodies[0] is bodies[1]
    assert bodies[2] not in (None, bodies[1])
    assert bodies[3] is None
    store.keep_banner(ADA, Banner(None, now - 31))
    for _ in range(2):
        assert lookups.get(ADA).status == 200
        refreshing.settle()
    assert simulator.counters.rest == [f"/api/v10/users/{ADA}"]


def test_a_damaged_value_costs_a_round_trip_and_its_part_alone(store: PresenceStore) -> None:
    whole = lookups.get(ADA).body
    get_redis_connection("presence").set(caches["presence"].make_key(f"profile:{ADA}"), b"\x80junk")
    assert lookups.get(ADA).body == whole


def test_the_reply_says_what_a_look_into_the_store_says(store: PresenceStore) -> None:
    assert _snapshot(store, ADA) == store.snapshot(ADA)
    assert _snapshot(store, BEN) == store.snapshot(BEN)
    store_contents.set_complete(store, 2)
    assert _snapshot(store, ADA) == store.snapshot(ADA)
    assert _snapshot(store, ADA).record is None


def _snapshot(opened: PresenceStore, chat_id: int) -> Snapshot:
    return opened.snapshot_of(chat_id, opened.values(chat_id))


def test_the_check_of_the_key_reads_the_member(store: PresenceStore) -> None:
    now = timezone.now()
    prefetch = members.prefetch(str(ADA))
    assert prefetch is not None
    authentication.check(lookups.SECRET, permission=Permission.LOOKUP_PRESENCE, now=now, prefetch=prefetch)
    assert tuple(prefetch.reply) == store.values(ADA)
    lookups.tell(store, presence=None)
    before, after = members.body_of(str(ADA), now, prefetch.reply), members.body_of(str(ADA), now)
    assert before != after


def test_the_oldest_answer_makes_room_for_a_new_one(monkeypatch: pytest.MonkeyPatch, store: PresenceStore) -> None:
    monkeypatch.setattr(members, "ANSWERS_KEPT", 2)
    monkeypatch.setattr(members, "_answers", {})
    for chat_id in (ADA, BEN, ADA, BEN + 1):
        lookups.tell(store, chat_id)
        store.keep_banner(chat_id, Banner(None, timezone.now().timestamp()))
        assert lookups.get(chat_id).status == 200
    assert list(members._answers) == [BEN, BEN + 1]
