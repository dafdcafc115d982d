"""What one lookup costs: statements of the database, commands of Redis, calls to the platform.

With Redis the key is in its cache; without, it is read from the database at each request, as the store is.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone
from pytest_django import Settings

from presence.answer import refreshing, rest
from presence.store.store import Banner, PresenceStore, Profile, Record
from tests.lookup import statements
from tests.presence import lookups, reading, store_contents
from tests.presence.lookups import ADA, BEN
from tests.support.chat_platform import Simulator

pytestmark = [pytest.mark.embedded, pytest.mark.django_db]
HAS_REDIS = bool(settings.REDIS_URL)
KEY = [] if HAS_REDIS else ["SELECT accounts_apikey"]
GLANCE = [] if HAS_REDIS else ["SELECT presence_storeentry"]
CHECK, BOTH = "EVALSHA", "EVALSHA+MGET"


@pytest.fixture(autouse=True)
def asked_before(db: None, settings: Settings, simulator: Simulator, store: PresenceStore) -> Iterator[None]:
    """A key that has been used, and a member of whom everything is known. There is a profile source."""
    settings.CHAT = replace(settings.CHAT, profile_url=f"{simulator.url}/profiles/{{id}}")
    with reading.standing_still():
        lookups.key()
        lookups.tell(store)
        now = timezone.now().timestamp()
        store.keep_banner(ADA, Banner(None, now))
        store.keep_profile(ADA, Profile(None, (), now, is_failure=False))
        assert lookups.get(ADA).status == 200
        yield


def _cost(chat_id: int | str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """Statements, and commands."""
    found: list[str] = []
    commands = lookups.commands(monkeypatch, lambda: found.extend(statements.names(lambda: lookups.get(chat_id))))
    return found, commands


def _redis(*commands: str) -> list[str]:
    return list(commands) if HAS_REDIS else []


def test_a_member_is_the_key_and_one_look_into_the_store(monkeypatch: pytest.MonkeyPatch, simulator: Simulator) -> None:
    assert _cost(ADA, monkeypatch) == ([*KEY, *GLANCE], _redis(BOTH))
    assert simulator.counters.rest == []


def test_a_known_miss_and_a_stale_feed_cost_the_same(monkeypatch: pytest.MonkeyPatch, store: PresenceStore) -> None:
    store.keep_miss(BEN, "notMember")
    store.keep_miss(BEN + 1, "notFound")
    for chat_id in (BEN, BEN + 1):
        assert _cost(chat_id, monkeypatch) == ([*KEY, *GLANCE], _redis(BOTH))
    lookups.alive(store, timezone.now() - timedelta(minutes=1))
    for chat_id in (ADA, BEN):
        assert _cost(chat_id, monkeypatch) == ([*KEY, *GLANCE], _redis(BOTH))


def test_a_private_account_costs_the_same(monkeypatch: pytest.MonkeyPatch, store: PresenceStore) -> None:
    private = Record(lookups.PLAIN, lookups.ONLINE, 1, timezone.now().timestamp(), None, is_private=True)
    store_contents.write(store, {ADA: private.to_text()}, ())
    assert _cost(ADA, monkeypatch) == ([*KEY, *GLANCE], _redis(BOTH))
    assert lookups.get(ADA).whole == lookups.PRIVATE


@pytest.mark.django_db(transaction=True)  # SQLite lets the thread that keeps the banner write
def test_a_banner_that_is_read_anew_costs_the_lookup_nothing(
    monkeypatch: pytest.MonkeyPatch, store: PresenceStore
) -> None:
    store.keep_banner(ADA, Banner(None, timezone.now().timestamp() - 31))
    goes_on = threading.Event()
    monkeypatch.setattr(rest, "banner", lambda chat_id: goes_on.wait(10) and None)
    try:
        assert _cost(ADA, monkeypatch) == ([*KEY, *GLANCE], _redis(BOTH))
    finally:
        goes_on.set()
        refreshing.settle()


def test_while_no_banner_can_be_read_an_old_one_costs_the_lookup_nothing(
    monkeypatch: pytest.MonkeyPatch, store: PresenceStore, simulator: Simulator
) -> None:
    simulator.rest_status = 503
    store.keep_banner(ADA, Banner(None, timezone.now().timestamp() - 3601))
    assert lookups.get(ADA).status == 200
    simulator.rest_status = 0
    assert _cost(ADA, monkeypatch) == ([*KEY, *GLANCE], _redis(BOTH))
    assert len(simulator.counters.rest) == 1
    store_contents.drop_banner(store, ADA)
    assert lookups.get(ADA).status == 200
    assert len(simulator.counters.rest) == 2  # it may be the first one of a new member


def test_an_id_that_was_never_issued_costs_no_more_round_trips(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _cost(2**63, monkeypatch) == (KEY, _redis(BOTH))


def test_a_malformed_id_asks_nothing_but_the_addresss_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups.get("malformed")  # Redis knows the script from now on
    assert _cost("malformed", monkeypatch) == ([], _redis(CHECK))


def test_an_unknown_id_is_one_call_to_the_platform(monkeypatch: pytest.MonkeyPatch, simulator: Simulator) -> None:
    found, _ = _cost(BEN, monkeypatch)
    assert found[: len([*KEY, *GLANCE])] == [*KEY, *GLANCE]
    assert len(simulator.counters.rest) == 1
