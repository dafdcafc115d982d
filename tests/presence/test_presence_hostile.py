"""Ids that only look like ids, and a store full of what the platform should never have sent."""

from __future__ import annotations

import json
from collections.abc import Iterator

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


NO_IDS = [
    "2" * 9000, f"{ID}\r\n", f"\n{ID}", f"{ID} ", f"+{ID[1:]}", "2_6847331098624000", "268473310986240.01",
    "26847331098624e001", "0x2684733109862400", "\u0661" * 18, "\uff11" * 18, "¹" * 18, f"{ID[:-1]}\ud800", "7", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_IDS, ids=ascii)
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ChatIdInvalid):
        members.check(text)


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


NAMES = ["a\x00b", "\ud800", "</script>", "a" * 100_000]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_is_a_name_whatever_stands_in_it(store: PresenceStore, name: str) -> None:
    lookups.tell(store, member={"user": {"username": name}})
    answer = lookups.get(ADA)
    expected = name.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")
    assert (answer.status, answer.body["username"]) == (200, expected)


DAMAGED = ["", "[]", '{"m":[]}', '{"m":{},"g":1,"t":NaN}', "[" * 9999]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_record_is_no_miss(store: PresenceStore, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform says that this is a member, and the feed has to tell of her again."""
    monkeypatch.setattr(members, "PATIENCE", 0.1)
    store.write({ADA: text}, ())
    assert lookups.get(ADA).whole == UNAVAILABLE
    assert store.asked(0)[0] == [ADA]


@pytest.mark.parametrize("value", ["x", "[]", 17, '{"at":1e999}', '{"at":-1e300,"hash":7}', '{"at":1e308}'])
@pytest.mark.parametrize("kind", ["banner", "profile", "miss", "acct"])
def test_other_damaged_values_cost_nothing_but_themselves(kind: str, value: object) -> None:
    caches["presence"].set(f"{kind}:{ADA}", value, None)
    answer = lookups.get(ADA)
    assert (answer.status, answer.body["banner"], answer.body["biography"]) == (200, None, None)


@pytest.mark.parametrize("value", ["x", -1, "{}", '{"at":"x","g":1}', '{"at":NaN,"g":1}', '{"at":1,"g":1}'])
def test_a_damaged_stamp_is_none(value: object) -> None:
    caches["presence"].set("alive", value, None)
    assert lookups.get(ADA).whole == UNAVAILABLE
