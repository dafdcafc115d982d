"""A record that a later dump does not have: no proof that the member left, for a late writer may have put it there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.utils import timezone

from presence import members
from presence.simulator.running import Simulator
from presence.store import PresenceStore
from tests.factories.accounts import LinkedAccountFactory
from tests.presence import lookups, reading
from tests.presence.lookups import ADA, NOT_MEMBER, UNAVAILABLE

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _noon(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(members, "PATIENCE", 0.2)
    with reading.standing_still():
        lookups.key()
        yield


def overtaken(store: PresenceStore) -> None:
    """A later dump came after Ada's record; it does not have her, or a worker that stood still wrote the older one."""
    lookups.tell(store)
    store.set_complete(2)
    assert store.stamp(timezone.now().timestamp(), generation=2)


@pytest.mark.parametrize("is_known", ["linked", "told of by the worker"])
def test_an_overtaken_record_is_no_proof_of_absence(simulator: Simulator, store: PresenceStore, is_known: str) -> None:
    simulator.add_member(ADA)
    overtaken(store)
    if is_known == "linked":
        LinkedAccountFactory(external_id=str(ADA))
    else:
        store.know_account(ADA)
    answer = lookups.get(ADA)
    assert (answer.whole, answer.headers["Retry-After"]) == (UNAVAILABLE, "1")
    assert store.asked(0)[0] == [ADA]
    assert len(simulator.counters.rest) == 1


def test_who_left_while_nobody_looked_is_asked_for_and_the_worker_is_told(
    simulator: Simulator, store: PresenceStore
) -> None:
    LinkedAccountFactory(external_id=str(ADA))
    simulator.add_account(ADA)
    overtaken(store)
    assert [lookups.get(ADA).whole for _ in range(2)] == [NOT_MEMBER] * 2
    assert simulator.counters.rest == [f"/api/v10/guilds/{simulator.guild_id}/members/{ADA}"]
    assert store.asked(0)[0] == [ADA]


def test_an_overtaken_record_is_no_proof_while_the_platform_does_not_answer(
    simulator: Simulator, store: PresenceStore
) -> None:
    LinkedAccountFactory(external_id=str(ADA))
    overtaken(store)
    simulator.rest_is_down = True
    assert lookups.get(ADA).whole == UNAVAILABLE
