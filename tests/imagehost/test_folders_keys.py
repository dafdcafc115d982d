"""Who may call the gallery and the folder endpoints: the account key, in the query or as a bearer token."""

from __future__ import annotations

from typing import Any

import pytest

from accounts import bans
from accounts.models import Permission, User
from imagehost.models import Folder
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import answers
from tests.imagehost.answers import FOLDERS, GALLERY, SECRET
from tests.imagehost.uploading import Answer

THEIRS = "c" * 32
MISSING = "Missing key parameter or Bearer token."
ENDPOINTS: dict[str, tuple[str, str, bytes, int]] = {  # method, path, body, status with a good key
    "gallery": ("GET", GALLERY, b"", 200),
    "list": ("GET", FOLDERS, b"", 200),
    "create": ("POST", FOLDERS, b'{"folderName": "New"}', 201),
    "show": ("GET", f"{FOLDERS}/{THEIRS}", b"", 200),
    "change": ("PATCH", f"{FOLDERS}/{THEIRS}", b'{"folderName": "Other"}', 200),
    "delete": ("DELETE", f"{FOLDERS}/{THEIRS}", b"", 200),
}


@pytest.fixture
def opal(db: None) -> User:
    opal = answers.opal()
    FileFactory(folder=FolderFactory(owner=opal, id=THEIRS, name="Kept"))
    return opal


def asked(endpoint: str, secret: str | None = None, query: str = "", **headers: str) -> Answer:
    method, path, body, _ = ENDPOINTS[endpoint]
    query = query if secret is None else f"?key={secret}"
    return answers.call(method, path + query, body, headers)


def unauthorized(error: str) -> tuple[int, Any]:
    """Any: JSON."""
    return 401, {"error": error, "code": "UNAUTHORIZED"}


def dead(**values: Any) -> str:
    """A key of Opal's with these columns. Any: of columns."""
    ApiKeyFactory(owner=User.objects.get(username="Opal"), secret="dead", **values)
    return "dead"


def test_each_request_takes_a_use_of_the_key_in_the_query_or_in_the_bearer_token(opal: User) -> None:
    used_up = unauthorized("API Key has reached its usage limit")
    for endpoint, (*_, status) in ENDPOINTS.items():
        ApiKeyFactory(owner=opal, secret=endpoint, permissions=[Permission.ACCOUNT.value], remaining_uses=1)
        assert asked(endpoint, endpoint).status == status
        assert asked(endpoint, Authorization=f"Bearer {endpoint}").whole == used_up


def test_a_key_that_may_not_is_401_and_nothing_happens(opal: User) -> None:
    secret = dead(permissions=[Permission.IMAGEHOST_UPLOAD.value, Permission.LOOKUP_USER.value])
    before = list(Folder.objects.values())
    for endpoint in ENDPOINTS:
        assert asked(endpoint, secret).whole == unauthorized("API Key not found")
    assert list(Folder.objects.values()) == before


def test_a_missing_unknown_or_disabled_key_is_401_in_its_own_words(opal: User) -> None:
    assert asked("list", "").whole == unauthorized(MISSING)
    assert asked("list", "unknown").whole == unauthorized("Invalid API key.")
    assert asked("list", dead(is_enabled=False)).whole == unauthorized("API Key is disabled")
    for headers in ({"X-API-Key": SECRET}, {"key": SECRET}, {"Authorization": f"Basic {SECRET}"}):
        assert asked("show", **headers).whole == unauthorized(MISSING)


def test_a_key_in_the_query_wins_over_a_header(opal: User) -> None:
    assert asked("list", SECRET, Authorization="Bearer wrong").status == 200
    assert asked("list", "wrong", Authorization=f"bearer {SECRET}").whole == unauthorized("Invalid API key.")
    assert asked("list", query="?key=", Authorization=f"bearer {SECRET}").status == 200


def test_a_banned_owners_key_is_dead_at_every_endpoint(opal: User) -> None:
    bans.ban(user=opal, by=UserFactory(is_staff=True, is_superuser=True), reason="x")
    assert {asked(endpoint, SECRET).whole[1]["error"] for endpoint in ENDPOINTS} == {"API Key not found"}


def test_the_31st_request_of_a_free_key_in_a_minute_is_429_at_every_endpoint(opal: User) -> None:
    ApiKeyFactory(secret="free", owner=UserFactory())
    assert {asked("list", "free").status for _ in range(30)} == {200}
    refused = 429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"}
    assert [asked(endpoint, "free").whole for endpoint in ENDPOINTS] == [refused] * len(ENDPOINTS)


def test_the_61st_request_of_an_address_in_a_minute_is_429_at_every_endpoint(opal: User) -> None:
    assert {asked("list", "wrong").status for _ in range(60)} == {401}
    refused = 429, {"error": "errors.rateLimitExceeded"}
    assert [asked(endpoint, SECRET).whole for endpoint in ENDPOINTS] == [refused] * len(ENDPOINTS)
