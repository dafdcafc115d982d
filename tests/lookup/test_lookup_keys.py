"""Keys, limits, methods and paths of the lookups and leaderboards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import ApiKey, Permission, User
from tests.accounts.calls import without_budget
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.lookup import answers
from tests.lookup.answers import ACCOUNT_SECRET, LOOKUP_SECRET, NO_SUCH_PATH

LOOKUP = "/api/lookup/user?type=uid&value=0"
ENDPOINTS = {
    LOOKUP: {"X-API-Key": LOOKUP_SECRET},
    **{
        f"{path}?key={ACCOUNT_SECRET}": {}
        for path in (
            *("/api/lookup/username/opal", "/api/lookup/uid/0"),
            *("/api/leaderboard/views", "/api/leaderboard/badges", "/api/leaderboard/uid"),
        )
    },
}
EVERY_ENDPOINT = pytest.mark.parametrize("path", ENDPOINTS)


def _key(**values: Any) -> str:
    """The secret of a key that may look up users, with these columns."""
    ApiKeyFactory(secret="another", **{"permissions": [Permission.LOOKUP_USER.value], **values})
    return "another"


REFUSED: dict[str, tuple[Callable[[], str | None], int, str, str]] = {  # the secret is made when the test runs
    "no header": (lambda: None, 401, "Missing x-api-key header.", "UNAUTHORIZED"),
    "unknown": (lambda: "nobody's", 401, "Invalid API key.", "INVALID_API_KEY"),
    "without permission": (lambda: ACCOUNT_SECRET, 401, "API Key not found", "KEY_NOT_FOUND"),
    "used up": (lambda: _key(remaining_uses=0), 401, "API Key has reached its usage limit", "USAGE_EXCEEDED"),
    "disabled": (lambda: _key(is_enabled=False), 403, "API Key is disabled", "KEY_DISABLED"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_key_gets_the_error_of_the_presence_lookup(operator: User, case: str) -> None:
    secret, status, error, code = REFUSED[case]
    expected = (status, {"error": error, "code": code})
    assert answers.raw_user("type=uid&value=0", secret()).whole == expected


def test_the_key_is_checked_before_the_query(operator: User) -> None:
    answer = answers.raw_user("type=nonsense&value=", "nobody's")
    assert answer.whole == (401, {"error": "Invalid API key.", "code": "INVALID_API_KEY"})


def test_a_key_in_the_query_or_a_bearer_token_is_no_key_here(operator: User) -> None:
    missing = (401, {"error": "Missing x-api-key header.", "code": "UNAUTHORIZED"})
    assert answers.raw_user(f"type=uid&value=0&key={LOOKUP_SECRET}", None).whole == missing
    assert answers.get(LOOKUP, "current", {"Authorization": f"Bearer {LOOKUP_SECRET}"}).whole == missing


@pytest.mark.parametrize(("plan", "amount"), [("FREE", 30), ("PREMIUM", 60), ("IMAGEHOST", 60)])
def test_a_key_may_ask_30_times_a_minute_and_with_premium_60(operator: User, plan: str, amount: int) -> None:
    secret = _key(owner=UserFactory(plan=plan))
    path = "/api/lookup/user?type=uid&value=0"
    for number in range(amount):
        answer = answers.get(path, "current", {"X-API-Key": secret}, address=f"203.0.113.{number}")
        assert answer.status == 200
    answer = answers.get(path, "current", {"X-API-Key": secret}, address="203.0.113.200")
    assert answer.whole == (429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"})
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


def test_an_address_may_ask_60_times_a_minute_whatever_it_asks(operator: User) -> None:
    for _ in range(20):
        assert answers.raw_user("type=uid&value=0").status == 200
        assert answers.earlier("0", by="uid").status == 200
        assert answers.get("/api/nothing", "current").whole == NO_SUCH_PATH
    for answer in (answers.raw_user("type=uid&value=0"), answers.get("/api/nothing", "current")):
        assert answer.whole == (429, {"error": "errors.rateLimitExceeded"})
        assert answer.headers["X-RateLimit-Limit"] == "60"
        assert answer.headers["X-RateLimit-Remaining"] == "0"
        assert {"Retry-After", "X-RateLimit-Reset"} <= set(answer.headers)


@EVERY_ENDPOINT
def test_an_answer_is_asked_for_again_each_time_and_head_is_get_without_a_body(operator: User, path: str) -> None:
    got = Client().get(path, headers=ENDPOINTS[path])
    assert got.status_code == 200
    assert got.headers["Cache-Control"] == "private, no-cache"
    assert "Set-Cookie" not in got.headers
    assert not [name for name in got.headers if name.startswith("Access-Control-")]
    head = Client().head(path, headers=ENDPOINTS[path])
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers.pop("X-Request-Id") != got.headers.pop("X-Request-Id")
    assert without_budget(head.headers) == without_budget(got.headers)
    before, _, query = path.partition("?")
    assert answers.get(f"{before}/?{query}", "current", ENDPOINTS[path]).whole == NO_SUCH_PATH


@pytest.mark.parametrize(
    ("method", "path"),
    [*(("post", path) for path in ENDPOINTS), *((method, LOOKUP) for method in ("put", "patch", "delete", "options"))],
)
def test_another_method_is_405_with_what_is_allowed(operator: User, method: str, path: str) -> None:
    response = getattr(Client(enforce_csrf_checks=True), method)(path, headers=ENDPOINTS[path])
    assert (response.status_code, response.json()) == (405, {"error": "errors.methodNotAllowed"})
    assert response.headers["Content-Type"] == "application/json"
    assert sorted(response.headers["Allow"].replace(" ", "").split(",")) == ["GET", "HEAD"]


@pytest.mark.parametrize(
    "path",
    [
        *("/api", "/api/lookup", "/api/lookup/User", "/api/lookup/username/", "/api/leaderboard"),
        *("/API", "/Api/lookup/user", "/API/auth/oauth2/token", "/API/%00"),
    ],
)
def test_an_unknown_path_of_the_api_is_404_in_json_whatever_its_case(db: None, path: str) -> None:
    response = Client().get(path)
    assert (response.status_code, response.headers["Content-Type"]) == (404, "application/json")
    assert response.json() == NO_SUCH_PATH[1]


def test_an_answer_and_a_404_each_take_a_use_of_the_key(operator: User) -> None:
    secret = _key(remaining_uses=2)
    assert answers.raw_user("type=uid&value=0", secret).status == 200
    assert answers.raw_user("type=uid&value=77", secret).status == 404
    assert answers.raw_user("type=uid&value=0", secret).body["code"] == "USAGE_EXCEEDED"
    assert ApiKey.objects.get(owner__isnull=False, remaining_uses=0).name == "A key"


def test_a_host_that_is_not_ours_is_400_in_json(operator: User) -> None:
    response = Client().get(LOOKUP, headers={"Host": "evil.example"})
    assert response.status_code == 400
    assert response.headers["Content-Type"] == "application/json"
