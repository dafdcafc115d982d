"""How large a file may be, to the byte, and how early that is said."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import time_machine
from pytest_django import Settings

from imagehost.models import File
from imagehost.receiving.incoming import CHUNK, OVERHEAD
from tests.imagehost import uploading
from tests.imagehost.uploading import END, FORMS, SECRET, Zeros, part, png, upload

pytestmark = pytest.mark.django_db
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
