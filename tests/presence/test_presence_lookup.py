"""GET /api/lookup/presence/{chatId}: whole answers, for a member with everything and for one with nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from presence.store.store import PresenceStore, Profile
from tests.accounts.calls import without_budget
from tests.lookup.answers import compact
from tests.presence import lookups, reading, whole_members
from tests.presence.lookups import SECRET
from tests.presence.reading import Clock
from tests.presence.whole_members import ADA, EVERYTHING, NOTHING, SHOWN_EVERYTHING, SHOWN_NOTHING, Json
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def clock(db: None, settings: Settings, simulator: Simulator) -> Iterator[Clock]:
    """Noon, a key, and a member whom the platform knows."""
    simulator.add_member(ADA, user={"banner": EVERYTHING["banner"]})
    whole_members.addresses(settings)
    with reading.standing_still() as clock:
        lookups.key()
        yield clock


def _tell(store: PresenceStore, given: Json) -> None:
    lookups.tell(store, ADA, member=given["member"], presence=given["presence"], last_online=given["last_online"])


@pytest.fixture
def everything(store: PresenceStore) -> None:
    """Ada has everything."""
    badges = (*EVERYTHING["profile_badges"], "unheard_of")
    read_at = timezone.now().timestamp()
    store.keep_profile(ADA, Profile(EVERYTHING["biography"], badges, read_at, is_failure=False))
    _tell(store, EVERYTHING)


def test_a_member_with_everything(everything: None) -> None:
    answer = lookups.get(ADA)
    assert answer.whole == (200, SHOWN_EVERYTHING)
    assert answer.text == compact(SHOWN_EVERYTHING)  # in the document's order


def test_a_member_with_nothing(simulator: Simulator, store: PresenceStore) -> None:
    simulator.update_member(ADA, user={"banner": None})
    _tell(store, NOTHING)
    answer = lookups.get(ADA)
    assert answer.whole == (200, SHOWN_NOTHING)
    assert answer.text == compact(SHOWN_NOTHING)


@pytest.mark.parametrize("chat_id", [26847331098624000, 268473310986240003, 1268473310986240003])
def test_ids_have_17_to_19_digits(store: PresenceStore, simulator: Simulator, chat_id: int) -> None:
    simulator.add_member(chat_id)
    lookups.tell(store, chat_id)
    answer = lookups.get(chat_id)
    assert (answer.status, answer.body["id"]) == (200, str(chat_id))


def test_head_is_get_without_a_body(everything: None) -> None:
    headers = {"X-API-Key": SECRET}
    head, got = Client().head(f"/api/lookup/presence/{ADA}", headers=headers), lookups.get(ADA)
    expected = without_budget(got.headers)
    assert head.headers.pop("X-Request-Id")[1] != expected.pop("X-Request-Id")
    assert (head.status_code, head.content) == (200, b"")
    assert without_budget(head.headers) == expected
    assert expected == {
        "Content-Type": "application/json",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-cache",
        "ETag": f'"{hashlib.sha256(compact(SHOWN_EVERYTHING).encode()).hexdigest()[:32]}"',
        "Content-Length": str(len(compact(SHOWN_EVERYTHING).encode())),
    }


def test_an_unchanged_presence_is_304_and_a_changed_or_refused_one_is_not(
    everything: None, store: PresenceStore
) -> None:
    path, known = f"/api/lookup/presence/{ADA}", lookups.get(ADA).headers["ETag"]
    headers = {"X-API-Key": SECRET, "If-None-Match": known}
    again = Client(REMOTE_ADDR=lookups.ADDRESS).get(path, headers=headers)
    fields = dict(again.headers)
    assert len(fields.pop("X-Request-Id")) == 16
    assert (again.status_code, again.content) == (304, b"")
    assert fields == {
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-cache",
        "ETag": known,
        "RateLimit-Policy": '"key";q=30;w=60, "address";q=60;w=60',
        "RateLimit": '"key";r=28;t=60, "address";r=58;t=60',
    }
    refused = Client().get(path, headers={**headers, "X-API-Key": "nobody's"})
    assert (refused.status_code, refused.headers["Cache-Control"]) == (401, "private, no-store")
    assert "ETag" not in refused.headers
    _tell(store, {**EVERYTHING, "last_online": 1})
    changed = Client().get(path, headers=headers)
    assert (changed.status_code, changed.headers["ETag"] == known) == (200, False)
