"""What an upload answers and keeps, in both forms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings as django_settings
from django.test import Client
from pytest_django import Settings

from imagehost import files, quotas
from imagehost.incoming import kept_name
from imagehost.models import File, State
from tests.accounts.calls import ALWAYS
from tests.factories.imagehost import FolderFactory, FolderRuleFactory
from tests.imagehost import uploading
from tests.imagehost.uploading import BOUNDARY, END, FORMS, PATH, SECRET, part, png, upload
from tests.lookup import statements

pytestmark = pytest.mark.django_db
BASE, CDN = "https://example.org", "https://i.example.net/u"
EVERY_FORM = pytest.mark.parametrize("form", FORMS)
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


@EVERY_FORM
def test_the_headers_of_an_answer_are_those_of_every_answer_and_the_deletion_link(form: str) -> None:
    uploading.uploader()
    answer = upload(png(), form=form)
    headers = dict(answer.headers)
    link = headers.pop("X-Deletion-Url")
    assert headers == {**ALWAYS, "Content-Length": str(len(answer.text.encode()))}
    file = File.objects.get()
    start, _, token = link.rpartition("/")
    assert start == f"{BASE}/files/{file.name}/delete"
    assert len(token) >= 40
    assert files.is_deletion_token(file, token)
    assert token not in str(File.objects.values())


@EVERY_FORM
def test_what_is_kept_is_a_row_an_object_and_the_bytes_in_the_usage(form: str, bucket_directory: Path) -> None:
    owner = uploading.uploader()
    assert upload(png(), form=form).status == 200
    file = File.objects.get()
    assert (file.owner, file.folder, file.state) == (owner, None, State.READY)
    assert (file.mime, file.extension, file.size) == ("image/png", "png", len(png()))
    assert (file.width, file.height, file.original_name) == (40, 30, "picture.png")
    assert (bucket_directory / file.key).read_bytes() == png()
    assert quotas.used(owner.pk) == len(png())


def test_the_direct_url_of_an_answer_leads_to_the_bytes_that_came() -> None:
    uploading.uploader()
    url = upload(png()).body["url"]
    response = uploading.get(f"/media/{urlsplit(url).path.rpartition('/')[2]}")
    assert (response.status, response.content) == (200, png())


def test_a_header_x_api_key_decides_for_the_current_form_whatever_else_there_is() -> None:
    uploading.uploader()
    body = uploading.form_of(png(), form="earlier field", secret="nobody's")
    answer = uploading.post(body, {"X-API-Key": SECRET, "key": "nobody's, either"})
    assert (answer.status, answer.body["ok"]) == (200, True)
    refused = uploading.post(uploading.form_of(png(), form="earlier field"), {"X-API-Key": "nobody's", "key": SECRET})
    assert refused.whole == (401, {"error": "Invalid API key.", "code": "UNAUTHORIZED"})


def test_a_header_key_goes_before_the_field() -> None:
    uploading.uploader()
    answer = uploading.post(uploading.form_of(png(), form="earlier field", secret="nobody's"), {"key": SECRET})
    assert (answer.status, answer.body["status"]) == (200, "success")
    refused = uploading.post(uploading.form_of(png(), form="earlier field"), {"key": "nobody's"})
    assert refused.whole == (401, {"error": "Invalid API key.", "code": "UNAUTHORIZED"})


def test_an_empty_header_is_none() -> None:
    uploading.uploader()
    answer = uploading.post(uploading.form_of(png(), form="earlier field"), {"X-API-Key": "", "key": ""})
    assert (answer.status, answer.body["status"]) == (200, "success")


def test_two_uploads_of_one_file_are_two_files() -> None:
    owner = uploading.uploader()
    first, second = upload(png()), upload(png())
    assert first.body["url"] != second.body["url"]
    assert quotas.used(owner.pk) == 2 * len(png())


def test_an_upload_goes_to_the_folder_of_the_first_rule_that_matches() -> None:
    owner = uploading.uploader()
    folders = {name: FolderFactory(owner=owner, name=name) for name in ("shots", "pictures", "gifs")}
    rules = [("shots", "filename", "screen*.png"), ("gifs", "extension", "gif"), ("pictures", "mime", "image/p*")]
    for position, (name, matches, pattern) in enumerate(rules):
        FolderRuleFactory(owner=owner, folder=folders[name], position=position, kind=matches, pattern=pattern)
    FolderRuleFactory(position=0, kind="mime", pattern="*")  # somebody else's
    cases = [("Screen 1.PNG", "PNG", "shots"), ("x.png", "PNG", "pictures"), ("x.png", "GIF", "gifs")]
    for filename, kind, folder in [*cases, ("screen.jpg", "JPEG", None)]:
        answer = upload(uploading.encoded(kind), filename=filename)
        file = File.objects.select_related("folder").get(pk=answer.body["id"])
        assert (file.folder.name if file.folder else None) == folder


@pytest.mark.parametrize("claimed", ["picture.jpg", "picture.php", "picture", "picture.html.png", ".htaccess"])
def test_neither_the_name_nor_the_type_that_a_client_claims_decides(claimed: str) -> None:
    uploading.uploader()
    body = part("file", png(), filename=claimed).replace(b"image/png", b"text/html") + END
    answer = uploading.post(body)
    assert (answer.body["fileExtension"], answer.body["mime"]) == ("png", "image/png")


NAMES = {
    "../../etc/passwd.png": "passwd.png",
    r"C:\\Users\\me\\x.png": "x.png",
    "&lt;img src=x&gt;.png": "<img src=x>.png",
    "a\u202egnp.exe": "agnp.exe",
    "a\x00b\x07c.png": "abc.png",
    "日本語.png": "日本語.png",
    " a b .png": " a b .png",
    f"{'x' * 300}.png": f"{'x' * 251}.png",
    "y" * 300: "y" * 255,
}


@pytest.mark.parametrize("claimed", NAMES)
def test_the_original_name_is_kept_clean_and_short(claimed: str) -> None:
    uploading.uploader()
    assert upload(png(), form="earlier header", filename=claimed).body["data"]["fileOriginal"] == NAMES[claimed]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a" * 255, "a" * 255),
        ("a" * 256, "a" * 255),
        (f"{'a' * 252}.png", f"{'a' * 251}.png"),
        (f"a.{'p' * 300}", f".{'p' * 254}"),
        (f"{'日' * 300}.jpeg", f"{'日' * 250}.jpeg"),
    ],
)
def test_a_long_name_keeps_its_extension(name: str, kept: str) -> None:
    assert kept_name(name) == kept


def test_a_name_in_the_form_of_rfc_5987_is_read() -> None:
    uploading.uploader()
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename*=utf-8''%E6%97%A5%22.png\r\n\r\n"
    answer = uploading.post(head.encode() + png() + b"\r\n" + END, {"key": SECRET})
    assert answer.body["data"]["fileOriginal"] == '日".png'


def test_a_body_in_chunks_is_read_like_any_other() -> None:
    uploading.uploader()
    for form in FORMS:
        body = uploading.form_of(png(), form=form)
        answer = uploading.post(body, uploading.headers_of(form), length=None)
        assert answer.status == 200
    assert File.objects.count() == 4


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_another_method_is_405(method: str) -> None:
    uploading.uploader()
    response = Client(enforce_csrf_checks=True).generic(method, PATH, headers={"X-API-Key": SECRET})
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert response.headers["Content-Type"] == "application/json"
    assert method == "HEAD" or response.json() == {"error": "errors.methodNotAllowed"}


def test_a_trailing_slash_is_another_path() -> None:
    response = Client().post(f"{PATH}/")
    assert (response.status_code, response.json()) == (404, {"error": "errors.notFound"})


def _names(form: str) -> list[str]:
    answers: list[Any] = []
    names = statements.names(lambda: answers.append(upload(png(), form=form)))
    assert answers[0].status == 200
    return names


@EVERY_FORM
def test_the_statements_of_an_upload(form: str) -> None:
    owner = uploading.uploader()
    FolderRuleFactory(folder=FolderFactory(owner=owner), owner=owner)
    assert upload(png(), form=form).status == 200  # the first of an owner inserts the row of the usage
    assert _names(form) == [
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


@EVERY_FORM
def test_a_refused_key_costs_no_statement_but_its_own(form: str) -> None:
    uploading.uploader()
    names = statements.names(lambda: upload(png(), form=form, secret="nobody's"))
    assert names == ["SELECT accounts_apikey"]
