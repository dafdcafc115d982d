"""How large a file may be, to the byte, and how early that is said."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from imagehost.incoming import CHUNK, OVERHEAD
from imagehost.models import File
from tests.imagehost import uploading
from tests.imagehost.uploading import END, FORMS, SECRET, Zeros, part, png, upload

pytestmark = pytest.mark.django_db
EVERY_FORM = pytest.mark.parametrize("form", FORMS)
MEGABYTE = 1024 * 1024
PLANS = [("FREE", 78_643_200), ("PREMIUM", 157_286_400), ("IMAGEHOST", 262_144_000)]
BAD_TYPE = (400, "INVALID_MIME")  # of zero bytes that were not too many


def _too_large(maximum: int, more: str = "") -> tuple[int, dict[str, str]]:
    return 413, {"error": f"File too large. Maximum size is {maximum} bytes.{more}", "code": "FILE_TOO_LARGE"}


@EVERY_FORM
@pytest.mark.parametrize("is_chunked", [False, True])
def test_n_bytes_pass_and_one_more_is_too_large(form: str, is_chunked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    uploading.uploader()
    for difference, outcome in ((-1, (413, "FILE_TOO_LARGE")), (0, (200, "")), (1, (200, ""))):
        uploading.allow(monkeypatch, file=len(png()) + difference)
        body, headers = uploading.form_of(png(), form=form), uploading.headers_of(form)
        length = None if is_chunked else len(body)
        assert uploading.post(body, headers, length=length).outcome == outcome


@EVERY_FORM
@pytest.mark.parametrize("edge", [CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 17])
def test_where_chunks_end_changes_nothing(form: str, edge: int, monkeypatch: pytest.MonkeyPatch) -> None:
    uploading.uploader()
    uploading.allow(monkeypatch, file=edge)
    assert upload(b"\0" * edge, form=form).outcome == BAD_TYPE
    assert upload(b"\0" * (edge + 1), form=form).whole == _too_large(edge)


@EVERY_FORM
def test_the_free_plans_75_megabytes_to_the_byte(form: str) -> None:
    uploading.uploader()
    headers = uploading.headers_of(form)
    body = Zeros(78_643_200, form=form)
    assert uploading.post(body, headers, length=body.length).outcome == BAD_TYPE
    body = Zeros(78_643_201, form=form)
    assert uploading.post(body, headers, length=body.length).whole == _too_large(78_643_200)


@pytest.mark.parametrize(("plan", "most"), PLANS[1:])
def test_the_plans_that_are_paid_for_to_the_byte(plan: str, most: int) -> None:
    uploading.uploader(plan=plan)
    body = Zeros(most)
    assert uploading.post(body, length=body.length).outcome == BAD_TYPE
    body = Zeros(most + 1)
    assert uploading.post(body, length=body.length).whole == _too_large(most)


@pytest.mark.parametrize("form", FORMS[:2])
@pytest.mark.parametrize(("plan", "most"), PLANS)
def test_a_length_that_says_enough_is_refused_before_the_body_is_read(form: str, plan: str, most: int) -> None:
    uploading.uploader(plan=plan)
    body = io.BytesIO(uploading.form_of(b"\0" * 1000))
    answer = uploading.post(body, uploading.headers_of(form), length=most + OVERHEAD + 1)
    assert answer.whole == _too_large(most)
    assert body.tell() == 0


@pytest.mark.parametrize(("plan", "most"), PLANS)
def test_with_the_key_in_front_of_the_file_the_length_is_refused_where_the_file_begins(plan: str, most: int) -> None:
    uploading.uploader(plan=plan)
    body = io.BytesIO(part("key", SECRET) + part("file", b"\0" * 2 * CHUNK, filename="x.png"))
    answer = uploading.post(body, {}, length=most + OVERHEAD + 1)
    assert answer.whole == _too_large(most)
    assert body.tell() == CHUNK


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


@pytest.mark.parametrize("form", FORMS)
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
    more = " Larger ones need the key before them in the form, or in a header."
    assert upload(content, form="earlier field behind the file").whole == _too_large(1000, more)
    for form in FORMS[:3]:
        assert upload(content, form=form).status == 200
    assert upload(content[:1000], form="earlier field behind the file").status == 200


def test_nobody_without_a_key_writes_more_than_the_smallest_plan_allows(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """Looked at while the body is still coming in."""
    uploading.allow(monkeypatch, file=4 * CHUNK, premium_file=40 * CHUNK)
    written: list[int] = []

    class Looking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            written.append(sum(path.stat().st_size for path in Path(settings.IMAGEHOST_INCOMING).glob("*")))
            return super().read(size)

    body = Looking(part("file", b"\0" * 20 * CHUNK, filename="x.png") + END)
    answer = uploading.post(body, {}, length=len(body.getvalue()))
    assert answer.outcome == (401, "UNAUTHORIZED")
    assert 3 * CHUNK <= max(written) <= 4 * CHUNK
    assert written[-1] == 0  # what is too large is removed at once, while the key may still come


def test_the_file_on_its_way_in_is_for_this_user_alone(settings: Settings) -> None:
    uploading.uploader()
    modes: set[int] = set()

    class Looking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            modes.update(path.stat().st_mode & 0o777 for path in Path(settings.IMAGEHOST_INCOMING).glob("*"))
            return super().read(size)

    body = Looking(uploading.form_of(b"\0" * 2 * CHUNK))
    assert uploading.post(body, length=len(body.getvalue())).outcome == BAD_TYPE
    assert modes == {0o600}
    assert Path(settings.IMAGEHOST_INCOMING).stat().st_mode & 0o777 == 0o700


def test_a_slow_upload_counts_from_its_end(time_machine: Any) -> None:
    """Whatever is booked and unfinished for long is swept up: it must not be as old as its first byte."""
    uploading.uploader()
    time_machine.move_to("2026-05-01T12:00:00Z")

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            time_machine.move_to("2026-05-01T14:30:00Z")
            return super().read(size)

    body = Slow(uploading.form_of(png()))
    assert uploading.post(body, length=len(body.getvalue())).status == 200
    assert File.objects.get().uploaded_at.isoformat() == "2026-05-01T14:30:00+00:00"
