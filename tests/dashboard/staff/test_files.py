"""Files on the desk: found by their name, address or owner, looked at, taken out of delivery and put back."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone

from imagehost.models import Album, File
from lookup.models import Decision, Report
from tests.dashboard.staff.pages import DESK, FILES, cost_of
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.factories.lookup import ReportFactory
from tests.imagehost.conftest import bucket_directory
from tests.imagehost.public_pages import CONTENT, PREVIEW, stored
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
        assert found(staff, term) == ["Cat photo.png"], term
    for term in ["photo", file.name[:7], "%", "_", "\\", "'", "x" * 255, "//", "?", "\u0301"]:
        assert found(staff, term) == [], term
    assert problems_of(staff.response) == []
    assert len(found(staff, "")) == 2
    assert file.file_name in staff.text
    assert found(staff, "", state="QUARANTINED") == ["Dog.png"]


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


def picture(file: File) -> str:
    return f"{FILES}{file.pk}/picture/"


def test_a_list_shows_small_pictures_and_of_quarantine_none(staff: Browser) -> None:
    ada = UserFactory(username="Ada")
    small, kept = stored(owner=ada), stored(owner=ada, preview=PREVIEW, duration_ms=65_000)
    FileFactory(owner=ada, size=50_000_000)
    hidden = stored(owner=ada, original_name="Bad.png", quarantined_at=timezone.now())
    for page in (FILES, DESK):
        staff.open(page)
        shown = set(staff.page.xpath("//span[@class='find__picture']/img/@src"))
        assert shown <= {picture(small), f"{FILES}{kept.pk}/preview/"}
        assert "Bad.png" in staff.text
    answer = staff.client.get(f"{FILES}{kept.pk}/preview/")
    assert (answer.status_code, answer.content, answer.headers["Content-Type"]) == (200, PREVIEW, "image/webp")
    assert answer.headers["Cache-Control"] == "max-age=0, no-cache, no-store, must-revalidate, private"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert staff.client.get(f"{FILES}{small.pk}/preview/").status_code == 404
    assert set(staff.open(FILES).page.xpath("//span[@class='find__picture']/img/@src")) == {
        picture(small),
        f"{FILES}{kept.pk}/preview/",
    }
    (opened,) = staff.open(f"{FILES}{hidden.pk}/").page.xpath("//img[@class='case__picture']")
    assert [parent.get("open") for parent in opened.iterancestors("details")] == [None]


def test_each_row_of_the_list_has_the_acts_that_fit(staff: Browser, sign_in: SignIn) -> None:
    served, hidden = FileFactory(), FileFactory(quarantined_at=timezone.now())
    rows = staff.open(FILES).response.content.decode()
    for file, act, other in ((served, "quarantine", "restore"), (hidden, "restore", "quarantine")):
        assert f"{FILES}{file.pk}/{act}/" in rows
        assert f"{FILES}{file.pk}/{other}/" not in rows
    assert "/quarantine/" not in sign_in("imagehost.view_file").open(FILES).response.content.decode()


def test_staff_with_the_right_to_reports_read_only_files_that_one_names(sign_in: SignIn) -> None:
    ada = UserFactory()
    folder = FolderFactory(owner=ada, is_public=True)
    file, in_folder, in_album, other = stored(owner=ada), stored(owner=ada, folder=folder), stored(owner=ada), stored()
    album = Album.objects.create(owner=ada, title="Lamps", file_ids=[in_album.pk.hex])
    reader, judge = sign_in("lookup.view_report"), sign_in("lookup.view_decision")

    def read(browser: Browser) -> list[bool]:
        answers = [browser.client.get(picture(each)) for each in (file, in_folder, in_album, other)]
        return [answer.status_code == 200 and answer.getvalue() == CONTENT for answer in answers]

    assert read(reader) == read(judge) == [False, False, False, False]
    assert read(sign_in("imagehost.view_file")) == [True, True, True, True]
    for kind, thing in (("FILE", str(file.pk)), ("FOLDER", folder.pk), ("ALBUM", album.pk)):
        ReportFactory(comment=None, user=ada, kind=kind, thing=thing, title="A", path="/files/A")
        ReportFactory(comment=None, user=UserFactory(), kind=kind, thing=str(other.pk), title="A", path="/files/A")
    assert read(reader) == [True, True, True, False]
    Report.objects.update(decided_at=timezone.now(), outcome="DISMISSED")
    assert read(reader) == [True, True, True, False]
    assert read(judge) == [False, False, False, False]
    Decision.objects.create(user=ada, kind="FOLDER", thing=folder.pk, title="A", reason="SPAM")
    assert read(judge) == [False, True, False, False]
    Report.objects.update(user=reader.user())
    assert read(reader) == [False, False, False, False]


def test_a_folder_is_taken_down_and_restored_from_the_page_of_its_file(sign_in: SignIn) -> None:
    folder = FolderFactory(name="Lamps", is_public=True)
    page = f"{FILES}{FileFactory(owner=folder.owner, folder=folder).pk}/"
    reader, keeper = sign_in("imagehost.view_file"), sign_in("imagehost.quarantine_file")
    assert f"{page}folder/take-down/" not in reader.open(page).response.content.decode()
    assert reader.client.get(f"{page}folder/take-down/").status_code == 403
    assert f"{page}folder/take-down/" in keeper.open(page).response.content.decode()
    keeper.open(f"{page}folder/take-down/").submit(reason="It sells lamps.")
    assert problems_of(keeper.response) == []
    assert keeper.response.redirect_chain == [(page, 302)]
    assert "The folder Lamps is taken down." in keeper.text
    assert Client().get(f"/folders/{folder.pk}").status_code == 451
    assert Decision.objects.get().words == "It sells lamps."
    keeper.open(f"{page}folder/restore/").submit(reason="A mistake.")
    assert Client().get(f"/folders/{folder.pk}").status_code == 200
    without = FileFactory()
    assert keeper.client.get(f"{FILES}{without.pk}/folder/take-down/").status_code == 404
