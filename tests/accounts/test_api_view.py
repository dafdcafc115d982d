"""What every endpoint answers around its own answer: methods, headers, refusals of address and key, errors
(docs/spec/shared.md)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts import api_view, rate_limits
from accounts.models import ApiKey, Permission
from config.web import wsgi
from infrastructure import limits
from tests.accounts.api_urls import Keyed
from tests.accounts.calls import ADDRESS, ALWAYS, SECRET, call, whole, without_budget
from tests.factories.accounts import ApiKeyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.accounts.api_urls"), pytest.mark.usefixtures("fresh")]


@pytest.fixture
def key() -> ApiKey:
    return ApiKeyFactory(secret=SECRET, permissions=[Permission.LOOKUP_PRESENCE, Permission.ACCOUNT])


@pytest.mark.parametrize("method", ["POST", "OPTIONS", "BREW"])
def test_a_wrong_method_is_405_before_any_key(method: str) -> None:
    response = Client(enforce_csrf_checks=True).generic(method, "/api/earlier")
    assert whole(response) == (405, {"error": "errors.methodNotAllowed"}, {**ALWAYS, "Allow": "GET, HEAD"})


def test_the_allowed_methods_are_those_of_the_view(key: ApiKey) -> None:
    assert Client().put("/api/keyed")["Allow"] == "GET, HEAD, POST"
    assert Client().get("/api/length")["Allow"] == "PUT"
    assert Client().head("/api/length").status_code == 405
    assert Keyed().allowed_methods == ["GET", "POST"]  # what Django REST framework tells a describer


@pytest.mark.parametrize(("secret", "status"), [(SECRET, 200), (None, 401), ("nobody's", 401)])
def test_head_is_get_without_its_body(key: ApiKey, secret: str | None, status: int) -> None:
    headers = {} if secret is None else {"X-API-Key": secret}
    response, gotten = Client().head("/api/keyed", headers=headers), Client().get("/api/keyed", headers=headers)
    assert (response.status_code, response.content) == (status, b"")
    ids = {response.headers.pop("X-Request-Id"), gotten.headers.pop("X-Request-Id")}
    assert (len(ids), without_budget(response.headers)) == (2, without_budget(gotten.headers))


def test_an_answer_that_says_how_long_it_is_kept_says_what_it_depends_on(key: ApiKey) -> None:
    headers = {**ALWAYS, "Cache-Control": "private, max-age=30", "Vary": "X-API-Key, Authorization"}
    assert whole(call("/api/kept")) == (200, {}, headers)
    assert whole(call("/api/kept", secret=None)) == (
        401,
        {"error": "Missing x-api-key header.", "code": "UNAUTHORIZED"},
        ALWAYS,
    )


def test_over_https_browsers_are_ordered_to_stay_there(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = settings.SECURE_HSTS_PRELOAD = True
    monkeypatch.setattr(wsgi, "SCHEME", "https")
    header = Client().get("/api/open", secure=True).headers["Strict-Transport-Security"]
    assert header == "max-age=31536000; includeSubDomains; preload"
    monkeypatch.setattr(wsgi, "SCHEME", "http")
    assert "Strict-Transport-Security" not in Client().get("/api/open").headers


@pytest.mark.parametrize(
    ("name", "status", "body"),
    [
        ("api-error", 400, {"error": "errors.badRequest"}),
        ("extra", 404, {"error": "errors.lookupNotMember", "miss": "notMember"}),
        ("missing", 404, {"error": "errors.notFound"}),
        ("suspicious", 400, {"error": "errors.badRequest"}),
        ("denied", 403, {"error": "errors.forbidden"}),
    ],
)
def test_what_a_handler_raises_becomes_its_documented_body(name: str, status: int, body: dict[str, str]) -> None:
    assert whole(Client().get(f"/api/failing/{name}")) == (status, body, ALWAYS)


def test_an_unexpected_exception_is_logged_with_its_traceback_and_answered_500(
    caplog: pytest.LogCaptureFixture,
) -> None:
    response = Client(raise_request_exception=False).get("/api/failing/broken")
    assert whole(response) == (500, {"error": "errors.internal"}, ALWAYS)
    [record] = [record for record in caplog.records if record.name == "django.request"]
    assert (record.getMessage(), record.levelname) == ("Internal Server Error: /api/failing/broken", "ERROR")
    assert record.exc_info is not None
    assert record.exc_info[0] is RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, None, True, 1.5]}, b'{"a":[1,null,true,1.5]}'),
        ("Zoë 🙂", '"Zoë 🙂"'.encode()),
        ('\x00\n"\\', b'"\\u0000\\n\\"\\\\"'),
        ("half \ud83d of a pair", b'"half ? of a pair"'),
    ],
)
def test_json_is_compact_and_utf_8(value: Any, text: bytes) -> None:
    assert api_view.json_bytes(value) == text


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_has_not_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        api_view.json_bytes([number])


Wait = Callable[[float], None]


def change(**values: Any) -> Callable[[ApiKey], object]:
    return lambda key: ApiKey.objects.filter(pk=key.pk).update(**values)


def ban_owner(key: ApiKey) -> None:
    key.owner.is_active = False
    key.owner.save(update_fields=["is_active"])


def use_up(key: ApiKey) -> None:
    assert {call().status_code for _ in range(30)} == {200}


def nothing(key: ApiKey) -> None:
    """The key is as it should be."""


Answer = tuple[int, dict[str, str], dict[str, str]]  # status, body, headers beside those of every answer
UNAUTHORIZED: Answer = (401, {"error": "Missing x-api-key header.", "code": "UNAUTHORIZED"}, {})
INVALID: Answer = (401, {"error": "Invalid API key.", "code": "INVALID_API_KEY"}, {})
NOT_FOUND: Answer = (401, {"error": "API Key not found", "code": "KEY_NOT_FOUND"}, {})
EXPIRED: Answer = (401, {"error": "API Key has expired", "code": "KEY_EXPIRED"}, {})
EXCEEDED: Answer = (401, {"error": "API Key has reached its usage limit", "code": "USAGE_EXCEEDED"}, {})
DISABLED: Answer = (403, {"error": "API Key is disabled", "code": "KEY_DISABLED"}, {})
LIMITED: Answer = (429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"}, {"Retry-After": "60"})
PAST = timezone.now() - timedelta(days=10_000)
ROWS = {
    "missing": (nothing, None, UNAUTHORIZED),
    "unknown": (nothing, "nobody's", INVALID),
    "too long": (nothing, "k" * 201, INVALID),
    "not ASCII": (nothing, "schlüssel", INVALID),
    "revoked": (change(revoked_at=PAST), SECRET, NOT_FOUND),
    "of a banned owner": (ban_owner, SECRET, NOT_FOUND),
    "without the permission": (change(permissions=["lookup:user"]), SECRET, NOT_FOUND),
    "expired": (change(expires_at=PAST), SECRET, EXPIRED),
    "disabled": (change(is_enabled=False), SECRET, DISABLED),
    "used up": (change(remaining_uses=0), SECRET, EXCEEDED),
    "over its rate": (use_up, SECRET, LIMITED),
    # Of several flaws the first is reported; tests/accounts/test_key_check.py has the whole order.
    "without and used up": (change(permissions=[], remaining_uses=0), SECRET, NOT_FOUND),
}


@pytest.mark.parametrize(("spoil", "secret", "answer"), ROWS.values(), ids=ROWS)
def test_each_row_of_the_table(
    key: ApiKey, spoil: Callable[[ApiKey], object], secret: str | None, answer: Answer
) -> None:
    spoil(key)
    status, body, headers = answer
    assert whole(call(secret=secret)) == (status, body, {**ALWAYS, **headers})


def test_an_accepted_key_is_passed_to_the_handler(key: ApiKey) -> None:
    body = {"key": key.pk, "owner": key.owner_id, "premium": False}
    assert whole(call()) == (200, body, ALWAYS)


def test_the_rate_is_reported_before_the_usage(key: ApiKey) -> None:
    change(remaining_uses=30)(key)
    use_up(key)
    assert call().json() == LIMITED[1]
    assert call(address="203.0.113.8").json() == LIMITED[1]  # the key's window, from anywhere


def test_over_the_address_limit_everything_is_429(key: ApiKey) -> None:
    for _ in range(60):
        call("/api/open")
    headers = {
        "Retry-After": "60",
        "X-RateLimit-Limit": "60",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(int(timezone.now().timestamp()) + 60),
    }
    expected = (429, {"error": "errors.rateLimitExceeded"}, {**ALWAYS, **headers})
    for path, secret in (("/api/open", None), ("/api/keyed", SECRET), ("/api/earlier", "x"), ("/api/nowhere", "")):
        assert whole(call(path, secret=secret)) == expected
    assert Client(REMOTE_ADDR=ADDRESS).post("/api/open").status_code == 429
    assert call(address="203.0.113.8").status_code == 200


def test_the_answer_says_when_the_window_of_the_address_ends(wait: Wait) -> None:
    ends_at = int(timezone.now().timestamp()) + 60
    for _ in range(60):
        call("/api/open")
    wait(20)
    answer = call("/api/open")
    assert (answer["Retry-After"], answer["X-RateLimit-Reset"]) == ("40", str(ends_at))
    wait(41)
    assert call("/api/open").status_code == 200


COUNTED = [
    ("GET", "/api/keyed", None, 401),
    ("GET", "/api/keyed", "nobody's", 401),
    ("GET", "/api/keyed", "k" * 201, 401),
    ("GET", "/api/open", None, 200),
    ("GET", "/api/failing/extra", None, 404),
    ("GET", "/api/earlier", None, 404),
    ("GET", "/api/earlier?key=a&key=b", None, 404),
    ("GET", "/api/nowhere", None, 404),
    ("POST", "/api", None, 404),
    ("OPTIONS", "/api/keyed", SECRET, 405),
]


def test_every_answer_counts_for_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(REMOTE_ADDR=ADDRESS)
    monkeypatch.setattr(rate_limits.API_ADDRESS, "amount", len(COUNTED))
    for method, path, secret, status in COUNTED:
        headers = {} if secret is None else {"X-API-Key": secret}
        assert client.generic(method, path, headers=headers).status_code == status
    assert client.get("/api/open").status_code == 429


def test_a_request_over_the_keys_rate_counts_for_nothing_and_takes_no_use(key: ApiKey) -> None:
    change(remaining_uses=40)(key)
    use_up(key)
    assert {call().status_code for _ in range(3)} == {429}
    assert {call("/api/open").status_code for _ in range(30)} == {200}  # the rest of the address's 60
    assert call("/api/open").status_code == 429
    key.refresh_from_db()
    assert key.remaining_uses == 10


def test_without_limits_keys_are_checked_all_the_same(settings: Settings, key: ApiKey) -> None:
    settings.RATE_LIMITS_ENABLED = False
    assert {call().status_code for _ in range(31)} == {200}
    assert call(secret="nobody's").json() == INVALID[1]
    assert {call("/api/open").status_code for _ in range(61)} == {200}


EARLIER_MISSING = (404, {"error": "Missing key parameter or Bearer token.", "code": "UNAUTHORIZED"})
EARLIER_INVALID = (404, {"error": "Invalid API key.", "code": "INVALID_API_KEY"})


@pytest.mark.parametrize(
    ("query", "authorization", "answer"),
    [
        (f"?key={SECRET}", "", None),
        ("", f"Bearer {SECRET}", None),
        (f"?key={SECRET}", "Bearer nobody's", None),
        ("?key=", f"Bearer {SECRET}", None),
        ("?key=nobody's", f"Bearer {SECRET}", EARLIER_INVALID),
        ("", f"Basic {SECRET}", EARLIER_MISSING),
        ("", "Bearer", EARLIER_MISSING),
        ("", "", EARLIER_MISSING),
        ("?key=%00", "", EARLIER_INVALID),
        (f"?key={SECRET}&key={SECRET}", "", EARLIER_INVALID),
        (f"?key=&key={SECRET}", f"Bearer {SECRET}", EARLIER_INVALID),
        (f"?key={SECRET}&Key=nobody's&q=1&q=2", "", None),
    ],
)
def test_earlier_forms_take_the_key_from_the_query_or_as_a_bearer_token(
    key: ApiKey, query: str, authorization: str, answer: tuple[int, Any] | None
) -> None:
    response = Client().get(f"/api/earlier{query}", headers={"Authorization": authorization} if authorization else {})
    assert (response.status_code, response.json()) == (answer or (200, {"key": key.pk}))


def test_a_view_may_put_a_key_error_in_its_own_words_and_keep_the_429(key: ApiKey) -> None:
    change(is_enabled=False)(key)
    assert whole(call(f"/api/earlier?key={SECRET}")) == (404, DISABLED[1], ALWAYS)
    change(is_enabled=True)(key)
    limits.forget_keys([key.secret_hash])
    for _ in range(30):
        call(f"/api/earlier?key={SECRET}")
    assert whole(call(f"/api/earlier?key={SECRET}")) == (429, LIMITED[1], {**ALWAYS, "Retry-After": "60"})


@pytest.mark.embedded
def test_a_request_reads_its_key_by_one_statement_and_nothing_else(settings: Settings, key: ApiKey) -> None:
    with CaptureQueriesContext(connection) as first:
        assert call().status_code == 200
    with CaptureQueriesContext(connection) as second:
        assert call().status_code == 200
    assert [query["sql"].split()[0] for query in first.captured_queries] == ["SELECT"]
    kept = 0 if settings.REDIS_URL else 1  # in production the second request finds the record in Redis
    assert [query["sql"].split()[0] for query in second.captured_queries] == ["SELECT"] * kept


@pytest.mark.parametrize("secret", [None, "k" * 201])
def test_a_request_without_a_key_that_could_be_one_asks_no_database(secret: str | None) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert call(secret=secret).status_code == 401
    assert captured.captured_queries == []
