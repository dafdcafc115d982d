"""Forms that are none, or not quite, and how large a file may be: the answer is JSON with an error and a code."""

from __future__ import annotations

import base64
import gzip
import io
import os
from email.utils import decode_params
from pathlib import Path

import pytest
import time_machine
from pytest_django import Settings

from imagehost.models import File
from imagehost.receiving import incoming
from imagehost.receiving.incoming import CHUNK, OVERHEAD, IncomingFile
from imagehost.storing import storage
from imagehost.storing.storage import FolderStorage
from tests.imagehost import uploading
from tests.imagehost.uploading import BOUNDARY, END, FORMS, MULTIPART, NO_FILE, SECRET, Zeros, part, png, upload

pytestmark = pytest.mark.django_db
NOT_MULTIPART = "The body must be multipart/form-data, with a boundary."
CUT_OFF = "The form ended too early."
UNREADABLE = "The form cannot be read."
LONG_HEADER = (
    "The head of a part of the form is longer than 1024 bytes. A shorter file name or fewer headers in the part help."
)
BARE_LINES = "The lines of the form must end with CR and LF."
COMPRESSED = "The body must not be compressed: leave out Content-Encoding."
MANY = "The form has too many fields."
LONG_FIELDS = "The form's text fields are too long. Is the file sent without a file name?"
TWO_FILES = "Only one file can be sent at a time, in one field `file`."
FILE = part("file", png(), filename="x.png")
IN_BASE64 = "Content-Transfer-Encoding: base64\r\n"
MEBIBYTE = 1024 * 1024


def _no_file(error: str) -> tuple[int, dict[str, str]]:
    return 400, {"error": error, "code": "NO_FILE"}


def test_a_body_is_a_form_by_its_type_in_any_case_with_a_boundary_that_may_stand_in_quotes() -> None:
    uploading.uploader()
    none = ["application/json", "", "nonsense", f"multipart/mixed; boundary={BOUNDARY}", "multipart/form-data"]
    for content_type in (*none, *(f"multipart/form-data; boundary={boundary}" for boundary in ("", "é", "b" * 300))):
        assert uploading.post(FILE + END, content_type=content_type).whole == _no_file(NOT_MULTIPART), content_type
    for content_type in (f" MULTIPART/Form-Data ; boundary={BOUNDARY}", MULTIPART.replace(BOUNDARY, f'"{BOUNDARY}"')):
        assert uploading.post(FILE + END, content_type=content_type).status == 200


BODIES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", NO_FILE),
    "nonsense": (b"nonsense", NO_FILE),
    "another boundary": ((FILE + END).replace(BOUNDARY.encode(), b"other"), NO_FILE),
    "a text field called file": (part("file", png()) + END, NO_FILE),
    "a file without a name": (part("file", png(), filename="") + END, NO_FILE),
    "a file called ..": (part("file", png(), filename="..") + END, NO_FILE),
    "a file of control characters": (part("file", png(), filename="\x01\u202e") + END, NO_FILE),
    "a file in a field called File": (part("File", png(), filename="x.png") + END, NO_FILE),
    "a field without a name": (FILE.replace(b'name="file"; ', b"") + END, NO_FILE),
    "two files, one of them empty": (FILE + part("file", b"", filename="y.png") + END, TWO_FILES),
    "a text field of 3 MiB": (part("text", b"x" * 3 * MEBIBYTE) + FILE + END, LONG_FIELDS),
    "a file of 3 MiB without a name": (part("file", b"x" * 3 * MEBIBYTE) + END, LONG_FIELDS),
    "300 fields": (b"".join(part(f"f{number}", "x") for number in range(300)) + FILE + END, MANY),
    "150 files": (b"".join(part(f"f{number}", "x", filename="x") for number in range(150)) + FILE + END, MANY),
    "a name of 350 Chinese characters": (part("file", png(), filename="日" * 350) + END, LONG_HEADER),
    "a part with many headers": (FILE.replace(b"\r\n\r\n", b"\r\nX: 1" * 300 + b"\r\n\r\n", 1) + END, LONG_HEADER),
    "lines that end with LF": ((FILE + END).replace(b"\r\n", b"\n"), BARE_LINES),
    "long lines that end with LF": ((FILE + part("a", "x" * 3000) + END).replace(b"\r\n", b"\n"), BARE_LINES),
    "base64 that is none": (part("file", "!" * 5, filename="x.png", head=IN_BASE64) + END, UNREADABLE),
    "a name in an unknown charset": (FILE.replace(b'filename="x.png"', b"filename*=klingon''%41") + END, NO_FILE),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_form_without_a_file_that_can_be_taken(case: str, bucket_directory: Path) -> None:
    uploading.uploader()
    body, error = BODIES[case]
    assert uploading.post(body).whole == _no_file(error)
    assert uploading.post(body, length=None).whole == _no_file(error)
    if END in body:  # otherwise the key could not be read
        assert uploading.post(part("key", SECRET) + body, {}).whole == _no_file(error)
        assert uploading.post(part("key", "nobody's") + body, {}).outcome == (401, "UNAUTHORIZED")
    assert uploading.nothing_is_left(bucket_directory)


def test_a_name_in_two_contradicting_forms_is_read_where_python_can() -> None:
    """Python 3.14 ignores one of them; earlier ones raise TypeError."""
    uploading.uploader()
    try:
        decode_params([("form-data", ""), ("filename*1*", ""), ("filename*", "x.png")])
        can_read = True
    except TypeError:
        can_read = False
    answer = uploading.post(FILE.replace(b"filename=", b"filename*1*; filename*=") + END)
    assert answer.status == 200 if can_read else answer.whole == _no_file(UNREADABLE)


@pytest.mark.parametrize("is_announced", [True, False])
def test_a_form_that_is_cut_off_is_no_file(is_announced: bool, bucket_directory: Path) -> None:
    """`is_announced`: the request gives its length."""
    uploading.uploader()
    whole = FILE + END
    for end in (1, len(BOUNDARY), FILE.index(b"\r\n\r\n") + 5, len(FILE) - 2, len(FILE), len(whole) - 4):
        answer = uploading.post(whole[:end], length=len(whole) if is_announced else end)
        has_begun = end > len(BOUNDARY)
        assert answer.whole == _no_file(CUT_OFF if is_announced or has_begun else NO_FILE)
    assert uploading.post(FILE + part("other", "x"), length=len(whole) + 500).whole == _no_file(CUT_OFF)
    assert uploading.nothing_is_left(bucket_directory)


def test_a_compressed_form_is_named_as_such_and_a_length_that_is_none_is_an_empty_body() -> None:
    uploading.uploader()
    headers = {**uploading.IN_HEADER, "Content-Encoding": "gzip"}
    assert uploading.post(gzip.compress(FILE + END), headers).whole == _no_file(COMPRESSED)
    for length in ("", "-5", "१२"):
        assert uploading.post(FILE + END, length=length).whole == _no_file(NO_FILE)


@pytest.mark.parametrize("form", FORMS[2:])
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


TAKEN: dict[str, bytes] = {
    "other fields and files around": part("a", "x") + part("b", b"z", filename="b.png") + FILE + part("c", "y") + END,
    "fields with NUL bytes": part("a\x00", "\x00") + FILE + END,
    "a text field of the same name": part("file", "x") + FILE + part("file", "y") + END,
    "199 fields": b"".join(part(f"f{number}", "x") for number in range(199)) + FILE + END,
    "a preamble and an epilogue": b"This is a form.\r\n" + FILE + END + b"The end.\r\n",
    "a text field of 2 MiB": part("a", b"x" * 2 * MEBIBYTE) + FILE + END,
    "a name of 255 Chinese characters": part("file", png(), filename="日" * 255) + END,
    "a name in raw latin-1": FILE.replace(b"x.png", "übung.png".encode("latin-1")) + END,
    "base64": part("file", base64.encodebytes(png()), filename="x.png", head=IN_BASE64) + END,
}


@pytest.mark.parametrize("case", TAKEN)
def test_a_form_with_one_file_is_taken_whatever_else_it_holds(case: str, bucket_directory: Path) -> None:
    """With the key in a header and in the form, before the file and behind it, announced and in chunks."""
    uploading.uploader()
    body = TAKEN[case]
    start = body.index(b"--")
    in_front = body[:start] + part("key", SECRET) + body[start:]
    behind = body.replace(END, part("key", SECRET) + END)
    answers = [uploading.post(body, length=None), uploading.post(in_front, {}), uploading.post(behind, {}, length=None)]
    assert [answer.status for answer in answers] == [200] * 3
    assert [(bucket_directory / file.key).read_bytes() for file in File.objects.all()] == [png()] * 3


ORIGINALS = {
    "übung.png".encode("latin-1"): "\ufffdbung.png",
    "表示.png".encode("shift-jis"): "\ufffd\ufffd\ufffd.png",
    "表".encode("shift-jis"): "\ufffd",
    "übung 表.png".encode(): "übung 表.png",
    b"a %22b%22.png": 'a "b".png',
    b"two%0D%0Alines%0A.png": "twolines.png",
    b"100%25 %0d%2F.png": "100%25 %0d%2F.png",
    b"%0A": "%0A",
}


@pytest.mark.parametrize("piece", [1, 50, 1000])
def test_the_original_name_is_what_a_browser_escaped_and_what_another_encoding_left(piece: int) -> None:
    """HTML's rule for names in forms: `"`, CR and LF are escaped, and nothing else."""
    uploading.uploader()

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(piece)

    for sent, original in ORIGINALS.items():
        body = FILE.replace(b"x.png", sent) + END
        assert uploading.post(Slow(body), length=len(body)).status == 200
        assert File.objects.latest("uploaded_at").original_name == original


def test_only_the_file_is_written_to_the_disk(settings: Settings) -> None:
    uploading.uploader()
    seen: set[str] = set()

    class Looking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            seen.update(path.name for path in Path(settings.IMAGEHOST_INCOMING).glob("*"))
            return super().read(500)

    others = [part(f"f{number}", os.urandom(3000), filename="x.png") for number in range(2)]
    body = b"".join([others[0], part("file", png() + bytes(3000), filename="secret-name.png"), others[1], END])
    uploading.post(Looking(body), length=len(body))
    assert len(seen) == 1
    assert "secret-name" not in seen.pop()


def test_of_several_keys_the_first_one_that_is_something_counts() -> None:
    uploading.uploader()
    for order, expected in ((("nobody's", SECRET), 401), ((SECRET, "nobody's"), 200), (("", SECRET), 200)):
        keys = b"".join(part("key", key) for key in order)
        assert [uploading.post(body, {}).status for body in (keys + FILE + END, FILE + keys + END)] == [expected] * 2


PIECE = bytes(range(100))


class WatchedStorage(FolderStorage):
    def __init__(self, location: Path) -> None:
        super().__init__(location=location)
        self.prepared: list[tuple[int, int]] = []

    def prepare(self, descriptor: int, start: int, length: int) -> None:
        assert os.fstat(descriptor).st_size == start + length  # written already
        self.prepared.append((start, length))
        super().prepare(descriptor, start, length)


@pytest.fixture
def bucket(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WatchedStorage:
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    bucket = WatchedStorage(tmp_path / "files")
    monkeypatch.setattr(storage, "bucket", lambda: bucket)
    monkeypatch.setattr(incoming, "PREPARE_EVERY", 250)
    return bucket


def _received(pieces: int) -> bytes:
    with IncomingFile() as file:
        for _ in range(pieces):
            file.take(PIECE)
    return file.path.read_bytes()


def test_each_full_stretch_is_prepared_once_and_a_small_file_is_left_to_the_end(bucket: WatchedStorage) -> None:
    assert _received(2) == PIECE * 2
    assert bucket.prepared == []
    assert _received(8) == PIECE * 8
    assert bucket.prepared == [(0, 300), (300, 300)]


def test_a_disk_that_takes_a_part_gets_the_rest(bucket: WatchedStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    write = IncomingFile.write
    monkeypatch.setattr(IncomingFile, "write", lambda self, data: write(self, data[:7]))
    assert _received(3) == PIECE * 3
    assert bucket.prepared == [(0, 300)]


EVERY_FORM = pytest.mark.parametrize("form", FORMS)
PLANS = [("FREE", 78_643_200), ("PREMIUM", 157_286_400), ("IMAGEHOST", 262_144_000)]
BAD_TYPE = (400, "INVALID_MIME")  # of zero bytes that were not too many
LARGER = " Larger ones need the key before them in the form, or in a header."


def _too_large(maximum: int, more: str = "") -> tuple[int, dict[str, str]]:
    return 413, {"error": f"File too large. Maximum size is {maximum} bytes.{more}", "code": "FILE_TOO_LARGE"}


class Looking(io.BytesIO):
    """A body that looks at what lies in the incoming directory while it is read."""

    def __init__(self, body: bytes, directory: Path) -> None:
        super().__init__(body)
        self.directory = directory
        self.sizes: list[int] = []
        self.modes: set[int] = set()

    def read(self, size: int | None = -1) -> bytes:
        found = [path.stat() for path in self.directory.glob("*")]
        self.sizes.append(sum(facts.st_size for facts in found))
        self.modes.update(facts.st_mode & 0o777 for facts in found)
        return super().read(size)


@EVERY_FORM
@pytest.mark.parametrize("is_chunked", [False, True])
def test_n_bytes_pass_and_one_more_is_too_large(form: str, is_chunked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    uploading.uploader()
    for difference, outcome in ((-1, (413, "FILE_TOO_LARGE")), (0, (200, ""))):
        uploading.allow(monkeypatch, file=len(png()) + difference)
        body, headers = uploading.form_of(png(), form=form), uploading.headers_of(form)
        length = None if is_chunked else len(body)
        assert uploading.post(body, headers, length=length).outcome == outcome


def test_where_chunks_end_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    uploading.uploader()
    for edge in (CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK):
        uploading.allow(monkeypatch, file=edge)
        for form in FORMS[::3]:
            assert upload(b"\0" * edge, form=form).outcome == BAD_TYPE
            assert upload(b"\0" * (edge + 1), form=form).whole == _too_large(edge)


@pytest.mark.parametrize(("plan", "most"), PLANS)
def test_the_maximum_of_each_plan_to_the_byte(plan: str, most: int) -> None:
    """The error names the maximum, so that one plan is enough for a file of exactly so many bytes."""
    uploading.uploader(plan=plan)
    body = Zeros(most + 1)
    assert uploading.post(body, length=body.length).whole == _too_large(most)
    if plan == "FREE":
        body = Zeros(most, form=FORMS[3])
        assert uploading.post(body, {}, length=body.length).outcome == BAD_TYPE


@pytest.mark.parametrize(("plan", "most"), PLANS)
def test_a_length_that_says_enough_is_refused_as_soon_as_the_plan_is_known(plan: str, most: int) -> None:
    """With the key in a header before the body is read, with the key in the form where the file begins."""
    uploading.uploader(plan=plan)
    content = part("key", SECRET) + part("file", b"\0" * 2 * CHUNK, filename="x.png")
    for form, read in ((FORMS[0], 0), (FORMS[1], 0), (FORMS[2], CHUNK)):
        body = io.BytesIO(content)
        answer = uploading.post(body, uploading.headers_of(form), length=most + OVERHEAD + 1)
        assert (answer.whole, body.tell()) == (_too_large(most), read)
        body = io.BytesIO(content)
        answer = uploading.post(body, uploading.headers_of(form), length=most + OVERHEAD)
        assert (answer.outcome, body.tell()) == ((400, "NO_FILE"), len(content))  # it ended too early


def test_a_file_that_no_plan_allows_needs_its_key_in_front() -> None:
    uploading.uploader(plan="IMAGEHOST")
    body = io.BytesIO(part("file", b"\0" * 2 * CHUNK, filename="x.png") + part("key", SECRET))
    answer = uploading.post(body, {}, length=262_144_000 + OVERHEAD + 1)
    assert answer.whole == (401, {"error": "Missing x-api-key header.", "code": "UNAUTHORIZED"})
    assert body.tell() == CHUNK


@pytest.mark.parametrize("form", FORMS[:3])
@pytest.mark.parametrize("is_chunked", [False, True])
def test_the_rest_of_a_file_that_is_too_large_is_left_unread(
    form: str, is_chunked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploading.uploader()
    uploading.allow(monkeypatch, file=CHUNK)
    body = io.BytesIO(uploading.form_of(b"\0" * 10 * CHUNK, form=form))
    length = None if is_chunked else len(body.getvalue())
    assert uploading.post(body, uploading.headers_of(form), length=length).whole == _too_large(CHUNK)
    assert body.tell() <= 3 * CHUNK


@pytest.mark.parametrize("form", FORMS[::3])
def test_what_stands_beside_the_file_is_limited_too(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second file under another name takes no room, but time."""
    uploading.uploader()
    uploading.allow(monkeypatch, file=CHUNK)
    other = part("other", b"\0" * (OVERHEAD + CHUNK), filename="y.png")
    body = part("key", SECRET) + part("file", png(), filename="x.png") + other + END
    headers = uploading.headers_of(form)
    for answer in (uploading.post(body, headers), uploading.post(body, headers, length=None)):
        assert answer.whole == _too_large(CHUNK)


def test_a_key_behind_the_file_is_waited_for_as_long_as_every_plan_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    uploading.uploader(plan="PREMIUM")
    uploading.allow(monkeypatch, file=1000, premium_file=2000)
    content = png() + b"\0" * (1001 - len(png()))
    assert upload(content, form=FORMS[3]).whole == _too_large(1000, LARGER)
    for form in FORMS[:3]:
        assert upload(content, form=form).status == 200
    assert upload(content[:1000], form=FORMS[3]).status == 200


def test_a_client_without_a_key_writes_no_more_than_the_smallest_plan_allows(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    uploading.allow(monkeypatch, file=4 * CHUNK, premium_file=40 * CHUNK)
    body = Looking(part("file", b"\0" * 20 * CHUNK, filename="x.png") + END, Path(settings.IMAGEHOST_INCOMING))
    answer = uploading.post(body, {}, length=len(body.getvalue()))
    assert answer.outcome == (401, "UNAUTHORIZED")
    assert 3 * CHUNK <= max(body.sizes) <= 4 * CHUNK
    assert body.sizes[-1] == 0  # what is too large is removed at once, while the key may still come
    assert body.modes == {0o600}
    assert body.directory.stat().st_mode & 0o777 == 0o700


def test_a_slow_upload_counts_from_its_end() -> None:
    """Whatever is booked and unfinished for long is swept up: it must not be as old as its first byte."""
    uploading.uploader()
    with time_machine.travel("2026-05-01T12:00:00Z", tick=False) as clock:

        class Slow(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                clock.move_to("2026-05-01T14:30:00Z")
                return super().read(size)

        body = Slow(uploading.form_of(png()))
        assert uploading.post(body, length=len(body.getvalue())).status == 200
    assert File.objects.get().uploaded_at.isoformat() == "2026-05-01T14:30:00+00:00"
