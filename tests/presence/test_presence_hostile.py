"""Ids that only look like ids, and a store full of what the platform should never have sent."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.core.cache import caches
from hypothesis import HealthCheck, given, settings, strategies

from infrastructure.requests.request_context import Request
from presence.answer import members
from presence.errors import ChatIdInvalid
from presence.store.store import PresenceStore
from presence.views import PresenceLookup
from tests.presence import lookups, reading, store_contents
from tests.presence.lookups import ADA, INVALID, UNAVAILABLE
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db
ID = str(ADA)
UNHURRIED = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(autouse=True)
def _feed(db: None, simulator: Simulator, store: PresenceStore) -> Iterator[None]:
    """Noon, a key, and a member."""
    simulator.add_member(ADA)
    with reading.standing_still():
        lookups.key()
        lookups.tell(store)
        yield


MALFORMED = {
    "empty": "",
    "16 digits": "2" * 16,
    "20 digits": "2" * 20,
    "a newline after it": f"{ID}%0A",
    "a minus": f"-{ID[1:]}",
    "one other digit": ID[:-1] + "%D9%A1",
    "no UTF-8": ID[:-1] + "%FF",
    "two ids": f"{ID},{ID}",
    "encoded twice": f"%2532{ID[1:]}",
    "a dot segment": "%2E%2E",
    "a NUL behind it": f"{ID}%00",
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_id(simulator: Simulator, case: str) -> None:
    assert lookups.get(MALFORMED[case]).whole == INVALID
    assert simulator.counters.rest == []


def test_encoded_digits_are_digits() -> None:
    assert lookups.get("".join(f"%3{digit}" for digit in ID)).status == 200


@UNHURRIED
@given(strategies.text(max_size=30) | strategies.from_regex(r"[0-9]{15,21}\n?"))
def test_an_id_is_17_to_19_digits_or_refused(text: str) -> None:
    is_one = 17 <= len(text) <= 19 and set(text) <= set("0123456789")
    try:
        assert members.check(text) == int(text)
    except ChatIdInvalid:
        assert not is_one
    else:
        assert is_one


def test_the_view_looks_at_the_id_however_it_was_routed() -> None:
    request = Request({"REQUEST_METHOD": "GET"}, is_secure=False)
    answer = PresenceLookup().respond(request, chat_id=f"{ID}\n")
    assert (answer.status, json.loads(answer.body)) == INVALID


DAMAGED = ["", "[]", '{"m":[]}', '{"m":{},"g":1,"t":NaN}', "[" * 9999]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_record_is_no_miss(store: PresenceStore, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform says that this is a member, and the feed has to tell of her again."""
    monkeypatch.setattr(members, "PATIENCE", 0.1)
    store_contents.write(store, {ADA: text}, ())
    assert lookups.get(ADA).whole == UNAVAILABLE
    assert store.pending_refreshes(0)[0] == [ADA]


@pytest.mark.parametrize("value", ["x", -1, "{}", '{"at":"x","g":1}', '{"at":NaN,"g":1}', '{"at":1,"g":1}'])
def test_a_damaged_stamp_is_none(value: object) -> None:
    caches["presence"].set("alive", value, None)
    assert lookups.get(ADA).whole == UNAVAILABLE
