"""Files on the desk: found by their name, address or owner, looked at, taken out of delivery and put back."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from django.utils import timezone

from imagehost.models import File
from tests.dashboard.staff.pages import FILES, cost_of
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory
from tests.imagehost.conftest import bucket_directory
from tests.imagehost.public_pages import CONTENT, stored
from tests.pages.markup import problems_of
from tests.support.browser import Browser

__all__ = ["bucket_directory"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bucket_directory")]
SignIn = Callable[..., Browser]


def found(browser: Browser, term: str, **filters: str) -> list[str]:
    query = "&".join(f"{name}={value}" for name, value in filters.items())
    browser.open(f"{FILES}?q={quote(term)}&{query}")
    assert browser.response.status_code == 200
    return [link.text for link in browser.page.xpath("//span[@class='row__title']/a")]


@pytest.mark.embedded
def test_a_file_is_found_by_its_name_its_address_its_first_name_and_its_owner(staff: Browser) -> None:
    ada = UserFactory(username="Ada")
    file = FileFactory(owner=ada, original_name="Cat photo.png")
    FileFactory(original_name="Dog.png", quarantined_at="2026-03-01T12:00:00Z")
    terms = [file.name, file.file_name, file.url, f"{file.url}?download=1", file.page_url, f"{file.page_url}/"]
    for term in [*terms, "cat ph", "CAT", "@ada", ada.pk]:
        assert found(staff, term) == [file.file_name], term
    for term in ["photo", file.name[:7], "%", "_", "\\", "'", "x" * 255, "//", "?", "\u0301"]:
        assert found(staff, term) == [], term
    assert problems_of(staff.response) == []
    assert len(found(staff, "")) == 2
    assert file.file_name not in found(staff, "", state="QUARANTINED")


def test_a_file_is_looked_at_and_quarantined_by_those_who_may(sign_in: SignIn) -> None:
    file = FileFactory(original_name="<b>.png")
    path = f"{FILES}{file.pk}/"
    reader, keeper = sign_in("imagehost.view_file"), sign_in("imagehost.quarantine_file")
    assert f"{path}quarantine/" not in reader.open(path).response.content.decode()
    assert problems_of(reader.response) == []
    assert reader.client.get(f"{path}quarantine/").status_code == 403
    assert sign_in("accounts.ban_user").client.get(path).status_code == 403
    keeper.open(f"{path}quarantine/").submit(reason="Private")
    assert keeper.response.redirect_chain == [(path, 302)]
    assert File.objects.get().quarantined_at is not None
    assert f"{path}quarantine/" not in keeper.response.content.decode()
    assert reader.client.get(f"{FILES}{'0' * 8}-0000-0000-0000-{'0' * 12}/").status_code == 404


def test_the_bytes_of_a_file_are_for_staff_in_quarantine_too_and_kept_by_no_cache(sign_in: SignIn) -> None:
    file = stored(quarantined_at=timezone.now())
    answer = sign_in("imagehost.view_file").client.get(f"{FILES}{file.pk}/picture/")
    assert (answer.status_code, answer.getvalue()) == (200, CONTENT)
    assert answer.headers["Content-Type"] == file.mime
    assert answer.headers["Cache-Control"].startswith("private, no-store")
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.embedded
def test_the_list_costs_the_same_for_one_file_and_for_ten(staff: Browser) -> None:
    FileFactory()
    before = (cost_of(staff, FILES), cost_of(staff, FILES))[1]
    FileFactory.create_batch(9)
    assert cost_of(staff, FILES) == before
