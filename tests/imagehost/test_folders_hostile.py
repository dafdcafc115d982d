"""Whatever is posted: the documented error, never a server error, and nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from imagehost.models import Folder
from tests.factories.imagehost import FolderFactory
from tests.imagehost import answers, callers
from tests.imagehost.answers import FOLDERS, NO_OBJECT, SECRET, Answer, invalid

NO_STRING, NO_FLAG = "Must be a string.", "Must be true or false."
INVISIBLE = "folderName: Contains control or invisible characters."
NO_OBJECTS: dict[str, bytes] = {
    "nothing": b"",
    "white space": b" \n",
    "no JSON": b"folderName=x",
    "cut off": b'{"folderName": "x"',
    "two values": b'{"folderName": "x"} {}',
    "single quotes": b"{'folderName': 'x'}",
    "a comma too many": b'{"folderName": "x",}',
    "a control character in a string": b'{"folderName": "a\x01"}',
    "a NUL byte": b'{"folderName": "x"}\x00',
    "no UTF-8": b'{"folderName": "\xff"}',
    "UTF-16": '{"folderName": "x"}'.encode("utf-16"),
    "a list": b'[{"folderName": "x"}]',
    "a string": b'"folderName"',
    "a number": b"1",
    "null": b"null",
    "NaN": b'{"folderName": NaN}',
    "infinity": b'{"folderName": -Infinity}',
    "deeper than Python goes": b'{"folderName": ' + b"[" * 60_000,
    "objects deeper than Python goes": b'{"folderName":' * 4_000,
    "a number longer than Python reads": b'{"folderName": ' + b"9" * 60_000 + b"}",
    "multipart": b"--x\r\nContent-Disposition: form-data; name=folderName\r\n\r\nx\r\n--x--",
}
WRONG: list[Any] = [True, False, 0, 1, 1.5, [], ["x"], {}, {"x": 1}, 10**40]  # any: JSON
WORDS = ["true", "false", "", "on", "None"]
FIELDS: dict[str, tuple[Any, str]] = {  # any: JSON
    "unknown": ({"folderName": "x", "other": 1}, "other: Is no field of a folder."),
    "another case": ({"foldername": "x"}, "foldername: Is no field of a folder."),
    "our own word": ({"folderName": "x", "name": "y"}, "name: Is no field of a folder."),
    "the document's id": ({"id": "f" * 32, "folderName": "x"}, "id: Is no field of a folder."),
    "a strange one": ({"folderName": "x", "\x00\ud800é": 1}, "\\x00\\ud800\\xe9: Is no field of a folder."),
    "a long one": ({"folderName": "x", "y" * 1000: 1}, f"{'y' * 64}: Is no field of a folder."),
    "an empty one": ({"folderName": "x", "": 1}, ": Is no field of a folder."),
    **{f"a name that is {value!r}": ({"folderName": value}, f"folderName: {NO_STRING}") for value in WRONG},
    "a name that is null": ({"folderName": None}, "folderName: This field may not be null."),
    **{
        f"{field} that is {value!r}": ({"folderName": "x", field: value}, f"{field}: {NO_FLAG}")
        for field in ("folderPublic", "folderPasswordEnabled")
        for value in (*WRONG[2:], *WORDS)
    },
    "public that is null": ({"folderName": "x", "folderPublic": None}, "folderPublic: This field may not be null."),
    **{
        f"a password that is {value!r}": ({"folderName": "x", "folderPassword": value}, f"folderPassword: {NO_STRING}")
        for value in WRONG
    },
    "empty name": ({"folderName": ""}, "folderName: Must not be empty."),
    "white name": ({"folderName": " \u3000\n"}, "folderName: Must not be empty."),
    "joiners alone": ({"folderName": "\u200d\u200c"}, "folderName: Must not be empty."),
    "33 characters": ({"folderName": "é" * 33}, "folderName: Has 33 characters; at most 32 are allowed."),
    "composed into more": ({"folderName": "\u0958" * 17}, "folderName: Has 34 characters; at most 32 are allowed."),
    "a long name": ({"folderName": "x" * 60_000}, "folderName: Has 60000 characters; at most 32 are allowed."),
    **{
        f"a name with U+{ord(character):04X}": ({"folderName": f"a{character}b"}, INVISIBLE)
        for character in "\x00\x01\n\t\x7f\x85\u200b\u202e\u2028\u2066\ufeff\ud800\udfff"
    },
}
PASSWORDS: dict[str, tuple[str, str]] = {
    "33 characters": ("x" * 33, "Has 33 characters; at most 32 are allowed."),
    "a NUL": ("a\x00b", "Contains control or invisible characters."),
    "half of a surrogate pair": ("a\ud800", "Contains control or invisible characters."),
    "a line break": ("a\nb", "Contains control or invisible characters."),
    "empty": ("", "Needs 1 to 32 characters."),
}


@pytest.fixture
def opal(db: None, settings: Settings) -> User:
    settings.RATE_LIMITS_ENABLED = False
    return callers.opal()


@pytest.fixture
def kept(opal: User) -> Folder:
    return FolderFactory(owner=opal, name="Kept", is_public=True)


@pytest.fixture(params=["POST", "PATCH"])
def send(request: pytest.FixtureRequest, kept: Folder) -> Callable[[object], Answer]:
    """Both endpoints that take a body."""
    return answers.create if request.param == "POST" else lambda body: answers.change(kept.pk, body)


@pytest.fixture(autouse=True)
def _nothing_is_stored(kept: Folder) -> Any:
    """Any: a generator of pytest."""
    before = Folder.objects.values().get()
    yield
    assert Folder.objects.values().get() == before


@pytest.mark.parametrize("case", NO_OBJECTS)
def test_a_body_that_is_no_object_is_refused(send: Callable[[object], Answer], case: str) -> None:
    assert send(NO_OBJECTS[case]).whole == NO_OBJECT


@pytest.mark.parametrize("case", FIELDS)
def test_a_field_that_is_wrong_is_refused_by_its_name(send: Callable[[object], Answer], case: str) -> None:
    body, sentence = FIELDS[case]
    assert send(body).whole == invalid(sentence)


@pytest.mark.parametrize("case", PASSWORDS)
def test_a_password_that_is_wrong_is_refused(send: Callable[[object], Answer], case: str) -> None:
    password, sentence = PASSWORDS[case]
    body = {"folderName": "x", "folderPublic": True, "folderPasswordEnabled": True, "folderPassword": password}
    assert send(body).whole == invalid(f"folderPassword: {sentence}")


def test_a_key_that_stands_there_twice_is_refused(send: Callable[[object], Answer]) -> None:
    twice = invalid("The body has a key twice.")
    assert send(b'{"folderName": "x", "folderPublic": false, "folderPublic": true}').whole == twice
    assert send(b'{"folderName": "x", "folderName": "x"}').whole == twice


def test_a_body_of_more_than_64_kib_is_refused(send: Callable[[object], Answer]) -> None:
    most = 64 * 1024
    padded = json.dumps({"folderName": ""}).encode()
    assert send(padded + b" " * (most - len(padded))).whole == invalid("folderName: Must not be empty.")
    for size in (most + 1, 5_000_000):
        assert send(padded.ljust(size)).whole == invalid("The body is longer than 65536 bytes.")


NEW: dict[str, tuple[object, str]] = {
    "nothing": ({}, "folderName: This field is required."),
    "no name": ({"folderPublic": True}, "folderName: This field is required."),
    "a password that is not enabled": (
        {"folderName": "x", "folderPassword": "y"},
        "folderPassword: Is allowed only with folderPasswordEnabled.",
    ),
    "a password that is not enabled on a public one": (
        {"folderName": "x", "folderPublic": True, "folderPassword": "y"},
        "folderPassword: Is allowed only with folderPasswordEnabled.",
    ),
    "enabled on a private one": (
        {"folderName": "x", "folderPasswordEnabled": True, "folderPassword": "y"},
        "folderPasswordEnabled: Only a public folder can have a password.",
    ),
    "enabled without one": (
        {"folderName": "x", "folderPublic": True, "folderPasswordEnabled": True},
        "folderPassword: Needs 1 to 32 characters.",
    ),
}


@pytest.mark.parametrize("case", NEW)
def test_a_new_folder_whose_fields_do_not_fit_together_is_refused(case: str) -> None:
    body, sentence = NEW[case]
    assert answers.create(body).whole == invalid(sentence)


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "é"],
)
def test_what_the_content_type_says_decides_nothing(kept: Folder, content_type: str) -> None:
    path = f"{FOLDERS}/{kept.pk}?key={SECRET}"
    answer = answers.call("PATCH", path, "folder", b"{}", content_type=content_type)
    assert answer.status == 200


class _Broken:
    """A connection that ends in the middle of the body."""

    def read(self, size: int = -1) -> bytes:
        raise OSError("The client has gone.")

    readline = read


def test_a_body_that_does_not_arrive_is_refused(kept: Folder) -> None:
    environ: Any = {"CONTENT_LENGTH": "20", "wsgi.input": _Broken()}  # WSGI's, of several types
    response = Client().generic("PATCH", f"{FOLDERS}/{kept.pk}?key={SECRET}", b"", "application/json", **environ)
    assert (response.status_code, response.json()) == invalid("The body did not arrive whole.")


def test_a_byte_order_mark_is_passed_over(kept: Folder) -> None:
    assert answers.change(kept.pk, b"\xef\xbb\xbf{}").status == 200


def test_bodies_of_reads_and_deletions_are_passed_over(kept: Folder) -> None:
    """A bad one is as good as none."""
    for path, form in ((FOLDERS, "folders"), (f"{FOLDERS}/{kept.pk}", "folder_page")):
        assert answers.call("GET", f"{path}?key={SECRET}", form, b"\x00" * 100_000).status == 200
    assert answers.call("DELETE", f"{FOLDERS}/{'f' * 32}?key={SECRET}", "done", b"{").whole == answers.NOT_FOUND


def test_a_query_of_more_parameters_than_anybody_needs_is_refused(kept: Folder) -> None:
    path = f"{FOLDERS}?key={SECRET}" + "&x=1" * 300
    assert answers.call("GET", path, "folders").whole == (400, {"error": "errors.badRequest"})
