"""How old an answer may be: nothing is shown of a feed that stands still, and each part has its own age."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.cache import caches
from django.test import override_settings
from django.utils import timezone

from presence.answer import refreshing, rest
from presence.store.store import Banner, PresenceStore, Record
from tests.factories.accounts import LinkedAccountFactory
from tests.presence import lookups, reading, store_contents
from tests.presence.lookups import ADA, BEN, NOT_FOUND, UNAVAILABLE
from tests.presence.reading import Clock
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
FIRST, SECOND_BANNER = "a" * 32, "b" * 32


@pytest.fixture(autouse=True)
def clock(db: None, simulator: Simulator) -> Iterator[Clock]:
    """Noon, a key, and a member of the platform."""
    simulator.add_member(ADA, user={"banner": FIRST})
    with reading.standing_still() as clock:
        lookups.key()
        yield clock


@pytest.mark.parametrize(("seconds", "status"), [(0, 200), (59.9, 200), (60, 503), (86_400, 503)])
def test_the_last_known_presence_is_shown_for_less_than_a_minute(
    store: PresenceStore, clock: Clock, seconds: float, status: int
) -> None:
    lookups.tell(store)
    clock.wait(seconds)
    answer = lookups.get(ADA)
    assert answer.status == status
    assert status == 200 or (answer.whole, answer.headers["Retry-After"]) == (UNAVAILABLE, "5")


@pytest.mark.parametrize(("ahead", "status"), [(1, 200), (59, 200), (60, 503), (86_400, 503)])
def test_a_stamp_from_the_future_is_as_doubtful(store: PresenceStore, ahead: int, status: int) -> None:
    lookups.tell(store)
    lookups.alive(store, timezone.now() + ahead * SECOND)
    assert lookups.get(ADA).status == status


def test_a_store_that_was_emptied_knows_nothing(store: PresenceStore) -> None:
    lookups.tell(store)
    caches["presence"].clear()
    assert lookups.get(ADA).whole == UNAVAILABLE
    record = Record(lookups.PLAIN, lookups.ONLINE, 1, timezone.now().timestamp(), None)
    store_contents.write(store, {ADA: record.to_text()}, ())  # a first record, while the dump is still being written
    assert lookups.get(ADA).whole == UNAVAILABLE


@pytest.mark.parametrize("is_linked", [True, False])
def test_while_the_feed_stands_still_no_miss_is_answered_either(
    store: PresenceStore, clock: Clock, simulator: Simulator, is_linked: bool
) -> None:
    lookups.alive(store)
    clock.wait(60)
    if is_linked:
        LinkedAccountFactory(external_id=str(BEN))
    else:
        store.keep_miss(BEN, "notFound")
    asked = len(simulator.counters.rest)
    assert lookups.get(BEN).whole == UNAVAILABLE
    assert len(simulator.counters.rest) == asked


def _banner() -> str:
    """The hash that is shown; empty without one."""
    url = lookups.get(ADA).body["banner"]
    return url.rpartition("/")[2].removesuffix(".png") if url else ""


def _next_banner() -> str:
    """The one that is shown now, and after that the one that is read meanwhile."""
    shown = _banner()
    refreshing.settle()
    return f"{shown} {_banner()}"


def test_after_30_seconds_a_banner_is_read_anew(store: PresenceStore, clock: Clock, simulator: Simulator) -> None:
    lookups.tell(store)
    assert _banner() == FIRST
    simulator.update_member(ADA, user={"banner": SECOND_BANNER})
    clock.wait(30)
    assert _next_banner() == f"{FIRST} {FIRST}"
    clock.wait(0.1)
    assert _next_banner() == f"{FIRST} {SECOND_BANNER}"
    assert simulator.counters.rest == [f"/api/v10/users/{ADA}"] * 2


def test_no_lookup_waits_for_a_banner_that_is_read_anew(
    store: PresenceStore, clock: Clock, simulator: Simulator
) -> None:
    """While it is on its way, others do not read it."""
    lookups.tell(store)
    store.keep_banner(ADA, Banner(FIRST, timezone.now().timestamp() - 31))
    goes_on, read = threading.Event(), rest.banner
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rest, "banner", lambda chat_id: (goes_on.wait(10), read(chat_id))[1])
        assert {_banner() for _ in range(refreshing.THREADS + 2)} == {FIRST}
        goes_on.set()
        refreshing.settle()
    assert simulator.counters.rest == [f"/api/v10/users/{ADA}"]


def test_a_first_banner_is_read_in_the_background_while_half_of_the_threads_wait(store: PresenceStore) -> None:
    lookups.tell(store)
    with override_settings(WEB_THREADS=2):
        assert refreshing.waits().acquire(blocking=False)
    assert _next_banner() == f" {FIRST}"
    refreshing.waits().release()


@pytest.mark.parametrize(
    ("minutes", "shown"), [(60, f"{FIRST} {SECOND_BANNER}"), (61, f"{SECOND_BANNER} {SECOND_BANNER}")]
)
def test_an_old_banner_is_as_good_as_none(store: PresenceStore, simulator: Simulator, minutes: int, shown: str) -> None:
    lookups.tell(store)
    store.keep_banner(ADA, Banner(FIRST, (timezone.now() - minutes * MINUTE).timestamp()))
    simulator.update_member(ADA, user={"banner": SECOND_BANNER})
    assert _next_banner() == shown


@pytest.mark.parametrize(("ahead", "shown"), [(30, FIRST), (31, SECOND_BANNER)])
def test_a_banner_from_the_future_is_as_doubtful(
    store: PresenceStore, simulator: Simulator, ahead: int, shown: str
) -> None:
    lookups.tell(store)
    store.keep_banner(ADA, Banner(FIRST, timezone.now().timestamp() + ahead))
    simulator.update_member(ADA, user={"banner": SECOND_BANNER})
    assert _next_banner() == f"{FIRST} {shown}"


def test_a_banner_that_was_dropped_is_read_anew(store: PresenceStore, simulator: Simulator) -> None:
    lookups.tell(store)
    assert _banner() == FIRST
    simulator.update_member(ADA, user={"banner": None})
    store_contents.drop_banner(store, ADA)
    assert [_banner(), _banner()] == ["", ""]
    assert len(simulator.counters.rest) == 2  # no banner is an answer, too


def test_a_banner_stays_while_the_platform_does_not_answer(
    store: PresenceStore, clock: Clock, simulator: Simulator
) -> None:
    lookups.tell(store)
    assert _banner() == FIRST
    simulator.update_member(ADA, user={"banner": SECOND_BANNER})
    simulator.rest_is_down = True
    for _ in range(7):
        clock.wait(31)
        lookups.tell(store)
        assert _next_banner() == f"{FIRST} {FIRST}"
    simulator.rest_is_down = False
    clock.wait(31)
    lookups.tell(store)
    assert _next_banner() == f"{FIRST} {SECOND_BANNER}"


@pytest.mark.parametrize("status", [403, 404, 429, 503])
def test_a_first_banner_that_cannot_be_read_is_null(store: PresenceStore, simulator: Simulator, status: int) -> None:
    simulator.rest_status = status
    lookups.tell(store)
    assert _banner() == ""
    assert lookups.get(ADA).status == 200


def test_until_a_banner_can_be_read_the_one_that_the_gateway_named_is_shown(
    store: PresenceStore, simulator: Simulator
) -> None:
    simulator.rest_is_down = True
    lookups.tell(store, member={"user": {"id": str(ADA), "username": "ada", "banner": FIRST}})
    assert _banner() == FIRST


@pytest.mark.parametrize(("minutes", "is_asked"), [(0, False), (9.9, False), (10, True), (60, True)])
def test_a_member_untouched_for_ten_minutes_is_asked_for(store: PresenceStore, minutes: float, is_asked: bool) -> None:
    lookups.tell(store, touched=minutes * MINUTE)
    assert [lookups.get(ADA).status for _ in range(3)] == [200] * 3
    assert store.pending_refreshes(0)[0] == ([ADA] if is_asked else [])


def test_a_record_counts_before_every_miss(store: PresenceStore) -> None:
    lookups.tell(store)
    store.keep_miss(ADA, "notFound")
    assert lookups.get(ADA).status == 200
    store_contents.write(store, {}, [ADA])
    assert lookups.get(ADA).whole == NOT_FOUND


@pytest.mark.parametrize(
    "backend",
    [
        {"BACKEND": "presence.store.redis_cache.PresenceRedisCache", "LOCATION": "redis://127.0.0.1:1/0"},
        {"BACKEND": "presence.store.database_cache.PresenceDatabaseCache", "LOCATION": "no_such_table"},
    ],
    ids=["redis", "database"],
)
@pytest.mark.django_db(transaction=True)  # a failed statement must not end the test's transaction
def test_a_store_that_does_not_answer_is_503(simulator: Simulator, backend: dict[str, str]) -> None:
    with override_settings(CACHES={**settings.CACHES, "presence": backend}):
        answer = lookups.get(ADA)
    assert (answer.whole, answer.headers["Retry-After"]) == (UNAVAILABLE, "5")
    assert simulator.counters.rest == []
