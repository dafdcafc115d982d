"""Who may call the gallery and the folder endpoints: the account key, in the query or as a bearer token."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts import bans
from accounts.models import ApiKey, Permission, User
from imagehost.models import Folder
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import answers, callers
from tests.imagehost.answers import FOLDERS, GALLERY, SECRET, Answer

THEIRS = "c" * 32
ENDPOINTS: dict[str, tuple[str, str, bytes, str, int]] = {  # method, path, body, form, status with a good key
    "gallery": ("GET", GALLERY, b"", "gallery", 200),
    "list": ("GET", FOLDERS, b"", "folders", 200),
    "create": ("POST", FOLDERS, b'{"folderName": "New"}', "folder", 201),
    "show": ("GET", f"{FOLDERS}/{THEIRS}", b"", "folder_page", 200),
    "change": ("PATCH", f"{FOLDERS}/{THEIRS}", b'{"folderName": "New"}', "folder", 200),
    "delete": ("DELETE", f"{FOLDERS}/{THEIRS}", b"", "done", 200),
}
EVERY = pytest.mark.parametrize("endpoint", ENDPOINTS)


@pytest.fixture
def opal(db: None) -> User:
    opal = callers.opal()
    FileFactory(folder=FolderFactory(owner=opal, id=THEIRS, name="Kept"))
    return opal


def asked(endpoint: str, secret: str | None = None, query: str = "", **headers: str) -> Answer:
    method, path, body, form, _ = ENDPOINTS[endpoint]
    query = query if secret is None else f"?key={secret}"
    return answers.call(method, path + query, form, body, headers)


def unauthorized(error: str) -> tuple[int, Any]:
    """Any: JSON."""
    return 401, {"error": error, "code": "UNAUTHORIZED"}


def dead(**values: Any) -> str:
    """Any: of columns. A key of Opal's."""
    ApiKeyFactory(owner=User.objects.get(username="Opal"), secret="dead", **values)
    return "dead"


REFUSED: dict[str, tuple[Callable[[], str], str]] = {
    "missing": (lambda: "", "Missing x-api-key header."),
    "unknown": (lambda: "nobody's", "Invalid API key."),
    "malformed": (lambda: "x" * 201, "Invalid API key."),
    "not ASCII": (lambda: "sch%C3%BC", "Invalid API key."),
    "NUL": (lambda: "%00", "Invalid API key."),
    "revoked": (lambda: dead(revoked_at=timezone.now()), "API Key not found"),
    "of uploads": (lambda: dead(permissions=[Permission.IMAGEHOST_UPLOAD.value]), "API Key not found"),
    "of lookups": (lambda: dead(permissions=[Permission.LOOKUP_USER.value]), "API Key not found"),
    "of nothing": (lambda: dead(permissions=[]), "API Key not found"),
    "disabled": (lambda: dead(is_enabled=False), "API Key is disabled"),
    "expired": (lambda: dead(expires_at=timezone.now() - timedelta(1)), "API Key has expired"),
    "used up": (lambda: dead(remaining_uses=0), "API Key has reached its usage limit"),
}


@EVERY
def test_the_key_may_come_in_the_query(opal: User, endpoint: str) -> None:
    assert asked(endpoint, SECRET).status == ENDPOINTS[endpoint][4]


@EVERY
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_key_may_come_as_a_bearer_token(opal: User, endpoint: str, scheme: str) -> None:
    assert asked(endpoint, Authorization=f"{scheme} {SECRET}").status == ENDPOINTS[endpoint][4]


@EVERY
@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_key_is_401_with_its_words_and_nothing_happens(opal: User, endpoint: str, case: str) -> None:
    secret, error = REFUSED[case]
    before = list(Folder.objects.values())
    assert asked(endpoint, secret()).whole == unauthorized(error)
    assert list(Folder.objects.values()) == before


@EVERY
@pytest.mark.parametrize(
    "headers", [{"X-API-Key": SECRET}, {"key": SECRET}, {"Authorization": f"Basic {SECRET}"}, {"Authorization": SECRET}]
)
def test_a_key_in_another_place_is_none(opal: User, endpoint: str, headers: dict[str, str]) -> None:
    assert asked(endpoint, **headers).whole == unauthorized("Missing x-api-key header.")


@EVERY
def test_a_banned_owners_key_is_dead(opal: User, endpoint: str) -> None:
    bans.ban(user=opal, by=UserFactory(is_staff=True, is_superuser=True), reason="x")
    assert asked(endpoint, SECRET).whole == unauthorized("API Key not found")


def test_a_key_in_the_query_wins_over_a_header(opal: User) -> None:
    assert asked("list", SECRET, Authorization="Bearer wrong").status == 200
    assert asked("list", "wrong", Authorization=f"Bearer {SECRET}").whole == unauthorized("Invalid API key.")
    assert asked("list", query="?key=", Authorization=f"Bearer {SECRET}").status == 200


@EVERY
def test_each_request_takes_a_use_of_the_key(opal: User, endpoint: str) -> None:
    ApiKey.objects.update(remaining_uses=1)
    assert asked(endpoint, SECRET).status == ENDPOINTS[endpoint][4]
    assert asked(endpoint, SECRET).whole == unauthorized("API Key has reached its usage limit")


@EVERY
def test_too_many_requests_of_a_key_stay_429(opal: User, endpoint: str) -> None:
    ApiKeyFactory(secret="free", owner=UserFactory())
    for _ in range(30):
        assert asked("list", "free").status == 200
    answer = asked(endpoint, "free")
    assert answer.whole == (429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"})
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


@EVERY
def test_too_many_requests_of_an_address_stay_429(opal: User, endpoint: str) -> None:
    for _ in range(60):
        assert asked("list", "wrong").status == 401
    answer = asked(endpoint, SECRET)
    assert answer.whole == (429, {"error": "errors.rateLimitExceeded"})
    assert answer.headers["X-RateLimit-Limit"] == "60"
    assert {"Retry-After", "X-RateLimit-Remaining", "X-RateLimit-Reset"} <= set(answer.headers)


def test_a_forwarded_address_resets_no_limit(opal: User) -> None:
    for number in range(60):
        assert asked("list", "wrong", **{"X-Forwarded-For": f"198.51.100.{number}"}).status == 401
    assert asked("list", "wrong", **{"X-Forwarded-For": "198.51.100.99"}).status == 429
