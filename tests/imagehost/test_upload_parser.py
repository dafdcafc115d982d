"""Forms that are none, or not quite: whatever comes in, the answer is JSON with an error and a code."""

from __future__ import annotations

import base64
import hashlib
import io
import os
from pathlib import Path
from typing import Any

import pytest

from imagehost.models import File
from tests.imagehost import uploading
from tests.imagehost.uploading import BOUNDARY, END, FORMS, MULTIPART, NO_FILE, SECRET, part, png

pytestmark = pytest.mark.django_db
NOT_MULTIPART = "The body must be multipart/form-data, with a boundary."
CUT_OFF = "The form ended too early."
UNREADABLE = "The form cannot be read."
LONG_HEADER = "The head of a part of the form is longer than 1024 bytes. A shorter file name helps."
MANY = "The form has too many fields."
LONG_FIELDS = "The form's text fields are too long. Is the file sent without a file name?"
TWO_FILES = "Only one file can be sent at a time, in one field `file`."
FILE = part("file", png(), filename="x.png")
HEADERS = pytest.mark.parametrize("headers", [uploading.headers_of(form) for form in FORMS[:2]], ids=FORMS[:2])


def _no_file(error: str) -> tuple[int, dict[str, str]]:
    return 400, {"error": error, "code": "NO_FILE"}


@HEADERS
@pytest.mark.parametrize(
    "content_type",
    [
        *("application/json", "application/x-www-form-urlencoded", "image/png", "text/plain", "", "nonsense"),
        *("multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=é"),
        *(f"multipart/form-data; boundary={'b' * 300}", f"multipart/mixed; boundary={BOUNDARY}"),
    ],
)
def test_a_body_that_is_no_form(content_type: str, headers: dict[str, str]) -> None:
    uploading.uploader()
    assert uploading.post(FILE + END, headers, content_type=content_type).whole == _no_file(NOT_MULTIPART)


@pytest.mark.parametrize("kind", ["Multipart/Form-Data", "MULTIPART/FORM-DATA", " multipart/form-data "])
def test_the_name_of_a_type_has_no_case(kind: str) -> None:
    uploading.uploader()
    assert uploading.post(FILE + END, content_type=f"{kind}; boundary={BOUNDARY}").status == 200


BODIES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", NO_FILE),
    "the end alone": (END, NO_FILE),
    "nonsense": (b"nonsense", NO_FILE),
    "another boundary": ((FILE + END).replace(BOUNDARY.encode(), b"other"), NO_FILE),
    "JSON": (b'{"file": "x"}', NO_FILE),
    "a text field called file": (part("file", png()) + END, NO_FILE),
    "a file without a name": (part("file", png(), filename="") + END, NO_FILE),
    "a file called ..": (part("file", png(), filename="..") + END, NO_FILE),
    "a file called .": (part("file", png(), filename=".") + END, NO_FILE),
    "a file called /": (part("file", png(), filename="/") + END, NO_FILE),
    "a file of control characters": (part("file", png(), filename="\x01\u202e") + END, NO_FILE),
    "a name in raw latin-1": (FILE.replace(b"x.png", "übung.png".encode("latin-1")) + END, NO_FILE),
    "a file in a field called file[]": (part("file[]", png(), filename="x.png") + END, NO_FILE),
    "a file in a field called File": (part("File", png(), filename="x.png") + END, NO_FILE),
    "a field without a name": (FILE.replace(b'name="file"; ', b"") + END, NO_FILE),
    "two files": (FILE + FILE + END, TWO_FILES),
    "two files, one of them empty": (FILE + part("file", b"", filename="y.png") + END, TWO_FILES),
    "a text field of 3 MiB": (part("text", b"x" * 3 * 1024 * 1024) + FILE + END, LONG_FIELDS),
    "a file of 3 MiB without a name": (part("file", b"x" * 3 * 1024 * 1024) + END, LONG_FIELDS),
    "300 fields": (b"".join(part(f"f{number}", "x") for number in range(300)) + FILE + END, MANY),
    "150 files": (b"".join(part(f"f{number}", "x", filename="x") for number in range(150)) + FILE + END, MANY),
    "a name of 350 Chinese characters": (part("file", png(), filename="日" * 350) + END, LONG_HEADER),
    "a head of 2 KiB": (part("file", png(), filename="x.png", head=f"X-Long: {'x' * 2048}\r\n") + END, LONG_HEADER),
    "base64 that is none": (
        part("file", "!" * 5, filename="x.png", head="Content-Transfer-Encoding: base64\r\n") + END,
        UNREADABLE,
    ),
    "a name in two contradicting forms": (FILE.replace(b"filename=", b"filename*1*; filename*=") + END, UNREADABLE),
    "a name in an unknown charset": (FILE.replace(b'filename="x.png"', b"filename*=klingon''%41") + END, NO_FILE),
}


@HEADERS
@pytest.mark.parametrize("case", BODIES)
def test_a_form_without_a_file_that_can_be_taken(case: str, headers: dict[str, str], bucket_directory: Path) -> None:
    uploading.uploader()
    body, error = BODIES[case]
    assert uploading.post(body, headers).whole == _no_file(error)
    assert uploading.post(body, headers, length=None).whole == _no_file(error)
    assert uploading.nothing_is_left(bucket_directory)


@pytest.mark.parametrize("case", [case for case, (body, _) in BODIES.items() if END in body])
def test_with_the_key_in_the_form_the_answer_is_the_same(case: str, bucket_directory: Path) -> None:
    uploading.uploader()
    body, error = BODIES[case]
    assert uploading.post(part("key", SECRET) + body, {}).whole == _no_file(error)
    assert uploading.post(part("key", "nobody's") + body, {}).outcome == (401, "UNAUTHORIZED")
    assert uploading.nothing_is_left(bucket_directory)


@pytest.mark.parametrize("end", range(1, len(FILE + END) - 3, 7))
@pytest.mark.parametrize("is_announced", [True, False])
def test_a_form_that_is_cut_off_is_no_file(end: int, is_announced: bool, bucket_directory: Path) -> None:
    """`is_announced`: the length of the whole was told."""
    uploading.uploader()
    body = (FILE + END)[:end]
    length = len(FILE + END) if is_announced else end
    answer = uploading.post(body, length=length)
    assert answer.whole == _no_file(CUT_OFF if is_announced else NO_FILE)
    assert uploading.nothing_is_left(bucket_directory)


def test_a_form_that_is_cut_off_behind_the_file_is_no_file_either(bucket_directory: Path) -> None:
    uploading.uploader()
    body = FILE + part("other", "x" * 100)
    answer = uploading.post(body, length=len(body) + 50)
    assert answer.whole == _no_file(CUT_OFF)
    assert uploading.nothing_is_left(bucket_directory)


@pytest.mark.parametrize("form", FORMS)
def test_a_client_that_goes_away_leaves_nothing(form: str, bucket_directory: Path) -> None:
    uploading.uploader()

    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell():
                raise ConnectionResetError
            return super().read(1000)

    body = uploading.form_of(os.urandom(5000), form=form)
    answer = uploading.post(Broken(body), uploading.headers_of(form), length=len(body))
    assert answer.outcome == ((401, "UNAUTHORIZED") if form == FORMS[3] else (400, "NO_FILE"))
    assert uploading.nothing_is_left(bucket_directory)


@pytest.mark.parametrize("length", ["", "0", "-5", "x", "१२"])
def test_a_length_that_is_none_is_an_empty_body(length: str) -> None:
    uploading.uploader()
    answer = uploading.post(FILE + END, length=length)
    assert answer.whole == _no_file(NO_FILE)


TAKEN: dict[str, bytes] = {
    "other fields around": part("a", "x") + FILE + part("b", "y") + END,
    "fields with NUL bytes": part("a\x00", "\x00") + FILE + END,
    "a text field of the same name": part("file", "x") + FILE + part("file", "y") + END,
    "other files around": part("a", b"z", filename="a.png") + FILE + part("b", b"z", filename="b.png") + END,
    "199 fields": b"".join(part(f"f{number}", "x") for number in range(199)) + FILE + END,
    "a preamble and an epilogue": b"This is a form.\r\n" + FILE + END + b"The end.\r\n",
    "a text field of 2 MiB": part("a", b"x" * 2 * 1024 * 1024) + FILE + END,
    "a name of 255 Chinese characters": part("file", png(), filename="日" * 255) + END,
    "base64": part("file", base64.encodebytes(png()), filename="x.png", head="Content-Transfer-Encoding: base64\r\n")
    + END,
}


@pytest.mark.parametrize("case", TAKEN)
@pytest.mark.parametrize("form", FORMS)
def test_a_form_with_one_file_is_taken_whatever_else_it_holds(case: str, form: str, bucket_directory: Path) -> None:
    uploading.uploader()
    body = TAKEN[case]
    if form == FORMS[2]:
        start = body.index(b"--")
        body = body[:start] + part("key", SECRET) + body[start:]
    if form == FORMS[3]:
        body = body.replace(END, part("key", SECRET) + END)
    for answer in (
        uploading.post(body, uploading.headers_of(form)),
        uploading.post(body, uploading.headers_of(form), length=None),
    ):
        assert answer.status == 200, answer.text
    assert [(bucket_directory / file.key).read_bytes() for file in File.objects.all()] == [png(), png()]


def test_only_the_file_is_written_to_the_disk(settings: Any) -> None:
    uploading.uploader()
    seen: set[str] = set()

    class Looking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            seen.update(path.name for path in Path(settings.IMAGEHOST_INCOMING).glob("*"))
            return super().read(500)

    others = [part(f"f{number}", os.urandom(3000), filename="x.png") for number in range(5)]
    body = b"".join([*others[:3], part("file", png() + bytes(3000), filename="secret-name.png"), *others[3:], END])
    uploading.post(Looking(body), length=len(body))
    assert len(seen) == 1
    assert "secret-name" not in seen.pop()


@pytest.mark.parametrize("order", [("nobody's", SECRET), (SECRET, "nobody's"), ("", SECRET)])
def test_of_several_keys_the_first_one_that_is_something_counts(order: tuple[str, str]) -> None:
    uploading.uploader()
    keys = b"".join(part("key", key) for key in order)
    expected = 401 if order[0] == "nobody's" else 200
    for body in (keys + FILE + END, FILE + keys + END):
        assert uploading.post(body, {}).status == expected


def test_a_boundary_in_quotes_is_one() -> None:
    uploading.uploader()
    assert uploading.post(FILE + END, content_type=MULTIPART.replace(BOUNDARY, f'"{BOUNDARY}"')).status == 200


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("before", "after"), [(b"", b""), (FILE, b""), (b"", END), (FILE, END)], ids=["alone", "behind", "before", "amid"]
)
def test_noise_is_answered_in_json(seed: int, before: bytes, after: bytes) -> None:
    uploading.uploader()
    noise = hashlib.shake_128(bytes([seed])).digest(200)
    assert uploading.post(before + noise + after).status in {200, 400}
