"""The two misses, distinguished by one call to the platform and never by a guess."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.core.cache import caches
from django.utils import timezone
from pytest_django import Settings

from presence.answer import members, refreshing
from presence.answer.rest import Membership
from presence.store.store import PresenceStore
from tests.factories.accounts import LinkedAccountFactory
from tests.presence import lookups, reading, store_contents
from tests.presence.lookups import ADA, BEN, NOT_FOUND, NOT_MEMBER, UNAVAILABLE, Json
from tests.presence.reading import Clock
from tests.support.chat_platform import Simulator
from tests.support.threads import together

pytestmark = pytest.mark.django_db

DAY = 86_400


@pytest.fixture(autouse=True)
def clock(db: None, store: PresenceStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """Noon, a key, and a store that holds the truth of an empty chat server."""
    monkeypatch.setattr(members, "PATIENCE", 0.2)
    with reading.standing_still() as clock:
        lookups.key()
        lookups.alive(store)
        yield clock


@pytest.mark.parametrize(("is_account", "miss", "lifetime"), [(True, NOT_MEMBER, 600), (False, NOT_FOUND, DAY)])
def test_a_miss_is_asked_for_once_in_its_time(
    simulator: Simulator, store: PresenceStore, clock: Clock, is_account: bool, miss: tuple[int, Json], lifetime: int
) -> None:
    if is_account:
        simulator.add_account(ADA)
    asked = []
    for seconds in (0, lifetime - 1, 2):
        clock.wait(seconds)
        lookups.alive(store)
        assert lookups.get(ADA).whole == miss
        asked.append(len(simulator.counters.rest))
    assert asked == [1, 1, 2]


def test_an_id_of_this_very_minute_is_asked_for_each_time(simulator: Simulator) -> None:
    """It may be issued at any time."""
    newest = int(timezone.now().timestamp() * 1000 - members.EPOCH) << 22
    for chat_id in (newest, newest - (59_000 << 22), newest + (60_000 << 22)):
        assert [lookups.get(chat_id).whole for _ in range(2)] == [NOT_FOUND, NOT_FOUND]
    assert len(simulator.counters.rest) == 6


def test_who_joins_is_seen_at_once_whatever_was_cached(simulator: Simulator, store: PresenceStore) -> None:
    simulator.add_account(ADA)
    assert lookups.get(ADA).whole == NOT_MEMBER
    simulator.add_member(ADA)
    lookups.tell(store)
    assert lookups.get(ADA).status == 200


FUTURE_IDS = [2**63, 2**63 - 1, "0268473310986240001"]


@pytest.mark.parametrize("chat_id", FUTURE_IDS)
def test_an_id_that_was_never_issued_is_answered_without_a_call(simulator: Simulator, chat_id: int | str) -> None:
    assert lookups.get(chat_id).whole == NOT_FOUND
    assert simulator.counters.rest == []


def test_an_id_may_be_a_minute_ahead_of_our_clock_and_no_more(simulator: Simulator) -> None:
    ahead = int(timezone.now().timestamp() * 1000 - members.EPOCH) + 60_000
    assert lookups.get((ahead << 22) + 4_194_303).whole == NOT_FOUND
    assert len(simulator.counters.rest) == 1
    assert lookups.get((ahead + 1) << 22).whole == NOT_FOUND
    assert len(simulator.counters.rest) == 1


@pytest.mark.parametrize("chat_id", [ADA, BEN])
def test_while_the_platform_does_not_answer_no_id_is_called_a_miss(simulator: Simulator, chat_id: int) -> None:
    simulator.add_account(BEN)
    simulator.rest_is_down = True
    for _ in range(9):
        answer = lookups.get(chat_id)
        assert (answer.whole, answer.headers["Retry-After"]) == (UNAVAILABLE, "5")
    simulator.rest_is_down = False


def test_what_is_known_is_answered_while_the_platform_does_not_answer(simulator: Simulator, clock: Clock) -> None:
    simulator.add_account(ADA)
    assert [lookups.get(ADA).whole, lookups.get(BEN).whole] == [NOT_MEMBER, NOT_FOUND]
    simulator.rest_is_down = True
    assert [lookups.get(ADA).whole, lookups.get(BEN).whole] == [NOT_MEMBER, NOT_FOUND]
    assert lookups.get(ADA + 7).whole == UNAVAILABLE


def test_a_member_of_whom_the_feed_has_sent_nothing_is_no_miss(simulator: Simulator, store: PresenceStore) -> None:
    simulator.add_member(ADA)
    answer = lookups.get(ADA)
    assert (answer.whole, answer.headers["Retry-After"]) == (UNAVAILABLE, "1")
    assert store.pending_refreshes(0)[0] == [ADA]
    assert lookups.get(ADA).whole == UNAVAILABLE  # nothing was kept


@pytest.mark.django_db(transaction=True)  # the feed is another connection
def test_a_member_of_whom_the_feed_tells_in_this_moment(
    simulator: Simulator, store: PresenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "PATIENCE", 20)
    simulator.add_member(ADA)

    def act(number: int) -> int:
        if number:
            return lookups.get(ADA).status
        while not store.pending_refreshes(0)[0]:
            pass
        lookups.tell(store)
        return 0

    assert together(2, act) == [0, 200]


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)  # threads have connections of their own
def test_who_is_asked_for_by_many_at_once_is_asked_for_once(simulator: Simulator) -> None:
    simulator.add_account(ADA)
    answers = together(6, lambda _: lookups.get(ADA).whole)
    assert answers == [NOT_MEMBER] * 6
    assert len(simulator.counters.rest) == 1


@pytest.mark.django_db(transaction=True)
def test_what_another_process_is_asking_is_waited_for(
    simulator: Simulator, store: PresenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "PATIENCE", 20)
    monkeypatch.setattr(members, "PAUSE", 0.01)
    looked = store.claim(f"membership:{ADA}", 5)  # by the other one

    def act(number: int) -> object:
        if number:
            return lookups.get(ADA).whole
        store.keep_miss(ADA, Membership.NOT_FOUND.value)
        return looked

    assert together(2, act) == [True, NOT_FOUND]
    assert simulator.counters.rest == []


@pytest.mark.usefixtures("simulator")
def test_half_of_the_threads_wait_for_the_platform_and_the_rest_say_that_they_do_not_know(settings: Settings) -> None:
    settings.WEB_THREADS = 5
    assert lookups.get(ADA).whole == NOT_FOUND  # and gives its place back
    assert all(refreshing.waits().acquire(blocking=False) for _ in range(2))
    answer = lookups.get(BEN)
    assert (answer.whole, answer.headers["Retry-After"]) == (UNAVAILABLE, "1")
    assert lookups.get(ADA).whole == NOT_FOUND
    refreshing.waits().release()
    assert lookups.get(BEN).whole == NOT_FOUND
    refreshing.waits().release()


def test_another_process_that_died_while_asking_costs_five_seconds(
    simulator: Simulator, store: PresenceStore, clock: Clock
) -> None:
    store.claim(f"membership:{ADA}", members.TURN_SECONDS)
    answer = lookups.get(ADA)
    assert (answer.whole, answer.headers["Retry-After"]) == (UNAVAILABLE, "1")
    clock.wait(members.TURN_SECONDS)
    assert lookups.get(ADA).whole == NOT_FOUND


def evict(store: PresenceStore) -> None:
    """Ada's record is gone, and nothing else."""
    lookups.tell(store)
    caches["presence"].delete(f"m:{ADA}")


def overtake(store: PresenceStore) -> None:
    """A later dump came after Ada's record, and does not have her."""
    lookups.tell(store)
    store_contents.set_complete(store, 2)
    assert store_contents.stamp(store, timezone.now().timestamp(), generation=2)


@pytest.mark.parametrize("lose", [evict, overtake])
@pytest.mark.parametrize("is_linked", [True, False])
def test_a_lost_record_is_no_proof_of_absence(
    simulator: Simulator, store: PresenceStore, lose: Callable[[PresenceStore], None], is_linked: bool
) -> None:
    simulator.add_member(ADA)
    lose(store)
    if is_linked:
        LinkedAccountFactory(external_id=str(ADA))
    answer = lookups.get(ADA)
    assert (answer.whole, answer.headers["Retry-After"]) == (UNAVAILABLE, "1")
    assert store.pending_refreshes(0)[0] == [ADA]
    assert len(simulator.counters.rest) == 1


def test_who_left_while_no_worker_ran_is_asked_for(simulator: Simulator, store: PresenceStore) -> None:
    LinkedAccountFactory(external_id=str(ADA))
    simulator.add_account(ADA)
    overtake(store)
    assert [lookups.get(ADA).whole for _ in range(2)] == [NOT_MEMBER] * 2
    assert simulator.counters.rest == [f"/api/v10/guilds/{simulator.guild_id}/members/{ADA}"]
