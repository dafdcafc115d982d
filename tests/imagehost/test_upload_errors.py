"""Every row of the document's error table, in both forms; keys, limits, and the order in which things are checked."""

from __future__ import annotations

import io
import resource
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import ApiKey, Permission
from imagehost import quotas
from imagehost.models import File
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.imagehost import FileFactory
from tests.imagehost import uploading
from tests.imagehost.uploading import END, FORMS, NO_FILE, SECRET, part, png, upload

pytestmark = pytest.mark.django_db
EVERY_FORM = pytest.mark.parametrize("form", FORMS)
GARBAGE = b"no picture at all"
TOO_LARGE = {"error": "File too large. Maximum size is 1000 bytes.", "code": "FILE_TOO_LARGE"}
BAD_TYPE = {
    "error": "File type not allowed. Allowed are png, jpeg, webp, gif, avif, mp4, webm and mov.",
    "code": "INVALID_MIME",
}
OVER_QUOTA = {"error": "The upload would exceed your total storage.", "code": "QUOTA_EXCEEDED"}


@EVERY_FORM
def test_no_file(form: str) -> None:
    uploading.uploader()
    answer = uploading.post(part("key", SECRET) + END, uploading.headers_of(form))
    assert answer.whole == (400, {"error": NO_FILE, "code": "NO_FILE"})


@EVERY_FORM
@pytest.mark.parametrize("content", [b"", GARBAGE, b"<svg xmlns='http://www.w3.org/2000/svg'/>"])
def test_a_type_that_is_not_allowed(form: str, content: bytes, bucket_directory: Path) -> None:
    uploading.uploader()
    assert upload(content, form=form).whole == (400, BAD_TYPE)
    assert uploading.nothing_is_left(bucket_directory)


@EVERY_FORM
def test_a_storage_that_is_full(form: str, monkeypatch: pytest.MonkeyPatch, bucket_directory: Path) -> None:
    owner = uploading.uploader()
    uploading.allow(monkeypatch, file=10_000, storage=len(png()) - 1)
    assert upload(png(), form=form).whole == (400, OVER_QUOTA)
    assert uploading.nothing_is_left(bucket_directory)
    uploading.allow(monkeypatch, file=10_000, storage=len(png()))
    assert upload(png(), form=form).status == 200
    assert quotas.used(owner.pk) == len(png())


@EVERY_FORM
def test_a_file_that_is_too_large(form: str, monkeypatch: pytest.MonkeyPatch, bucket_directory: Path) -> None:
    uploading.uploader()
    uploading.allow(monkeypatch, file=1000)
    assert upload(b"\0" * 1001, form=form).whole == (413, TOO_LARGE)
    assert uploading.nothing_is_left(bucket_directory)


@EVERY_FORM
def test_a_store_that_fails_and_a_retry_that_works(form: str, bucket_directory: Path) -> None:
    owner = uploading.uploader()
    bucket_directory.write_text("a file stands where the folder should be")
    assert upload(png(), form=form).whole == (
        500,
        {"error": "The file could not be stored. Please try again.", "code": "UPLOAD_FAILED"},
    )
    assert (File.objects.booked().count(), quotas.used(owner.pk)) == (0, 0)
    bucket_directory.unlink()
    assert upload(png(), form=form).status == 200
    assert (File.objects.booked().count(), quotas.used(owner.pk)) == (1, len(png()))


@EVERY_FORM
def test_a_disk_that_takes_no_upload_is_told_after_the_key(form: str, settings: Settings, tmp_path: Path) -> None:
    uploading.uploader()
    settings.IMAGEHOST_INCOMING = tmp_path / "occupied"
    settings.IMAGEHOST_INCOMING.write_text("")
    assert upload(png(), form=form).outcome == (500, "UPLOAD_FAILED")
    assert upload(png(), form=form, secret="nobody's").outcome == (401, "UNAUTHORIZED")
    settings.IMAGEHOST_INCOMING.unlink()
    assert upload(png(), form=form).status == 200


class _FillingUp(io.BytesIO):
    """A body during which the disk fills up: no file of this process may grow beyond 100,000 bytes any more."""

    def read(self, size: int | None = -1) -> bytes:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        return super().read(size)


@EVERY_FORM
def test_a_disk_that_fills_up_in_the_middle_is_upload_failed(form: str, bucket_directory: Path) -> None:
    uploading.uploader()
    body, headers = uploading.form_of(b"\0" * 1_000_000, form=form), uploading.headers_of(form)
    try:
        answer = uploading.post(_FillingUp(body), headers, length=len(body))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert answer.outcome == (500, "UPLOAD_FAILED")
    assert uploading.nothing_is_left(bucket_directory)
    assert upload(png(), form=form).status == 200


def _key(**columns: Any) -> str:
    """The secret of a key that may upload, with these columns."""
    ApiKeyFactory(secret="another", **{"permissions": [Permission.IMAGEHOST_UPLOAD.value], **columns})
    return "another"


REFUSED: dict[str, tuple[Callable[[], str], str]] = {  # the secret is made when the test runs
    "missing": (lambda: "", "Missing x-api-key header."),
    "unknown": (lambda: "nobody's", "Invalid API key."),
    "malformed": (lambda: "k" * 1000, "Invalid API key."),
    "of other characters": (lambda: "schlüssel", "Invalid API key."),
    "with a NUL byte": (lambda: "key\x00", "Invalid API key."),
    "revoked": (lambda: _key(revoked_at=timezone.now()), "API Key not found"),
    "of an account": (lambda: _key(permissions=["account"]), "API Key not found"),
    "for lookups": (lambda: _key(permissions=["lookup:user", "lookup:presence"]), "API Key not found"),
    "expired": (lambda: _key(expires_at=timezone.now() - timedelta(1)), "API Key has expired"),
    "used up": (lambda: _key(remaining_uses=0), "API Key has reached its usage limit"),
    "disabled": (lambda: _key(is_enabled=False), "API Key is disabled"),
    "of a banned user": (lambda: _key(owner=UserFactory(is_active=False)), "API Key not found"),
}


@EVERY_FORM
@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_key_is_401_unauthorized_in_its_own_words(form: str, case: str, bucket_directory: Path) -> None:
    secret, error = REFUSED[case]
    assert upload(png(), form=form, secret=secret()).whole == (401, {"error": error, "code": "UNAUTHORIZED"})
    assert uploading.nothing_is_left(bucket_directory)


def test_without_any_key_there_is_no_word_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    uploading.allow(monkeypatch, file=1000)
    bodies = [b"", b"nonsense", END, part("file", b"\0" * 5000, filename="x.png") + END, part("file", "x")]
    for body in bodies:
        answer = uploading.post(body, {})
        assert answer.whole == (401, {"error": "Missing x-api-key header.", "code": "UNAUTHORIZED"})
    assert uploading.post(b"{}", {}, content_type="application/json").outcome == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("place", ["key=", "apiKey=", "X-API-Key="])
def test_a_key_in_the_query_or_as_a_bearer_token_is_none(place: str) -> None:
    uploading.uploader()
    headers = {"Authorization": f"Bearer {SECRET}"}
    answer = uploading.post(uploading.form_of(png()), headers, query=f"{place}{SECRET}")
    assert answer.outcome == (401, "UNAUTHORIZED")


class _Unread:
    """A body that may not be touched."""

    def read(self, size: int = -1, /) -> bytes:
        raise AssertionError("The body was read.")

    readline = read


@pytest.mark.parametrize("form", FORMS[:2])
def test_a_key_in_a_header_is_refused_before_a_byte_of_the_body_is_read(form: str) -> None:
    headers = uploading.headers_of(form, "nobody's")
    answer = uploading.post(_Unread(), headers, length=5000)
    assert answer.outcome == (401, "UNAUTHORIZED")


@EVERY_FORM
def test_the_key_comes_before_everything(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    uploading.uploader()
    uploading.allow(monkeypatch, file=1000, storage=10)
    for content in (b"", GARBAGE, b"\0" * 1001, png()):
        assert upload(content, form=form, secret="nobody's").outcome == (401, "UNAUTHORIZED")


@EVERY_FORM
def test_then_come_size_type_quota_and_storage(
    form: str, monkeypatch: pytest.MonkeyPatch, bucket_directory: Path
) -> None:
    uploading.uploader()
    bucket_directory.write_text("a file stands where the folder should be")
    uploading.allow(monkeypatch, file=1000, storage=10)
    assert upload(GARBAGE * 100, form=form).outcome == (413, "FILE_TOO_LARGE")
    assert upload(GARBAGE, form=form).outcome == (400, "INVALID_MIME")
    assert upload(png(), form=form).outcome == (400, "QUOTA_EXCEEDED")
    uploading.allow(monkeypatch, file=1000, storage=1000)
    assert upload(png(), form=form).outcome == (500, "UPLOAD_FAILED")


@EVERY_FORM
@pytest.mark.parametrize(("plan", "amount"), [("FREE", 30), ("IMAGEHOST", 60)])
def test_a_key_that_asks_too_often_is_429(form: str, plan: str, amount: int) -> None:
    uploading.uploader(plan=plan)
    body, headers = part("key", SECRET) + END, uploading.headers_of(form)
    for number in range(amount):
        assert uploading.post(body, headers, address=f"203.0.113.{number}").outcome == (400, "NO_FILE")
    answer = uploading.post(body, headers, address="203.0.113.200")
    assert answer.whole == (429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"})
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


@EVERY_FORM
@pytest.mark.parametrize("secret", [SECRET, "nobody's"])
def test_an_address_that_asks_too_often_is_429_and_nothing_of_its_bodies_is_read(form: str, secret: str) -> None:
    """60 pass: each request is counted once, in every form."""
    owner = UserFactory(plan="PREMIUM")
    ApiKeyFactory(owner=owner, secret=SECRET, permissions=[Permission.IMAGEHOST_UPLOAD.value])
    status = 400 if secret == SECRET else 401
    body, headers = part("key", secret) + part("other", "x") + END, uploading.headers_of(form, secret)
    for _ in range(60):
        assert uploading.post(body, headers).status == status
    answer = uploading.post(_Unread(), headers, length=5000)
    assert answer.whole == (429, {"error": "errors.rateLimitExceeded", "code": "RATE_LIMITED"})
    assert answer.headers["X-RateLimit-Limit"] == "60"
    assert {"Retry-After", "X-RateLimit-Remaining", "X-RateLimit-Reset"} <= set(answer.headers)


@EVERY_FORM
def test_a_use_of_a_key_is_taken_once(form: str) -> None:
    uploading.uploader()
    ApiKey.objects.update(remaining_uses=2)
    assert upload(png(), form=form).status == 200
    assert upload(GARBAGE, form=form).outcome == (400, "INVALID_MIME")
    assert ApiKey.objects.get().remaining_uses == 0
    assert upload(png(), form=form).outcome == (401, "UNAUTHORIZED")


def test_the_plan_counts_that_holds_now() -> None:
    """Premium that has ended is none."""
    size = 76 * 1024 * 1024
    uploading.uploader(plan="PREMIUM", plan_expires_at=timezone.now() - timedelta(seconds=1))
    answer = uploading.post(_Unread(), length=size + 3 * 1024 * 1024)
    assert answer.whole == (
        413,
        {"error": "File too large. Maximum size is 78643200 bytes.", "code": "FILE_TOO_LARGE"},
    )


def test_other_peoples_files_take_no_room() -> None:
    owner = uploading.uploader()
    FileFactory(size=1024**3)
    FileFactory(owner=owner, size=1024**3 - len(png()))
    assert upload(png()).status == 200
    assert upload(png()).whole == (400, OVER_QUOTA)
    assert quotas.used(owner.pk) == 1024**3
