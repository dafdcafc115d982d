"""Uploads by the session: the same steps as the API's, with a token of the form, and without a key."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from django.utils import timezone

from accounts import rate_limits
from accounts.models import User
from accounts.plans import MEGABYTE
from imagehost.models import File, PreviewTurn
from imagehost.receiving import incoming
from imagehost.storing import quotas, storage
from tests.dashboard.imagehost.reading import HOME, messages_of
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FolderFactory, FolderRuleFactory
from tests.imagehost import uploading
from tests.pages.markup import page_of

pytestmark = pytest.mark.django_db

FORM, ONE = f"{HOME}upload/", f"{HOME}upload/one/"
INVALID_MIME = "File type not allowed. Allowed are png, jpeg, webp, gif, avif, mp4, webm and mov."


def file(name: str = "shot.png", content: bytes | None = None) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, uploading.png() if content is None else content, "image/png")


def send(browser: Client, path: str, *files: SimpleUploadedFile) -> Any:
    """Any: the test client's answer. Nothing is left where uploads come in."""
    answer = browser.post(path, {"files": list(files)})
    assert list(Path(settings.IMAGEHOST_INCOMING).glob("*")) == []
    return answer


def sent_raw(browser: Client, path: str, body: io.BytesIO, length: int) -> Any:
    """Any: the test client's answer. `length`: what the header says of the body's."""
    environ: dict[str, Any] = {"wsgi.input": body, "CONTENT_TYPE": uploading.MULTIPART, "CONTENT_LENGTH": str(length)}
    answer = browser.generic("POST", path, **environ)
    assert list(Path(settings.IMAGEHOST_INCOMING).glob("*")) == []
    return answer


def stored() -> Sequence[File]:
    return list(File.objects.ready().order_by("uploaded_at", "original_name"))


def test_a_plain_form_uploads_several_files_and_says_what_became_of_each(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Gifs")
    FolderRuleFactory(folder=folder, kind="extension", pattern="gif")
    text = file("notes.png", b"no picture")
    answer = send(browser, FORM, file("a.png"), text, file("b.gif", uploading.encoded("GIF")))
    assert (answer.status_code, answer["Location"]) == (302, HOME)
    assert messages_of(answer) == [f"notes.png: {INVALID_MIME}", "2 files uploaded: a.png, b.gif"]
    first, second = stored()
    assert (first.owner, first.original_name, first.folder, first.mime) == (user, "a.png", None, "image/png")
    assert (second.original_name, second.folder) == ("b.gif", folder)
    assert quotas.used(user.pk) == first.size + second.size
    with storage.bucket().fetched(first.key) as path:
        assert path.stat().st_size == first.size


def test_the_page_itself_sends_the_form_without_a_script(user: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    [form] = page_of(browser.get(HOME)).xpath("//form[@enctype='multipart/form-data']")
    [field] = form.xpath(".//input[@type='file']")
    assert field.get("multiple") is not None
    values: dict[str, Any] = {**dict(form.form_values()), field.get("name"): [file("a.png"), file("b.png")]}
    answer = browser.post(form.get("action"), values, follow=True)
    assert "2 files uploaded: a.png, b.png" in answer.content.decode()
    assert [one.original_name for one in stored()] == ["a.png", "b.png"]


def test_the_script_gets_links_or_the_error_of_the_api(browser: Client, user: User) -> None:
    FolderRuleFactory(folder=FolderFactory(owner=user, name="Shots"))
    answer = send(browser, ONE, file())
    [made] = stored()
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "name": made.file_name,
            "url": f"http://127.0.0.1:8000/media/{made.file_name}",
            "page": f"http://127.0.0.1:8000/files/{made.name}",
            "folder": "Shots",
        },
    )
    assert "no-store" in answer.headers["Cache-Control"]
    refused = send(browser, ONE, file(content=b"<svg/>"))
    assert (refused.status_code, refused.json()) == (400, {"error": INVALID_MIME, "code": "INVALID_MIME"})
    for files in ((), (file(), file())):  # exactly one is sent
        refused = send(browser, ONE, *files)
        assert (refused.status_code, refused.json()["code"]) == (400, "NO_FILE")
    assert stored() == [made]


def test_a_file_over_the_plan_is_refused_and_takes_no_other_along(
    browser: Client, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = uploading.png(), uploading.png() + bytes(1000)
    uploading.allow(monkeypatch, file=len(small))
    answer = send(browser, FORM, file("large.png", large), file("small.png", small))
    refusal = f"large.png: File too large. Maximum size is {len(small)} bytes."
    assert messages_of(answer) == [refusal, "1 file uploaded: small.png"]
    refused = send(browser, ONE, file("large.png", large))
    assert (refused.status_code, refused.json()["code"]) == (413, "FILE_TOO_LARGE")


def test_what_does_not_fit_the_quota_is_refused(browser: Client, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(uploading.png())
    uploading.allow(monkeypatch, file=size, storage=size * 3 // 2)
    answer = send(browser, FORM, file("a.png"), file("b.png"))
    assert messages_of(answer) == ["b.png: The upload would exceed your total storage.", "1 file uploaded: a.png"]
    refused = send(browser, ONE, file())
    assert (refused.status_code, refused.json()["code"]) == (400, "QUOTA_EXCEEDED")
    assert quotas.used(user.pk) == size


def test_the_files_of_each_user_are_counted(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits.PAGE_UPLOADS, "amount", 2)
    assert [send(browser, ONE, file()).status_code for _ in range(3)] == [200, 200, 429]
    refused = send(browser, ONE, file())
    assert (refused.json()["code"], int(refused.headers["Retry-After"]) > 0) == ("RATE_LIMITED", True)
    assert len(stored()) == 2
    with override_settings(RATE_LIMITS_ENABLED=False):
        assert send(browser, ONE, file()).status_code == 200
    browser.force_login(UserFactory())
    assert send(browser, ONE, file()).status_code == 200


def test_a_user_whose_files_took_a_minute_of_the_processor_waits(browser: Client, user: User) -> None:
    now = timezone.now()
    PreviewTurn.objects.create(owner=user, busy_until=now, spent_until=now + timedelta(minutes=7))
    [said] = messages_of(send(browser, FORM, file()))
    assert said.startswith("shot.png: Your latest files took too long to examine. Try again in ")
    refused = send(browser, ONE, file())
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    assert 50 < int(refused.headers["Retry-After"]) <= 60
    with override_settings(RATE_LIMITS_ENABLED=False):
        assert send(browser, ONE, file()).status_code == 200


def test_a_name_is_kept_without_directories_and_cut(browser: Client) -> None:
    content = uploading.part("files", uploading.png(), filename=f"../../AT&amp;T{'x' * 300}.png") + uploading.END
    assert sent_raw(browser, ONE, io.BytesIO(content), len(content)).status_code == 200
    [made] = stored()
    assert made.original_name == "AT&amp;T" + "x" * 243 + ".png"


def test_a_form_that_is_too_large_is_not_read(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "LARGEST_BODY", 100)
    assert messages_of(send(browser, FORM, file())) == [incoming.TOO_MUCH]
    answer = send(browser, ONE, file())
    assert (answer.status_code, answer.json()["error"]) == (400, incoming.TOO_MUCH)
    assert stored() == []


def test_of_a_form_with_too_many_files_the_first_ones_are_taken(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert incoming.MAX_FILES == settings.DATA_UPLOAD_MAX_NUMBER_FILES
    monkeypatch.setattr(incoming, "MAX_FILES", 2)
    answer = send(browser, FORM, *[file(f"{number}.png") for number in range(3)])
    assert messages_of(answer) == ["2 files uploaded: 0.png, 1.png", incoming.TOO_MUCH]
    assert len(stored()) == 2


def test_a_form_without_files_says_so(browser: Client) -> None:
    assert browser.get(ONE).status_code == 405
    assert messages_of(browser.post(FORM, {})) == ["Choose at least one file first."]
    other = browser.post(FORM, {"other": file()})
    assert messages_of(other)[-1] == "Choose at least one file first."
    assert stored() == []


@pytest.mark.parametrize("path", [FORM, ONE])
def test_a_body_that_ends_early_stores_nothing(browser: Client, path: str) -> None:
    body = uploading.form_of(uploading.png()).replace(b'name="file"', b'name="files"')
    assert sent_raw(browser, path, io.BytesIO(body), len(body) + 1).status_code == 400
    assert stored() == []
    assert sent_raw(browser, path, io.BytesIO(body), len(body)).status_code in {200, 302}
    assert len(stored()) == 1


@pytest.mark.parametrize("path", [FORM, ONE])
def test_without_the_token_nothing_is_stored(user: User, path: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    assert send(browser, path, file()).status_code == 403
    assert stored() == []


def test_a_file_is_in_no_memory_while_it_comes(browser: Client, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is on the disk grows while the body is read."""
    uploading.allow(monkeypatch, file=10 * MEGABYTE)
    sizes: list[int] = []

    class Body(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            sizes.extend(path.stat().st_size for path in Path(settings.IMAGEHOST_INCOMING).glob("*"))
            return super().read(size)

    content = uploading.part("files", bytes(MEGABYTE), filename="zeros.png") + uploading.END
    assert sent_raw(browser, ONE, Body(content), len(content)).json()["code"] == "INVALID_MIME"
    assert any(0 < size < MEGABYTE for size in sizes)
