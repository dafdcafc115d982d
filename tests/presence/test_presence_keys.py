"""Every row of the errors in docs/spec/lookup.md about the presence lookup's key, limits, method and path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ApiKey
from presence.store.store import PresenceStore
from tests.factories.accounts import UserFactory
from tests.presence import lookups, reading
from tests.presence.lookups import ADA, INVALID, NO_SUCH_PATH, NOT_FOUND, SECRET
from tests.presence.reading import Clock
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db
RATE_LIMITED = (429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"})
ADDRESS_LIMITED = (429, {"error": "errors.rateLimitExceeded"})
PATH = f"/api/lookup/presence/{ADA}"


@pytest.fixture(autouse=True)
def clock(db: None, store: PresenceStore, simulator: Simulator) -> Iterator[Clock]:
    """Noon, a key, and a member."""
    simulator.add_member(ADA)
    with reading.standing_still() as clock:
        lookups.key()
        lookups.tell(store)
        yield clock


def _key(**values: object) -> str:
    lookups.key("another", **values)
    return "another"


YESTERDAY = timedelta(days=-1)
REFUSED: dict[str, tuple[Callable[[], str | None], int, str, str]] = {  # the secret is made when the test runs
    "no header": (lambda: None, 401, "Missing x-api-key header.", "UNAUTHORIZED"),
    "empty": (lambda: "", 401, "Missing x-api-key header.", "UNAUTHORIZED"),
    "unknown": (lambda: "nobody's", 401, "Invalid API key.", "INVALID_API_KEY"),
    "malformed": (lambda: "k" * 5000, 401, "Invalid API key.", "INVALID_API_KEY"),
    "revoked": (lambda: _key(revoked_at=timezone.now()), 401, "API Key not found", "KEY_NOT_FOUND"),
    "for users": (lambda: _key(permissions=["lookup:user"]), 401, "API Key not found", "KEY_NOT_FOUND"),
    "of the account": (lambda: _key(permissions=["account"]), 401, "API Key not found", "KEY_NOT_FOUND"),
    "for nothing": (lambda: _key(permissions=[]), 401, "API Key not found", "KEY_NOT_FOUND"),
    "of a banned owner": (
        lambda: _key(owner=UserFactory(is_active=False)),
        401,
        "API Key not found",
        "KEY_NOT_FOUND",
    ),
    "expired": (lambda: _key(expires_at=timezone.now() + YESTERDAY), 401, "API Key has expired", "KEY_EXPIRED"),
    "used up": (lambda: _key(remaining_uses=0), 401, "API Key has reached its usage limit", "USAGE_EXCEEDED"),
    "disabled": (lambda: _key(is_enabled=False), 403, "API Key is disabled", "KEY_DISABLED"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_key(case: str) -> None:
    secret, status, error, code = REFUSED[case]
    assert lookups.get(ADA, secret()).whole == (status, {"error": error, "code": code})


@pytest.mark.parametrize("case", ["no header", "unknown"])
def test_a_malformed_id_is_400_whatever_the_key_is(case: str) -> None:
    assert lookups.get("2" * 16, REFUSED[case][0]()).whole == INVALID


def test_a_refused_key_learns_of_no_member(simulator: Simulator) -> None:
    secret = REFUSED["expired"][0]()
    for chat_id in (268473310986240009, 9223372036854775807, 9999999999999999999):
        assert "code" in lookups.get(chat_id, secret).body
    assert simulator.counters.rest == []


@pytest.mark.embedded
def test_an_address_may_ask_60_times_a_minute_malformed_ids_included() -> None:
    for _ in range(20):
        assert lookups.get(ADA).status == 200
        assert lookups.get("malformed").whole == INVALID
        assert lookups.get(ADA, None).status == 401
    for chat_id in (ADA, "malformed"):
        answer = lookups.get(chat_id)
        assert answer.whole == ADDRESS_LIMITED
        assert answer.headers["X-RateLimit-Limit"] == "60"
        assert answer.headers["X-RateLimit-Remaining"] == "0"
        assert {"Retry-After", "X-RateLimit-Reset"} <= set(answer.headers)
    assert lookups.get(ADA, address="203.0.113.99").status == 200


def test_a_use_is_taken_by_an_answer_and_by_a_miss_but_not_by_a_malformed_id() -> None:
    secret = _key(remaining_uses=2)
    assert lookups.get("malformed", secret).whole == INVALID
    assert lookups.get(ADA, secret).status == 200
    assert lookups.get(268473310986240009, secret).whole == NOT_FOUND
    assert lookups.get(ADA, secret).body["code"] == "USAGE_EXCEEDED"
    assert ApiKey.objects.get(remaining_uses=0).name == "A key"


@pytest.mark.parametrize("method", ["post", "delete", "options"])
@pytest.mark.parametrize("path", [PATH, "/api/lookup/presence/malformed"])
def test_another_method_is_405_with_what_is_allowed(method: str, path: str) -> None:
    client = Client(enforce_csrf_checks=True)
    response = getattr(client, method)(path, headers={"X-API-Key": SECRET})
    assert (response.status_code, response.json()) == (405, {"error": "errors.methodNotAllowed"})
    assert response.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path",
    [f"{PATH}/", f"{PATH}/more", "/api/lookup/presences", f"/api/lookup/Presence/{ADA}", f"/lookup/presence/{ADA}"],
)
def test_another_path_is_another_path(path: str) -> None:
    response = Client().get(path, headers={"X-API-Key": SECRET})
    assert response.status_code == 404
    assert not path.startswith("/api") or response.json() == NO_SUCH_PATH[1]
