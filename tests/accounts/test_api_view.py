"""What every endpoint answers around its own answer: methods, headers, errors that a handler raises."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts import api_view
from accounts.models import ApiKey, Permission
from config.web import wsgi
from tests.accounts.api_urls import Keyed
from tests.accounts.calls import ALWAYS, SECRET, call, whole
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
    assert (len(ids), dict(response.headers)) == (2, dict(gotten.headers))


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
