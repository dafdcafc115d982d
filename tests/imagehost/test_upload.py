"""What an upload answers and keeps, in both forms; the document's error table, keys, limits, the order of checks."""

from __future__ import annotations

import io
import re
import resource
import secrets
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import ApiKey, Permission
from imagehost.models import File, PreviewTurn, State
from imagehost.receiving.incoming import kept_name
from imagehost.storing import files, quotas
from tests.accounts.calls import ALWAYS, without_budget
from tests.factories.accounts import ApiKeyFactory
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost import media_corpus, uploading
from tests.imagehost.media_corpus.sample import PLACE
from tests.imagehost.uploading import END, FORMS, NO_FILE, PATH, SECRET, part, png, upload
from tests.lookup import statements

pytestmark = pytest.mark.django_db
BASE, CDN = "https://example.org", "https://i.example.net/u"
KEY = [] if django_settings.REDIS_URL else ["SELECT accounts_apikey"]  # Redis has the keys in its cache


@pytest.fixture(autouse=True)
def _hosts(settings: Settings) -> None:
    settings.BASE_URL, settings.IMAGE_CDN_URL = BASE, CDN


def test_the_current_form_is_answered_to_the_header_x_api_key() -> None:
    uploading.uploader()
    answer = upload(png(), filename="Screenshot 1.png")
    file = File.objects.get()
    assert answer.status == 200
    assert list(answer.body.items()) == [
        ("ok", True),
        ("url", f"{CDN}/{file.name}.png"),
        ("id", str(file.pk)),
        ("fileName", file.name),
        ("fileExtension", "png"),
        ("fileSize", len(png())),
        ("mime", "image/png"),
    ]
    assert re.fullmatch(r"[A-Za-z0-9]{8}", file.name)
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", answer.body["id"])


def test_the_earlier_form_is_answered_to_a_header_or_a_field_called_key() -> None:
    uploading.uploader()
    for form in FORMS[1:]:
        answer = upload(png(40, 30), form=form, filename="Screenshot 1.png")
        file = File.objects.latest("uploaded_at")
        assert (answer.status, list(answer.body)) == (200, ["status", "url", "rawUrl", "data"])
        assert list(answer.body["data"].items()) == [
            ("file", f"{file.name}.png"),
            ("fileName", file.name),
            ("fileExtension", "png"),
            ("fileSize", len(png())),
            ("fileOriginal", "Screenshot 1.png"),
            ("fileWidth", 40),
            ("fileHeight", 30),
        ]
        assert (answer.body["status"], answer.body["url"]) == ("success", f"{BASE}/files/{file.name}")
        assert answer.body["rawUrl"] == f"{CDN}/{file.name}.png"


def test_a_long_name_keeps_its_extension() -> None:
    assert kept_name("a" * 256) == "a" * 255
    assert kept_name(f"{'a' * 252}.png") == f"{'a' * 251}.png"
    assert kept_name(f"a.{'p' * 300}") == f".{'p' * 254}"
    assert kept_name(f"{'日' * 300}.jpeg") == f"{'日' * 250}.jpeg"


@pytest.mark.parametrize("form", [FORMS[0], FORMS[3]])
def test_an_upload_is_a_row_an_object_bytes_in_the_usage_and_a_deletion_link(form: str, bucket_directory: Path) -> None:
    owner = uploading.uploader()
    answer = upload(png(), form=form)
    file = File.objects.get()
    assert (file.owner, file.folder, file.state) == (owner, None, State.READY)
    assert (file.mime, file.extension, file.size) == ("image/png", "png", len(png()))
    assert (file.width, file.height, file.original_name) == (40, 30, "picture.png")
    assert (bucket_directory / file.key).read_bytes() == png()
    assert quotas.used(owner.pk) == len(png())
    headers = without_budget(answer.headers)
    assert len(headers.pop("X-Request-Id")) == 16
    start, _, token = headers.pop("X-Deletion-Url").rpartition("/")
    assert headers == {**ALWAYS, "Content-Length": str(len(answer.text.encode()))}
    assert start == f"{BASE}/files/{file.name}/delete"
    assert len(token) >= 40
    assert files.is_deletion_token(file, token)
    assert token not in str(File.objects.values())


def test_the_header_x_api_key_comes_before_the_header_key_and_that_before_the_field() -> None:
    uploading.uploader()
    rows: list[tuple[dict[str, str], str, str]] = [
        ({"X-API-Key": SECRET, "key": "nobody's"}, "nobody's", "ok"),
        ({"key": SECRET}, "nobody's", "status"),
        ({"X-API-Key": "", "key": ""}, SECRET, "status"),  # an empty header is none
        ({"X-API-Key": "nobody's", "key": SECRET}, SECRET, "error"),
        ({"key": "nobody's"}, SECRET, "error"),
    ]
    for headers, field, answered in rows:
        answer = uploading.post(uploading.form_of(png(), form="earlier field", secret=field), headers)
        assert next(iter(answer.body)) == answered
        assert answered != "error" or answer.whole == (401, {"error": "Invalid API key.", "code": "UNAUTHORIZED"})


@pytest.mark.parametrize(
    "name", ["png-gps", "jpeg-comment", "webp-gps", "gif-animated", "avif-gps", "mp4-gps", "webm-vp9", "mov-h264"]
)
def test_each_type_is_taken_by_content_and_stored_without_private_metadata(name: str, bucket_directory: Path) -> None:
    """Neither the name nor the type that a client claims decides."""
    owner = uploading.uploader()
    sample = media_corpus.sample(name)
    form = part("file", sample.content, filename="shell.html.php").replace(b"image/png", b"text/html") + END
    answer = uploading.post(form, {"key": SECRET})
    file = File.objects.get()
    stored = (bucket_directory / file.key).read_bytes()
    assert answer.body["data"] == {
        "file": f"{file.name}.{sample.extension}",
        "fileName": file.name,
        "fileExtension": sample.extension,
        "fileSize": len(stored),
        "fileOriginal": "shell.html.php",
        "fileWidth": sample.width,
        "fileHeight": sample.height,
    }
    assert (file.mime, file.frames, file.size) == (sample.mime, sample.frames, len(stored))
    assert quotas.used(owner.pk) == len(stored)
    assert PLACE.encode() not in stored


def test_an_upload_goes_to_the_folder_of_the_first_rule_that_matches() -> None:
    """Their order is that of their positions, whichever was made first."""
    owner = uploading.uploader()
    folders = {name: FolderFactory(owner=owner, name=name) for name in ("shots", "pictures", "gifs")}
    rules = [
        (2, "pictures", "mime", "image/p*"),
        (0, "shots", "filename", "screen*.png"),
        (1, "gifs", "extension", "gif"),
    ]
    for position, name, matches, pattern in rules:
        FolderRuleFactory(owner=owner, folder=folders[name], position=position, kind=matches, pattern=pattern)
    FolderRuleFactory(position=0, kind="mime", pattern="*")  # somebody else's
    cases = [("Screen 1.PNG", "PNG", "shots"), ("x.png", "PNG", "pictures"), ("x.png", "GIF", "gifs")]
    for filename, kind, folder in [*cases, ("screen.jpg", "JPEG", None)]:
        answer = upload(uploading.encoded(kind), filename=filename)
        file = File.objects.select_related("folder").get(pk=answer.body["id"])
        assert (file.folder.name if file.folder else None) == folder


def test_a_name_that_is_taken_is_drawn_again_and_an_upload_fails_where_none_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = uploading.uploader()
    FileFactory(name="aaaaaaaa")
    monkeypatch.setattr(secrets, "choice", lambda _: "a")
    assert upload(png()).outcome == (500, "UPLOAD_FAILED")
    assert quotas.used(owner.pk) == 0
    drawn = iter("AAAAAAAA" + "b" * 8)  # some stores take upper case for lower case
    monkeypatch.setattr(secrets, "choice", lambda _: next(drawn))
    assert upload(png()).body["fileName"] == "bbbbbbbb"


NAMES = {
    "../../etc/passwd.png": "passwd.png",
    r"C:\\Users\\me\\x.png": "x.png",
    "AT&amp;T.png": "AT&amp;T.png",  # no entity of HTML is decoded
    "&period;&period;&sol;a&bsol;b&NewLine;.png": "&period;&period;&sol;a&bsol;b&NewLine;.png",
    "folder/&lt;img src=x&gt;.png": "&lt;img src=x&gt;.png",
    "a\u202egnp.exe": "agnp.exe",
    "a\x00b\x07c.png": "abc.png",
    " 日本語 b .png": " 日本語 b .png",
    f"{'x' * 300}.png": f"{'x' * 251}.png",
}


def test_the_original_name_is_kept_clean_and_short() -> None:
    uploading.uploader()
    answers = {name: upload(png(), form="earlier header", filename=name) for name in NAMES}
    assert {name: answer.body["data"]["fileOriginal"] for name, answer in answers.items()} == NAMES


def test_another_method_is_405() -> None:
    for method in ("GET", "PUT"):
        response = Client(enforce_csrf_checks=True).generic(method, PATH, headers={"X-API-Key": SECRET})
        assert (response.status_code, response.headers["Allow"]) == (405, "POST")
        assert response.json() == {"error": "errors.methodNotAllowed"}


@pytest.mark.embedded
@pytest.mark.parametrize("form", [FORMS[0], FORMS[3]])
def test_the_statements_of_an_upload(form: str) -> None:
    owner = uploading.uploader()
    FolderRuleFactory(folder=FolderFactory(owner=owner), owner=owner)
    assert upload(png(), form=form).status == 200  # the first of an owner inserts the row of the usage
    sent = statements.of(lambda: upload(png(), form=form))
    assert [statement.name for statement in sent] == [
        *KEY,
        "SELECT accounts_user",  # the owner's plan
        "SELECT imagehost_previewturn",  # what is to be paid off
        "UPDATE imagehost_previewturn",  # what the examination took
        "SELECT imagehost_folderrule",  # with its folder
        "SAVEPOINT",  # a transaction of its own, where no test is around it
        "SELECT accounts_user",  # locked: folders, rules and files of a user change one after the other
        "UPDATE imagehost_usage",  # the bytes are booked
        "INSERT imagehost_file",
        "RELEASE",
        "UPDATE imagehost_file",  # READY
    ]
    assert connection.vendor != "postgresql" or sent[-5].sql.endswith("FOR NO KEY UPDATE")
    refused = statements.names(lambda: upload(png(), form=form, secret="nobody's"))
    assert refused == ["SELECT accounts_apikey"]


GARBAGE = b"no picture at all"
TOO_LARGE = {"error": "File too large. Maximum size is 1000 bytes.", "code": "FILE_TOO_LARGE"}
BAD_TYPE = {
    "error": "File type not allowed. Allowed are png, jpeg, webp, gif, avif, mp4, webm and mov.",
    "code": "INVALID_MIME",
}
FAILED = {"error": "The file could not be stored. Please try again.", "code": "UPLOAD_FAILED"}
EITHER_FORM = pytest.mark.parametrize("form", [FORMS[0], FORMS[3]])  # other tests send the others to the parser
OVER_QUOTA = {"error": "The upload would exceed your total storage.", "code": "QUOTA_EXCEEDED"}


class _FillingUp(io.BytesIO):
    """A body during which the disk fills up: no file of this process may grow beyond 100,000 bytes any more."""

    def read(self, size: int | None = -1) -> bytes:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        return super().read(size)


class _Unread:
    """A body that may not be touched."""

    def read(self, size: int = -1, /) -> bytes:
        raise AssertionError("The body was read.")

    readline = read


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
    assert [upload(png()).outcome for _ in range(2)] == [(200, ""), (400, "QUOTA_EXCEEDED")]
    assert quotas.used(owner.pk) == 1024**3


@EITHER_FORM
def test_the_checks_come_in_the_order_of_the_document(
    form: str, monkeypatch: pytest.MonkeyPatch, bucket_directory: Path
) -> None:
    """Key, presence of a file, size, type, quota, storage; after each refusal nothing is stored or booked."""
    owner = uploading.uploader()
    bucket_directory.write_text("a file stands where the folder should be")
    uploading.allow(monkeypatch, file=1000, storage=len(png()) - 1)
    assert uploading.post(END, uploading.headers_of(form, "nobody's")).outcome == (401, "UNAUTHORIZED")
    for content in (b"", GARBAGE, b"\0" * 1001, png()):
        assert upload(content, form=form, secret="nobody's").outcome == (401, "UNAUTHORIZED")
    assert uploading.post(part("key", SECRET) + END, uploading.headers_of(form)).whole == (
        400,
        {"error": NO_FILE, "code": "NO_FILE"},
    )
    assert upload(GARBAGE * 100, form=form).whole == (413, TOO_LARGE)
    assert upload(b"", form=form).whole == (400, BAD_TYPE)
    assert upload(GARBAGE, form=form).whole == (400, BAD_TYPE)
    assert upload(png(), form=form).whole == (400, OVER_QUOTA)
    uploading.allow(monkeypatch, file=1000, storage=len(png()))
    assert upload(png(), form=form).whole == (500, FAILED)
    assert (File.objects.booked().count(), quotas.used(owner.pk)) == (0, 0)
    bucket_directory.unlink()
    assert upload(png(), form=form).status == 200
    assert (File.objects.booked().count(), quotas.used(owner.pk)) == (1, len(png()))


def _logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the image host logged: one line each, without a traceback."""
    records = [record for record in caplog.records if record.name.startswith("imagehost")]
    assert not [record for record in records if record.exc_info or "\n" in record.getMessage()]
    return [record.getMessage() for record in records]


def test_a_disk_that_takes_no_upload_is_reported_after_the_key(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    uploading.uploader()
    settings.IMAGEHOST_INCOMING = tmp_path / "occupied"
    settings.IMAGEHOST_INCOMING.write_text("")
    for form in FORMS[2:]:
        answer = upload(png(), form=form)
        assert (answer.outcome, answer.headers["Retry-After"]) == ((500, "UPLOAD_FAILED"), "10")
        assert upload(png(), form=form, secret="nobody's").outcome == (401, "UNAUTHORIZED")
    assert len(_logged(caplog)) == 3  # a bad key in a header is refused before


def test_a_store_that_fails_is_one_line_in_the_log(bucket_directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    uploading.uploader()
    bucket_directory.write_text("a file stands where the folder should be")
    answer = upload(png())
    assert (answer.whole, answer.headers["Retry-After"]) == ((500, FAILED), "10")
    (logged,) = _logged(caplog)
    assert "could not be stored: " in logged


@EITHER_FORM
def test_a_disk_that_fills_up_in_the_middle_is_upload_failed(form: str, bucket_directory: Path) -> None:
    uploading.uploader()
    body, headers = uploading.form_of(b"\0" * 1_000_000, form=form), uploading.headers_of(form)
    try:
        answer = uploading.post(_FillingUp(body), headers, length=len(body))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert answer.outcome == (500, "UPLOAD_FAILED")
    assert uploading.nothing_is_left(bucket_directory)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"revoked_at": timezone.now()}, "API Key not found"),
    ({"permissions": ["lookup:user", "account"]}, "API Key not found"),
    ({"expires_at": timezone.now() - timedelta(1)}, "API Key has expired"),
    ({"remaining_uses": 0}, "API Key has reached its usage limit"),
    ({"is_enabled": False}, "API Key is disabled"),
]


@pytest.mark.parametrize(("columns", "error"), REFUSED)
def test_a_refused_key_is_401_unauthorized_in_its_own_words(
    columns: dict[str, Any], error: str, bucket_directory: Path
) -> None:
    ApiKeyFactory(secret=SECRET, **{"permissions": [Permission.IMAGEHOST_UPLOAD.value], **columns})
    for form in (FORMS[0], FORMS[3]):
        assert upload(png(), form=form).whole == (401, {"error": error, "code": "UNAUTHORIZED"})
    assert uploading.nothing_is_left(bucket_directory)


def test_a_key_of_a_banned_user_and_one_that_can_be_none_are_401() -> None:
    uploading.uploader(is_active=False)
    assert upload(png()).outcome == (401, "UNAUTHORIZED")
    invalid = (401, {"error": "Invalid API key.", "code": "UNAUTHORIZED"})
    for form in FORMS[1:3]:
        assert upload(png(), form=form, secret="key\x00").whole == invalid


def test_without_any_key_there_is_no_word_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the query or as a bearer token it is none."""
    uploading.uploader()
    uploading.allow(monkeypatch, file=1000)
    headers = {"Authorization": f"Bearer {SECRET}"}
    for body in (b"", b"nonsense", END, part("file", b"\0" * 5000, filename="x.png") + END, part("file", "x")):
        answer = uploading.post(body, headers, query=f"key={SECRET}&apiKey={SECRET}")
        assert answer.whole == (401, {"error": "Missing x-api-key header.", "code": "UNAUTHORIZED"})
    assert uploading.post(b"{}", {}, content_type="application/json").outcome == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("form", FORMS[:2])
def test_a_key_in_a_header_is_refused_before_a_byte_of_the_body_is_read(form: str) -> None:
    answer = uploading.post(_Unread(), uploading.headers_of(form, "nobody's"), length=5000)
    assert answer.outcome == (401, "UNAUTHORIZED")


@pytest.mark.embedded
@pytest.mark.parametrize(("form", "plan", "amount"), [(FORMS[0], "FREE", 30), (FORMS[3], "IMAGEHOST", 60)])
def test_a_key_that_asks_too_often_is_429(form: str, plan: str, amount: int) -> None:
    uploading.uploader(plan=plan)
    body, headers = part("key", SECRET) + END, uploading.headers_of(form)
    for number in range(amount):
        assert uploading.post(body, headers, address=f"203.0.113.{number}").outcome == (400, "NO_FILE")
    answer = uploading.post(body, headers, address="203.0.113.200")
    assert answer.whole == (429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"})
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


@pytest.mark.parametrize(("form", "secret"), [(FORMS[0], SECRET), (FORMS[3], SECRET), (FORMS[3], "nobody's")])
def test_an_address_that_asks_too_often_is_429_and_nothing_of_its_bodies_is_read(form: str, secret: str) -> None:
    """60 pass: each request is counted once, in every form."""
    uploading.uploader(plan="PREMIUM")
    body, headers = part("key", secret) + part("other", "x") + END, uploading.headers_of(form, secret)
    for _ in range(60):
        assert uploading.post(body, headers).status == (400 if secret == SECRET else 401)
    answer = uploading.post(_Unread(), headers, length=5000)
    assert answer.whole == (429, {"error": "errors.rateLimitExceeded", "code": "RATE_LIMITED"})
    assert answer.headers["X-RateLimit-Limit"] == "60"
    assert {"Retry-After", "X-RateLimit-Remaining", "X-RateLimit-Reset"} <= set(answer.headers)


@EITHER_FORM
def test_an_owner_whose_files_took_a_minute_of_the_processor_waits(form: str, clock: time_machine.Traveller) -> None:
    owner = uploading.uploader()
    now = timezone.now()
    PreviewTurn.objects.create(owner=owner, busy_until=now, spent_until=now + timedelta(minutes=6, seconds=8.5))
    answer = upload(png(), form=form)
    error = "Your latest files took too long to examine. Try again in 9 s."
    assert answer.whole == (429, {"error": error, "code": "RATE_LIMITED"})
    assert answer.headers["Retry-After"] == "9"
    uploading.uploader("another")
    assert upload(png(), form=form, secret="another").status == 200
    clock.shift(timedelta(seconds=9))
    assert upload(png(), form=form).status == 200


@EITHER_FORM
def test_what_the_examination_takes_is_noted_of_refused_files_too(form: str, clock: time_machine.Traveller) -> None:
    owner = uploading.uploader()
    spent = []
    for content in (GARBAGE, png(), GARBAGE):
        upload(content, form=form)
        turn = PreviewTurn.objects.get()
        spent.append(turn.spent_until)
        assert (turn.owner_id, turn.busy_until) == (owner.pk, timezone.now())
    assert timezone.now() < spent[0] < spent[1] < spent[2] < timezone.now() + timedelta(minutes=1)


@EITHER_FORM
def test_a_use_of_a_key_is_taken_once(form: str) -> None:
    uploading.uploader()
    ApiKey.objects.update(remaining_uses=2)
    assert upload(png(), form=form).status == 200
    assert upload(GARBAGE, form=form).outcome == (400, "INVALID_MIME")
    assert ApiKey.objects.get().remaining_uses == 0
    assert upload(png(), form=form).outcome == (401, "UNAUTHORIZED")
