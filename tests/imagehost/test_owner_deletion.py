"""GET and POST /files/{name}/delete: the owner's own way, without the deletion link."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from imagehost import quotas
from imagehost.models import File
from tests.factories.accounts import UserFactory
from tests.imagehost.public_pages import stored
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    user: User = UserFactory()
    return user


@pytest.fixture
def browser(owner: User) -> Client:
    """Signed in as the owner, and strict about forms."""
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    return browser


def test_the_owner_finds_the_way_on_the_page_and_deletes_by_its_form(browser: Client, owner: User) -> None:
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


@pytest.mark.parametrize("method", ["get", "post"])
def test_somebody_elses_file_is_as_one_that_there_is_not(client: Client, method: str) -> None:
    file = stored()
    client.force_login(UserFactory())
    answers = [getattr(client, method)(f"/files/{name}/delete") for name in (file.name, "nothing1")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert File.objects.delivered().exists()


@pytest.mark.parametrize("signed_in", [False, True])
def test_nobody_else_is_shown_the_way(client: Client, signed_in: bool) -> None:
    file = stored()
    if signed_in:
        client.force_login(UserFactory())
    assert f"/files/{file.name}/delete" not in client.get(f"/files/{file.name}").content.decode()


def test_a_stranger_is_asked_to_sign_in(client: Client) -> None:
    file = stored()
    response = client.post(f"/files/{file.name}/delete")
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/accounts/login/?next=")
    assert File.objects.delivered().exists()


def test_a_quarantined_file_is_not_the_owners_to_delete(browser: Client, owner: User) -> None:
    file = stored(owner=owner, quarantined_at=timezone.now())
    assert browser.get(f"/files/{file.name}/delete").status_code == 404
