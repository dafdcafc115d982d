"""GET and POST /files/{name}/delete/{token}: GET asks, POST deletes. The owner needs no token."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from imagehost.models import File, State
from imagehost.storing import quotas
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import DELETION_TOKEN, FileFactory, FolderFactory
from tests.imagehost.public_pages import PASSWORD, PREVIEW, stored
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

SECRECY = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow"}


def link(file: File, token: str = DELETION_TOKEN) -> str:
    return f"/files/{file.name}/delete/{token}"


def test_the_link_shows_what_would_be_deleted(client: Client) -> None:
    file = stored(original_name="my holiday.png", size=1_300_000, preview=PREVIEW)
    response = client.get(link(file))
    page = page_of(response)
    assert response.status_code == 200
    assert problems_of(response) == []
    assert page.findtext(".//h1") == "Delete this file?"
    assert page.xpath("//main//strong/text()") == ["my holiday.png"]
    assert page.xpath("//main//img/@src") == [f"/files/{file.name}/preview.webp"]
    facts = " ".join(page.xpath("//p[@class='meta']")[0].text_content().split())
    assert facts.startswith(f"{file.name}.png · 1.2 MB · uploaded on ")
    assert client.head(link(file)).status_code == 200
    assert File.objects.get().state == State.READY
    (form,) = page.forms
    assert (form.get("method"), form.get("action")) == ("post", None)


def test_the_form_deletes_file_object_preview_and_booking(
    client: Client, bucket_directory: Path, django_capture_on_commit_callbacks: object
) -> None:
    file = stored(preview=PREVIEW)
    owner_id = str(file.owner_id)
    assert quotas.used(owner_id) == file.size
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # pytest-django's fixture
        response = client.post(link(file))
    assert response.status_code == 200
    assert problems_of(response) == []
    assert page_of(response).findtext(".//h1") == "The file is deleted"
    assert not File.objects.exists()
    assert quotas.used(owner_id) == 0
    assert [path for path in bucket_directory.rglob("*") if path.is_file()] == []
    assert client.get(f"/files/{file.name}").status_code == 404
    assert client.post(link(file)).status_code == client.get(link(file)).status_code == 404


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_wrong_token_and_an_unknown_file_are_the_same(client: Client, method: str) -> None:
    file, other = stored(), stored(token="the token of another file")
    missing = client.get("/missing")
    paths = [
        link(file, "wrong"),
        link(file, f"{DELETION_TOKEN}x"),
        link(file, file.deletion_hash),
        link(file, "the token of another file"),
        link(file, "\N{SNOWMAN}"),
        link(file, "x" * 3000),
        link(other),
        f"/files/{file.name.lower()}/delete/{DELETION_TOKEN}",
        f"/files/AAAAAAAA/delete/{DELETION_TOKEN}",
    ]
    for path in paths:
        response = getattr(client, method)(path)
        assert (response.status_code, response.content) == (404, missing.content)
        assert {name: response.headers.get(name) for name in SECRECY} == SECRECY
    assert File.objects.filter(state=State.READY).count() == 2


def test_a_file_without_a_token_or_that_the_public_does_not_get_has_no_link(client: Client) -> None:
    for hash_ in ("", "0" * 64):
        file = FileFactory(deletion_hash=hash_)
        assert [client.get(link(file, token)).status_code for token in ("x", "0" * 64)] == [404] * 2
    hidden: list[dict[str, Any]] = [
        {"state": State.PENDING},
        {"state": State.DELETED},
        {"quarantined_at": timezone.now()},
        {"owner": UserFactory(is_active=False, banned_at=timezone.now())},
    ]
    for columns in hidden:
        file = FileFactory(**columns)
        assert client.get(link(file)).status_code == client.post(link(file)).status_code == 404


def test_the_address_is_neither_kept_nor_passed_on_nor_logged(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    file = stored(preview=PREVIEW)
    for response in (client.get(link(file)), client.post(link(file))):
        assert {name: response.headers.get(name) for name in SECRECY} == SECRECY
        assert response.cookies == {}
        assert "Cookie" not in response.headers.get("Vary", "")
        assert DELETION_TOKEN.encode() not in response.content
    client.post(link(file))
    assert DELETION_TOKEN not in caplog.text


def test_the_form_needs_no_cookie_and_no_origin() -> None:
    """Under `no-referrer` browsers send `Origin: null`. What cannot be guessed is in the address."""
    browser = Client(enforce_csrf_checks=True)
    assert browser.post(link(stored()), headers={"Origin": "null"}).status_code == 200


def test_a_file_in_a_locked_folder_may_be_deleted_and_is_not_shown(client: Client) -> None:
    file = stored(folder=FolderFactory(password=PASSWORD, name="Secret plans"), preview=PREVIEW)
    response = client.get(link(file))
    assert response.status_code == 200
    assert page_of(response).xpath("//main//img") == []
    assert b"Secret plans" not in response.content
    assert client.post(link(file)).status_code == 200


@pytest.mark.embedded
def test_asking_takes_one_query_with_a_right_token_and_a_wrong_one(client: Client) -> None:
    file = stored()
    for token in (DELETION_TOKEN, "wrong"):
        path = link(file, token)
        assert statements.names(lambda path=path: client.get(path)) == ["SELECT imagehost_file"]  # type: ignore[misc]


# --- GET and POST /files/{name}/delete ---


def test_the_owner_finds_the_way_on_the_page_and_deletes_by_its_form() -> None:
    owner, browser = UserFactory(), Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    file = stored(owner=owner, original_name="my holiday.png")
    url = f"/files/{file.name}/delete"
    assert url in page_of(browser.get(f"/files/{file.name}")).xpath("//main//a/@href")
    asked = browser.get(url)
    assert asked.status_code == 200
    assert problems_of(asked) == []
    assert File.objects.delivered().exists()
    fields = dict(page_of(asked).forms[-1].form_values())
    assert browser.post(url).status_code == 403
    done = browser.post(url, fields)
    assert page_of(done).findtext(".//h1") == "The file is deleted"
    assert not File.objects.delivered().exists()
    assert quotas.used(owner.pk) == 0
    assert browser.post(url, fields).status_code == 404
    taken = stored(owner=owner, quarantined_at=timezone.now())
    assert browser.get(f"/files/{taken.name}/delete").status_code == 404


def test_the_file_of_another_user_is_as_one_that_there_is_not(client: Client) -> None:
    file = stored()
    asked = client.post(f"/files/{file.name}/delete")
    assert (asked.status_code, asked.headers["Location"].partition("=")[0]) == (302, "/accounts/login/?next")
    client.force_login(UserFactory())
    assert f"/files/{file.name}/delete" not in client.get(f"/files/{file.name}").content.decode()
    for name in (file.name, "nothing1"):
        path = f"/files/{name}/delete"
        assert (client.get(path).status_code, client.post(path).status_code) == (404, 404)
    assert File.objects.delivered().exists()
