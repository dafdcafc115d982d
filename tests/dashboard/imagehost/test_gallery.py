"""The gallery: one's own files, found by name, folder, type and time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from accounts.plans import ALLOWANCES, Plan
from dashboard.imagehost.forms import FilterForm
from dashboard.imagehost.views import Storage
from imagehost import media
from imagehost.folders import listing
from imagehost.models import File, Folder, PreviewState, State, Usage
from tests.dashboard.imagehost.reading import HOME, HOSTILE, text_of, titles_of
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db


def test_the_page_of_a_new_user_says_what_to_do(browser: Client) -> None:
    answer = browser.get(HOME)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert "no-store" in answer.headers["Cache-Control"]
    assert "Nothing here yet Choose your first picture above" in text_of(answer)
    assert "0 bytes of 1.0 GB used" in text_of(answer)
    assert page_of(answer).xpath("//form[@data-upload]/@enctype") == ["multipart/form-data"]
    assert page_of(answer).xpath("//form[@role='search']") == []


def test_files_are_shown_with_their_previews_and_links(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Shots")
    made = FileFactory(folder=folder, name="Picture1", original_name="shot 1.png", preview_state=PreviewState.MADE)
    FileFactory(owner=user, name="FilmFilm", media=media.MP4, original_name="film.mp4", size=2 * 1024 * 1024)
    FileFactory(owner=user, name="TakenOut", original_name="bad.png", quarantined_at=timezone.now())
    answer = browser.get(HOME)
    assert problems_of(answer) == []
    page = page_of(answer)
    assert page.xpath("//ul[@class='shots']//img/@src") == [f"/files/{made.name}/preview.webp"]
    assert sorted(page.xpath("//a[@class='shot__link']/@href")) == [
        "http://127.0.0.1:8000/files/FilmFilm",
        "http://127.0.0.1:8000/files/Picture1",
    ]
    assert set(page.xpath("//button/@data-copy-link")) == {
        f"http://127.0.0.1:8000/{path}"
        for path in ("files/FilmFilm", "media/FilmFilm.mp4", "files/Picture1", "media/Picture1.png")
    }
    assert "Taken down" in text_of(answer)
    assert "in Shots" in text_of(answer)


def test_it_costs_the_same_for_one_file_and_for_ten(browser: Client, user: User) -> None:
    """Usage, folders, the count of files, the files and their days, albums; and what every dashboard page asks."""
    FileFactory(folder=FolderFactory(owner=user))
    asked = statements.names(lambda: browser.get(HOME))
    assert [name for name in asked if "imagehost" in name] == [
        *("SELECT imagehost_usage", "SELECT imagehost_folder", "SELECT imagehost_file", "SELECT imagehost_file"),
        *("SELECT imagehost_fileday", "SELECT imagehost_album"),
    ]
    for _ in range(9):
        FileFactory(folder=FolderFactory(owner=user))
    assert statements.names(lambda: browser.get(HOME)) == asked


def test_only_stored_files_of_ones_own_are_shown_newest_first_in_pages(browser: Client, user: User) -> None:
    FileFactory()
    FileFactory(owner=user, state=State.PENDING)
    FileFactory(owner=user, state=State.DELETED)
    for number in range(50):
        moment = datetime(2026, 1, 1, 0, number, tzinfo=UTC)
        FileFactory(owner=user, booked=False, original_name=f"{number}.png", uploaded_at=moment)
    first, second = browser.get(HOME), browser.get(HOME, {"page": "2"})
    assert titles_of(first) == [f"{number}.png" for number in range(49, 1, -1)]
    assert titles_of(second) == ["1.png", "0.png"]
    assert titles_of(browser.get(HOME, {"page": "x"})) == titles_of(first)
    assert "Page 2 of 2" in text_of(second)


@pytest.fixture(scope="module")
def bea(module_db: None) -> User:
    """With a.png in the folder Shots, b.gif favorite in no folder, and c 100%.mp4 of 2025."""
    bea = UserFactory(username="Bea")
    folder = FolderFactory(pk="f" * 32, owner=bea, name="Shots")
    last_second, midnight = datetime(2026, 5, 1, 23, 59, 59, tzinfo=UTC), datetime(2026, 5, 2, tzinfo=UTC)
    FileFactory(folder=folder, name="AAAAAAAA", original_name="a.png", uploaded_at=last_second)
    FileFactory(owner=bea, media=media.GIF, original_name="b.gif", is_favorite=True, uploaded_at=midnight)
    old = datetime(2025, 12, 31, tzinfo=UTC)
    FileFactory(owner=bea, media=media.MP4, original_name="c 100%.mp4", uploaded_at=old)
    FileFactory(folder=FolderFactory(), original_name="a foreign.png")
    return bea


def filters(owner: User, query: dict[str, str]) -> FilterForm:
    return FilterForm(query, folders=Folder.objects.filter(owner=owner))


FOUND: list[tuple[dict[str, str], list[str]]] = [
    ({"q": "A.PN"}, ["a.png"]),
    ({"q": "100%"}, ["c 100%.mp4"]),
    ({"q": "_"}, []),
    ({"q": "http://127.0.0.1:8000/media/AAAAAAAA.png"}, ["a.png"]),
    ({"q": "http://127.0.0.1:8000/files/AAAAAAAA"}, ["a.png"]),
    ({"folder": "f" * 32}, ["a.png"]),
    ({"folder": "root"}, ["b.gif", "c 100%.mp4"]),
    ({"kind": "image"}, ["b.gif", "a.png"]),
    ({"kind": "image/gif"}, ["b.gif"]),
    ({"favorites": "on"}, ["b.gif"]),
    ({"since": "2026-05-02"}, ["b.gif"]),
    ({"until": "2026-05-01"}, ["a.png", "c 100%.mp4"]),
    ({"since": "2026-05-01", "until": "2026-05-01"}, ["a.png"]),
    ({"until": "9999-12-31"}, ["b.gif", "a.png", "c 100%.mp4"]),
    ({"kind": "image", "folder": "root", "q": "b"}, ["b.gif"]),
]


def test_filters_find_what_they_say(bea: User) -> None:
    for query, titles in FOUND:
        found = listing.search(owner_id=bea.pk, filters=filters(bea, query).filters())
        assert [file.original_name for file in found] == titles, query


@pytest.mark.embedded
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "queries"),
    [
        ("Über Straße.png", ["uber", "ÜBER STRASSE", "U\u0308ber"]),
        ("ΣΊΣΥΦΟΣ.png", ["σισυφος", "υφοσ"]),
        ("山田太郎.png", ["田"]),
        ("ｶﾞｸ.png", ["ガ"]),
    ],
)
def test_a_file_is_found_whatever_the_case_accents_and_width(name: str, queries: list[str]) -> None:
    owner = UserFactory()
    file = FileFactory(owner=owner, original_name=name)
    FileFactory(owner=owner, original_name="other.gif")
    for query in queries:
        wanted = filters(owner, {"q": query}).filters()
        assert list(listing.search(owner_id=owner.pk, filters=wanted)) == [file], query


def test_a_file_of_an_earlier_release_is_found_and_marks_only_find_nothing(bea: User) -> None:
    File.objects.filter(name="AAAAAAAA").update(original_name_folded=None)
    for query, count in (("A.PN", 1), ("\u0301", 0)):
        found = listing.search(owner_id=bea.pk, filters=filters(bea, {"q": query}).filters())
        assert found.count() == count


def test_a_filter_that_says_nothing_is_an_error_and_finds_all(bea: User) -> None:
    for query, error in (
        ({"since": "yesterday"}, {"since": ["Enter a valid date."]}),
        ({"since": "2026-05-02", "until": "2026-05-01"}, {"until": ["This day is before the first one."]}),
        ({"folder": "x"}, {"folder": ["Select a valid choice. x is not one of the available choices."]}),
        ({"kind": "text/html"}, {"kind": ["Select a valid choice. text/html is not one of the available choices."]}),
    ):
        form = filters(bea, query)
        assert form.errors == error
        assert listing.search(owner_id=bea.pk, filters=form.filters()).count() == 3


def test_the_page_shows_what_is_found(client: Client, bea: User) -> None:
    client.force_login(bea)
    rows: list[tuple[dict[str, str], list[str], str]] = [
        ({"folder": "f" * 32}, ["a.png"], "in Shots"),
        ({"q": "_"}, [], "Nothing matches"),
        ({"since": "x"}, ["b.gif", "a.png", "c 100%.mp4"], "Enter a valid date."),
    ]
    for query, titles, text in rows:
        answer = client.get(HOME, query)
        assert (answer.status_code, titles_of(answer), problems_of(answer)) == (200, titles, [])
        assert text in text_of(answer)


def test_names_that_are_markup_are_shown_as_they_are(browser: Client, user: User) -> None:
    FileFactory(folder=FolderFactory(owner=user, name=HOSTILE[:32]), original_name=HOSTILE)
    answer = browser.get(HOME, {"q": HOSTILE})
    assert (titles_of(answer), problems_of(answer)) == ([HOSTILE], [])
    assert HOSTILE not in answer.content.decode()


SHARES = {0: "0", 1: "Less than 1", 10_737_419: "1", 536_870_912: "50", 1_073_741_823: "99", 2**30: "100"}


def test_the_share_of_the_storage_is_0_or_100_only_where_that_is_so() -> None:
    stores = {used: Storage(Plan.FREE, ALLOWANCES[Plan.FREE], used) for used in SHARES}
    assert {used: storage.percent for used, storage in stores.items()} == SHARES
    assert [used for used, storage in stores.items() if storage.is_full] == [2**30]


def test_the_bar_says_how_much_is_used(browser: Client, user: User) -> None:
    for used, plan, sentence in (
        (1_073_741_824, Plan.FREE, "used 100 % of what your plan, Free, allows. Your storage is full"),
        (5_368_709_120, Plan.PREMIUM, "5.0 GB of 10.0 GB used 50 % of what your plan, Premium, allows."),
    ):
        Usage.objects.update_or_create(owner=user, defaults={"used_bytes": used})
        User.objects.filter(pk=user.pk).update(plan=plan)
        answer = browser.get(HOME)
        assert sentence in text_of(answer)
        [bar] = page_of(answer).xpath("//progress")
        assert int(bar.get("value")) == min(used, int(bar.get("max")))


def test_the_page_of_a_folder_shows_what_is_in_it(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Shots", password="secret")
    FileFactory(folder=folder, original_name="a.png", size=2048)
    FileFactory(owner=user, original_name="elsewhere.png")
    answer = browser.get(f"{HOME}folders/{folder.pk}/")
    assert (titles_of(answer), problems_of(answer)) == (["a.png"], [])
    assert "Public, with a password 1 file, 2.0 KB" in text_of(answer)
    assert f"http://127.0.0.1:8000/folders/{folder.pk}" in text_of(answer)
    assert page_of(answer).xpath("//a[text()='Download as ZIP']/@href") == [f"/folders/{folder.pk}/files.zip"]


def test_an_empty_private_folder_says_what_to_do(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user)
    answer = browser.get(f"{HOME}folders/{folder.pk}/")
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert "Private 0 files, 0 bytes" in text_of(answer)
    assert "This folder is empty" in text_of(answer)
    assert page_of(answer).xpath("//a[text()='Download as ZIP' or text()='Open the page']") == []


def test_the_page_of_a_folder_costs_the_same_for_one_file_and_for_ten(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user)
    FileFactory(folder=folder)
    expected = statements.names(lambda: browser.get(f"{HOME}folders/{folder.pk}/"))
    for _ in range(9):
        FileFactory(folder=folder)
        FolderFactory(owner=user)
    assert statements.names(lambda: browser.get(f"{HOME}folders/{folder.pk}/")) == expected


def test_the_old_address_leads_to_the_page(browser: Client) -> None:
    answer = browser.get("/dashboard/imagehost")
    assert (answer.status_code, answer["Location"]) == (301, HOME)
