"""What an upload answers and keeps, in both forms."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from pytest_django import Settings

from imagehost.models import File, State
from imagehost.receiving.incoming import kept_name
from imagehost.storing import files, quotas
from tests.accounts.calls import ALWAYS
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost import media_corpus, uploading
from tests.imagehost.media_corpus.sample import PLACE
from tests.imagehost.uploading import END, FORMS, PATH, SECRET, part, png, upload
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


@pytest.mark.parametrize("form", FORMS[1:])
def test_the_earlier_form_is_answered_to_a_header_or_a_field_called_key(form: str) -> None:
    uploading.uploader()
    answer = upload(png(40, 30), form=form, filename="Screenshot 1.png")
    file = File.objects.get()
    assert answer.status == 200
    assert list(answer.body) == ["status", "url", "rawUrl", "data"]
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
    headers = dict(answer.headers)
    assert len(headers.pop("X-Request-Id")) == 16
    start, _, token = headers.pop("X-Deletion-Url").rpartition("/")
    assert headers == {**ALWAYS, "Content-Length": str(len(answer.text.encode()))}
    assert start == f"{BASE}/files/{file.name}/delete"
    assert len(token) >= 40
    assert files.is_deletion_token(file, token)
    assert token not in str(File.objects.values())


@pytest.mark.parametrize(
    ("headers", "field", "answered"),
    [
        ({"X-API-Key": SECRET, "key": "nobody's"}, "nobody's", "ok"),
        ({"key": SECRET}, "nobody's", "status"),
        ({"X-API-Key": "", "key": ""}, SECRET, "status"),  # an empty header is none
        ({"X-API-Key": "nobody's", "key": SECRET}, SECRET, "error"),
        ({"key": "nobody's"}, SECRET, "error"),
    ],
)
def test_the_header_x_api_key_comes_before_the_header_key_and_that_before_the_field(
    headers: dict[str, str], field: str, answered: str
) -> None:
    uploading.uploader()
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
    "&lt;img src=x&gt;.png": "<img src=x>.png",
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
