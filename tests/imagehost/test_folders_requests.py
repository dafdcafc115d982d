"""Who may call the gallery and the folder endpoints, and what the bodies of their requests may say."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.test import Client, RequestFactory

from accounts import bans
from accounts.models import Permission, User
from imagehost.errors import InvalidBody
from imagehost.folders.folders import Changes
from imagehost.models import Folder
from imagehost.serializers import FolderChangesSerializer
from imagehost.views import api
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import answers
from tests.imagehost.answers import FOLDERS, GALLERY, NO_OBJECT, SECRET, invalid
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


NO_STRING, NO_FLAG, NULL = "Must be a string.", "Must be true or false.", "This field may not be null."
NO_OBJECTS: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"folderName=x",
    "cut off": b'{"folderName": "x"',
    "two values": b'{"folderName": "x"} {}',
    "a control character in a string": b'{"folderName": "a\x01"}',
    "not UTF-8": b'{"folderName": "\xff"}',
    "UTF-16": '{"folderName": "x"}'.encode("utf-16"),
    "a list": b'[{"folderName": "x"}]',
    "null": b"null",
    "NaN": b'{"folderName": NaN}',
    "deeper than Python goes": b'{"folderName": ' + b"[" * 60_000,
    "a number longer than Python reads": b'{"folderName": ' + b"9" * 60_000 + b"}",
}
FIELDS: list[tuple[Any, str]] = [  # any: JSON
    ({"other": 1}, "other: Is no field of a folder."),
    ({"foldername": "x"}, "foldername: Is no field of a folder."),
    ({"name": "y"}, "name: Is no field of a folder."),
    ({"\x00\ud800é": 1}, "\\x00\\ud800\\xe9: Is no field of a folder."),
    ({"y" * 1000: 1}, f"{'y' * 64}: Is no field of a folder."),
    ({"": 1}, ": Is no field of a folder."),
    ({"folderName": 1}, f"folderName: {NO_STRING}"),
    ({"folderName": ["x"]}, f"folderName: {NO_STRING}"),
    ({"folderName": None}, f"folderName: {NULL}"),
    ({"folderPublic": 0}, f"folderPublic: {NO_FLAG}"),
    ({"folderPublic": "true"}, f"folderPublic: {NO_FLAG}"),
    ({"folderPublic": None}, f"folderPublic: {NULL}"),
    ({"folderPasswordEnabled": 1}, f"folderPasswordEnabled: {NO_FLAG}"),
    ({"folderPassword": True}, f"folderPassword: {NO_STRING}"),
    (b'{"folderName": "x", "folderName": "x"}', "The body has a key twice."),
]


def changes_of(body: object) -> Changes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = RequestFactory().generic("PATCH", "/", content, content_type="application/json")
    return api.changes_of(request, FolderChangesSerializer)


def test_a_body_that_is_no_object_and_a_wrong_field_are_refused() -> None:
    for body, sentence in [*((body, InvalidBody.error) for body in NO_OBJECTS.values()), *FIELDS]:
        with pytest.raises(InvalidBody) as refusal:
            changes_of(body)
        assert refusal.value.error == sentence, ascii(body)[:40]


def test_a_body_may_have_64_kib_and_not_one_byte_more() -> None:
    body = b'{"folderName": "x"}'
    assert changes_of(body.ljust(64 * 1024)) == Changes(name="x")
    with pytest.raises(InvalidBody, match="The body is longer than 65536 bytes"):
        changes_of(body.ljust(64 * 1024 + 1))
    assert changes_of(b"\xef\xbb\xbf{}") == Changes()  # a byte order mark is passed over


@pytest.fixture
def kept(db: None) -> Folder:
    opal: User = answers.opal()
    return FolderFactory(owner=opal, name="Kept", is_public=True)


def test_both_endpoints_refuse_bad_bodies_and_store_nothing(kept: Folder) -> None:
    before = Folder.objects.values().get()
    query = f"?key={SECRET}"
    for method, path in (("POST", FOLDERS + query), ("PATCH", f"{FOLDERS}/{kept.pk}{query}")):
        assert answers.call(method, path, b"[]").whole == NO_OBJECT
        assert answers.call(method, path, b'{"folderName": "a\\ud800"}').whole == invalid(
            "folderName: Contains control or invisible characters."
        )
        assert answers.call(method, path, b'{"folderName": "x", "owner": "x"}').whole == invalid(
            "owner: Is no field of a folder."
        )
    assert Folder.objects.values().get() == before
    for content_type in ("text/plain", "", "multipart/form-data; boundary=x"):
        assert answers.call("PATCH", path, b"{}", content_type=content_type).status == 200


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_body_in_chunks_is_read_like_any_other(kept: Folder, method: str) -> None:
    path = FOLDERS if method == "POST" else f"{FOLDERS}/{kept.pk}"
    body = io.BytesIO(b'{"folderName": "In chunks"}')
    environ: Any = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": body}  # WSGI's, of several types
    response = Client().generic(method, f"{path}?key={SECRET}", b"", "application/json", **environ)
    assert response.json()["folder"]["folderName"] == "In chunks"


class _Broken:
    """A connection that ends in the middle of the body."""

    def read(self, size: int = -1) -> bytes:
        raise OSError("The client has gone.")

    readline = read


def test_a_body_that_does_not_arrive_is_refused(kept: Folder) -> None:
    environ: Any = {"CONTENT_LENGTH": "20", "wsgi.input": _Broken()}  # WSGI's, of several types
    response = Client().generic("PATCH", f"{FOLDERS}/{kept.pk}?key={SECRET}", b"", "application/json", **environ)
    assert (response.status_code, response.json()) == invalid("The body did not arrive whole.")
