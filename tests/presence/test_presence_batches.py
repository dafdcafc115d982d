"""GET /api/lookup/presence?ids=: each element is the answer of the lookup of one member, in the order asked."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import ApiKey
from presence.answer import members, refreshing, rest
from presence.store.store import Banner, PresenceStore, Record
from tests.lookup import statements
from tests.presence import lookups, reading, store_contents, whole_members
from tests.presence.lookups import ADA, BEN, IDS_INVALID, NOT_FOUND, NOT_MEMBER, PRIVATE, UNAVAILABLE, Json
from tests.presence.reading import Clock
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db
HAS_REDIS = bool(settings.REDIS_URL)
KEY = [] if HAS_REDIS else ["SELECT accounts_apikey"]
GLANCE = [] if HAS_REDIS else ["SELECT presence_storeentry"]
FIRST = 268473310986250000
OUTSIDER, NOBODY, HIDDEN, FUTURE = FIRST - 1, FIRST - 2, FIRST - 3, 2**63
ERRORS: dict[int, Json] = {
    OUTSIDER: NOT_MEMBER[1],
    NOBODY: NOT_FOUND[1],
    HIDDEN: PRIVATE[1],
    FUTURE: NOT_FOUND[1],
}


@pytest.fixture(autouse=True)
def clock(db: None, settings: Settings, store: PresenceStore) -> Iterator[Clock]:
    """Noon, a key that has been used, and 50 members of whom everything is known."""
    whole_members.addresses(settings)
    members._answers.clear()
    with reading.standing_still() as clock:
        lookups.key()
        _tell(store)
        store.keep_miss(OUTSIDER, "notMember")
        store.keep_miss(NOBODY, "notFound")
        hidden = Record(lookups.PLAIN, lookups.ONLINE, 1, timezone.now().timestamp(), None, is_private=True)
        store_contents.write(store, {HIDDEN: hidden.to_text()}, ())
        assert lookups.get_many([FIRST]).status == 200
        yield clock


def _tell(store: PresenceStore) -> None:
    now = timezone.now().timestamp()
    record = Record(lookups.PLAIN, lookups.ONLINE, 1, now, None)
    store_contents.write(store, {FIRST + n: record.to_text() for n in range(50)}, ())
    for n in range(50):
        store.keep_banner(FIRST + n, Banner(None, now))
    lookups.alive(store)


def _batch(*elements: str) -> str:
    return '{"error":null,"results":[' + ",".join(elements) + "]}"


def test_the_elements_are_the_bodies_of_single_lookups_in_the_order_asked() -> None:
    asked = [FIRST + 7, OUTSIDER, FIRST, NOBODY, HIDDEN, FUTURE, FIRST + 7]
    found = lookups.get_many(asked)
    assert (found.status, found.text) == (200, _batch(*(lookups.get(chat_id).text for chat_id in asked)))
    assert [found.body["results"][place] for place in (1, 3, 4, 5)] == list(ERRORS.values())


@pytest.mark.embedded
@pytest.mark.parametrize("seed", range(6))
def test_any_mix_is_byte_for_byte_what_single_lookups_answer(settings: Settings, seed: int) -> None:
    settings.RATE_LIMITS_ENABLED = False
    dice = random.Random(seed)  # noqa: S311 - no secret
    asked = dice.choices([*range(FIRST, FIRST + 50), *ERRORS], k=dice.choice((1, 2, 10, 11, 50)))
    if seed % 2:
        members._answers.clear()
    assert lookups.get_many(asked).text == _batch(*(lookups.get(chat_id).text for chat_id in asked))


@pytest.mark.parametrize("hidden", ERRORS)
def test_an_error_stands_in_its_place_at_every_position(settings: Settings, hidden: int) -> None:
    settings.RATE_LIMITS_ENABLED = False
    shown = lookups.get(FIRST).body
    for place in range(50):
        asked, expected = [FIRST] * 50, [shown] * 50
        asked[place], expected[place] = hidden, ERRORS[hidden]
        assert lookups.get_many(asked).body["results"] == expected, place


def test_a_change_is_seen_by_the_next_batch(store: PresenceStore) -> None:
    lookups.get_many([FIRST, FIRST + 1])
    lookups.tell(store, FIRST, presence={**lookups.ONLINE, "status": "dnd", "client_status": {"desktop": "dnd"}})
    store.keep_privacy(FIRST + 1, is_private=True)
    first, second = lookups.get_many([FIRST, FIRST + 1]).body["results"]
    assert first["status"]["status"] == "dnd"
    assert second == PRIVATE[1]


def test_a_stale_feed_is_503_for_the_whole_batch(store: PresenceStore) -> None:
    lookups.alive(store, timezone.now() - timedelta(minutes=1))
    answer = lookups.get_many([FIRST, OUTSIDER])
    assert (answer.whole, answer.headers["Retry-After"]) == (UNAVAILABLE, "5")


# --- What is refused ---

BAD = (
    *("", ",", f"{ADA},", f",{ADA}", f"{ADA},,{BEN}", f"{ADA} ,{BEN}", f"{ADA};{BEN}", "1", f"{ADA},malformed"),
    *(f"{ADA},1234567890123456", f"{ADA},12345678901234567890", f"{ADA},-{BEN}", f"{ADA},%D9%A1" + "7" * 17),
    *(f"{ADA}&ids={BEN}", f"{ADA}%0A", f"{ADA}%00", ",".join([str(ADA)] * 51), "7" * 4000),
)


@pytest.mark.parametrize("ids", BAD)
def test_ids_are_1_to_50_with_commas_between_them(ids: str) -> None:
    assert lookups.get_many(ids).whole == IDS_INVALID
    assert lookups.get_path("/api/lookup/presence").whole == IDS_INVALID


def test_malformed_ids_are_refused_before_the_key_and_count_for_the_address() -> None:
    assert lookups.get_many("malformed", None).whole == IDS_INVALID
    assert lookups.get_many([ADA], None).body["code"] == "UNAUTHORIZED"
    answers = [lookups.get_many("malformed", None, "198.51.100.1").status for _ in range(61)]
    assert answers == [*[400] * 60, 429]


def test_more_parameters_than_a_query_may_have_count_for_the_address() -> None:
    answer = lookups.get_many(f"{ADA}{'&' * 1000}", address="198.51.100.2")
    assert answer.whole == (400, {"error": "errors.badRequest"})
    assert answer.headers["RateLimit"].startswith('"address";r=59;')


def test_a_comma_may_be_encoded(simulator: Simulator) -> None:
    assert lookups.get_many(f"{FIRST}%2C{FIRST + 1}").whole == lookups.get_many([FIRST, FIRST + 1]).whole


def test_head_is_get_without_a_body_and_other_methods_are_refused() -> None:
    path, headers = f"/api/lookup/presence?ids={FIRST}", {"X-API-Key": lookups.SECRET}
    head = Client().head(path, headers=headers)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == str(len(lookups.get_many([FIRST]).text))
    for method in ("post", "put", "patch", "delete", "options"):
        answer = getattr(Client(), method)(path, headers=headers)
        assert (answer.status_code, answer.json()) == (405, {"error": "errors.methodNotAllowed"})
        assert answer.headers["Allow"] == "GET, HEAD"


# --- What it costs ---


@pytest.mark.embedded
@pytest.mark.parametrize(("count", "cost"), [(1, 1), (10, 1), (11, 2), (49, 5), (50, 5)])
def test_a_batch_takes_one_use_of_a_quota_for_each_10_ids_begun(count: int, cost: int) -> None:
    lookups.key("another", remaining_uses=5)
    assert lookups.get_many([FIRST] * count, "another").status == 200
    assert ApiKey.objects.get(remaining_uses__isnull=False).remaining_uses == 5 - cost


def test_a_batch_over_the_rate_is_refused_whole_and_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups.key("another")
    assert [lookups.get_many([FIRST] * 50, "another").status for _ in range(6)] == [200] * 6
    assert lookups.get_many([FIRST], "another").body["code"] == "RATE_LIMITED"
    assert lookups.commands(monkeypatch, lambda: lookups.get_many([FIRST], "another")) == ["EVALSHA"]


def _cost(asked: list[int], monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """Statements, and commands."""
    found: list[str] = []
    commands = lookups.commands(monkeypatch, lambda: found.extend(statements.names(lambda: lookups.get_many(asked))))
    return found, commands


@pytest.mark.embedded
def test_50_members_are_the_key_and_one_look_into_the_store(
    monkeypatch: pytest.MonkeyPatch, simulator: Simulator
) -> None:
    lookups.get_many([FIRST])
    everybody = [*range(FIRST, FIRST + 46), *ERRORS]
    for asked in ([FIRST], everybody, everybody, [OUTSIDER], [HIDDEN], [NOBODY]):
        assert _cost(asked, monkeypatch) == ([*KEY, *GLANCE], ["EVALSHA", "MGET"] if HAS_REDIS else [])
    assert simulator.counters.rest == []


# --- What the store lacks ---


def test_of_each_10_ids_begun_one_that_is_not_known_is_looked_up(simulator: Simulator, store: PresenceStore) -> None:
    """So a batch causes as many calls to the platform as it costs requests."""
    strangers = [FIRST + 1000 + n for n in range(50)]
    for chat_id in strangers:
        simulator.add_account(chat_id)
    results = lookups.get_many(strangers).body["results"]
    assert len(simulator.counters.rest) == 5
    assert results == [NOT_MEMBER[1]] * 5 + [UNAVAILABLE[1]] * 45
    assert lookups.get_many(strangers[4:14]).body["results"] == [NOT_MEMBER[1]] * 2 + [UNAVAILABLE[1]] * 8
    assert len(simulator.counters.rest) == 6


def test_a_private_account_without_a_record_is_private_once_it_is_looked_up(store: PresenceStore) -> None:
    store.keep_miss(FIRST + 1000, "private")
    assert lookups.get_many([FIRST + 1000]).body["results"] == [PRIVATE[1]]


def test_banners_that_the_store_lacks_are_waited_for_and_the_bytes_are_those_of_single_lookups(
    simulator: Simulator, store: PresenceStore
) -> None:
    asked = list(range(FIRST, FIRST + 5))
    for chat_id in asked:
        simulator.add_member(chat_id, user={"banner": "a" * 32})
        store_contents.drop_banner(store, chat_id)
    found = lookups.get_many(asked)
    assert len(simulator.counters.rest) == 5
    assert [("a" * 32) in element["banner"] for element in found.body["results"]] == [True] * 5
    assert found.text == _batch(*(lookups.get(chat_id).text for chat_id in asked))
    assert len(simulator.counters.rest) == 5


def test_while_the_platform_does_not_answer_the_others_are_answered(
    simulator: Simulator, store: PresenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.rest_is_down = True
    store_contents.drop_banner(store, FIRST)
    asked = [FIRST, FIRST + 1000, OUTSIDER]
    first, *others = lookups.get_many(asked).body["results"]
    assert first["banner"] is None
    assert others == [UNAVAILABLE[1], NOT_MEMBER[1]]
    refreshing.settle()


def test_a_batch_waits_for_the_platform_for_a_second_in_all(
    simulator: Simulator, store: PresenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "PATIENCE", 0.05)
    asked = list(range(FIRST, FIRST + 20))
    for chat_id in asked:
        store_contents.drop_banner(store, chat_id)
    goes_on = threading.Event()
    monkeypatch.setattr(rest, "banner", lambda chat_id: goes_on.wait(10) and None)
    try:
        assert [element["banner"] for element in lookups.get_many(asked).body["results"]] == [None] * 20
    finally:
        goes_on.set()
        refreshing.settle()


def test_quiet_members_are_asked_for_in_the_background(store: PresenceStore) -> None:
    for n in range(3):
        lookups.tell(store, FIRST + n, touched=timedelta(minutes=11))
    assert lookups.get_many([FIRST, FIRST + 1, FIRST + 2]).status == 200
    refreshing.settle()
    assert sorted(store.pending_refreshes(0)[0]) == [FIRST, FIRST + 1, FIRST + 2]
