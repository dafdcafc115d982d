"""Ids that only look like ids, and a store full of what the platform should never have sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import caches
from django.test import RequestFactory
from hypothesis import HealthCheck, given, settings, strategies

from presence import members
from presence.errors import ChatIdInvalid, ChatNotFound
from presence.simulator.running import Simulator
from presence.store import PresenceStore
from presence.views.current import PresenceLookup
from tests.accounts.moments import NOON
from tests.presence import lookups, reading
from tests.presence.lookups import ADA, INVALID, NO_SUCH_PATH, UNAVAILABLE

pytestmark = pytest.mark.django_db
ID = str(ADA)
UNHURRIED = settings(
    max_examples=60,
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
    "thousands of digits": "2" * 9000,
    "a newline after it": f"{ID}%0A",
    "a carriage return after it": f"{ID}%0D%0A",
    "a newline before it": f"%0A{ID}",
    "a space": f"{ID}%20",
    "a plus": f"+{ID[1:]}",
    "a minus": f"-{ID[1:]}",
    "an underscore": "2_6847331098624000",
    "a dot": "268473310986240.01",
    "an exponent": "26847331098624e001",
    "hexadecimal": "0x2684733109862400",
    "Arabic digits": "%D9%A1" * 18,
    "full-width digits": "%EF%BC%91" * 18,
    "superscripts": "%C2%B9" * 18,
    "one other digit": ID[:-1] + "%D9%A1",
    "no UTF-8": ID[:-1] + "%FF",
    "a lone surrogate": ID[:-1] + "%ED%A0%80",
    "a uid": "7",
    "a name": "ada",
    "two ids": f"{ID},{ID}",
    "a parameter of a segment": f"{ID};v=1",
    "encoded twice": f"%2532{ID[1:]}",
    "a dot segment": "%2E%2E",
    "markup": "%3Cscript%3E",
    "a NUL behind it": f"{ID}%00",
    "a NUL alone": "%00",
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_id(simulator: Simulator, case: str) -> None:
    assert lookups.get(MALFORMED[case]).whole == INVALID
    assert simulator.counters.rest == []


OTHER_PATHS = [f"{ID}%2F", f"%2F{ID}", f"{ID}%2F..%2F{ID}", f"{ID}/%0A", "%2e%2e/user"]


@pytest.mark.parametrize("segment", OTHER_PATHS)
def test_a_slash_is_another_path_however_it_is_written(segment: str) -> None:
    assert lookups.get(segment).whole == NO_SUCH_PATH


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


@UNHURRIED
@given(strategies.integers(10**16, 10**19 - 1))
def test_an_id_that_may_exist_fits_the_database_and_was_issued_by_now(number: int) -> None:
    milliseconds = (number >> 22) + 1_420_070_400_000
    try:
        assert members.possible(str(number), NOON) == number < 2**63
        assert milliseconds <= NOON.timestamp() * 1000 + 60_000
    except ChatNotFound:
        assert number >= 2**63 or milliseconds > NOON.timestamp() * 1000 + 60_000


def test_the_view_looks_at_the_id_however_it_was_routed() -> None:
    request = RequestFactory().get("/")
    response = PresenceLookup.as_view()(request, chat_id=f"{ID}\n")
    assert (response.status_code, json.loads(response.content)) == INVALID


NOBODYS_JSON = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats() | strategies.text(),
    lambda inner: strategies.lists(inner, max_size=4) | strategies.dictionaries(strategies.text(), inner, max_size=4),
    max_leaves=12,
)
FIELDS = ["user", "nick", "avatar", "banner", "collectibles", "avatar_decoration_data", "premium_since"]
PARTS = ["status", "client_status", "activities"]
MEMBERS = strategies.dictionaries(strategies.sampled_from(FIELDS), NOBODYS_JSON)
PRESENCES = strategies.none() | strategies.dictionaries(strategies.sampled_from(PARTS), NOBODYS_JSON)


@given(member=MEMBERS, presence=PRESENCES)
@UNHURRIED
def test_a_member_is_shown_whatever_the_platform_sent(store: PresenceStore, member: Any, presence: Any) -> None:
    """Any: JSON."""
    lookups.tell(store, member=member, presence=presence)
    with lookups.without_limits():
        answer = lookups.get(ADA)
    assert (answer.status, answer.body["id"]) == (200, ID)
    assert answer.body["status"]["status"] in ("online", "idle", "dnd", "streaming", "offline")


NAMES = ["a\x00b", "\ud800", "x\udfffy", "\u202e", "</script>", "\ufeff", "a" * 100_000, "\n"]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_is_a_name_whatever_stands_in_it(store: PresenceStore, name: str) -> None:
    lookups.tell(store, member={"user": {"username": name}})
    answer = lookups.get(ADA)
    expected = name.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")
    assert (answer.status, answer.body["username"]) == (200, expected)


DAMAGED = [
    "",
    "{",
    "[]",
    "null",
    '{"m":[]}',
    '{"m":{}}',
    '{"m":{},"g":"x","t":0}',
    '{"m":{},"g":1,"t":NaN}',
    "[" * 9999,
]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_record_is_no_miss(store: PresenceStore, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform says that this is a member, and the feed has to tell of her again."""
    monkeypatch.setattr(members, "PATIENCE", 0.1)
    store.write({ADA: text}, ())
    assert lookups.get(ADA).whole == UNAVAILABLE
    assert store.asked(0)[0] == [ADA]


@pytest.mark.parametrize(
    "value", ["", "x", "[]", 17, '{"at":"x"}', '{"at":1e999}', '{"at":-1e300,"hash":7}', '{"at":1e308}']
)
@pytest.mark.parametrize("kind", ["banner", "profile", "miss", "acct"])
def test_other_damaged_values_cost_nothing_but_themselves(kind: str, value: object) -> None:
    caches["presence"].set(f"{kind}:{ADA}", value, None)
    answer = lookups.get(ADA)
    assert (answer.status, answer.body["banner"], answer.body["biography"]) == (200, None, None)


@pytest.mark.parametrize(
    "value", ["", "x", -1, 0, "nan 1", "inf 1", "1e400 1", "1", "{}", '{"at":"x","g":1}', '{"at":1,"g":1}']
)
def test_a_damaged_stamp_is_none(value: object) -> None:
    caches["presence"].set("alive", value, None)
    assert lookups.get(ADA).whole == UNAVAILABLE
