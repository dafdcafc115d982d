"""GET /folders/{id}, and the previews below it."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from imagehost import media
from imagehost.models import Folder, PreviewState, State
from imagehost.pages import file_pages
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost.public_pages import BASE, PASSWORD, PREVIEW, messenger_tags, signed_in, stored, unlocked
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

MOMENT = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
MEGABYTE = 1024 * 1024


def shared(**values: Any) -> Folder:
    return FolderFactory(**{"name": "Holidays", "is_public": True, **values})


def filled(folder: Folder, amount: int, **values: Any) -> list[str]:
    """The names of that many new files in the folder, newest first."""
    moments = [MOMENT - dt.timedelta(minutes=number) for number in range(amount)]
    return [FileFactory(folder=folder, uploaded_at=moment, **values).name for moment in moments]


def shown(client: Client, path: str) -> list[str]:
    """The names of the files that the page shows, in its order."""
    links = page_of(client.get(path)).xpath("//ul[@class='file-tiles']/li/a/@href")
    return [link.removeprefix("/files/").partition("?in=")[0] for link in links]


def test_the_page_of_a_folder(client: Client) -> None:
    folder = shared(owner=UserFactory(username="Ada", display_name="Ada L."))
    filled(folder, 2)

    response = client.get(f"/folders/{folder.pk}")

    page = page_of(response)
    assert response.status_code == 200
    assert problems_of(response) == []
    assert page.findtext(".//h1") == page.findtext(".//title").split(" · ")[0] == "Holidays"
    assert " ".join(page.xpath("//p[@class='meta']")[0].text_content().split()) == "2 files by Ada L."
    assert page.xpath("//p[@class='meta']/a/@href") == ["/Ada"]
    assert page.xpath("//a[.='Download as ZIP']/@href") == [f"/folders/{folder.pk}/files.zip"]
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert response.cookies == {}


def test_its_own_delivered_files_alone_are_shown_newest_first(client: Client) -> None:
    folder = shared()
    names = filled(folder, 3)
    FileFactory(owner=folder.owner)
    FileFactory(folder=shared(owner=folder.owner, name="Another"))
    for hidden in ({"state": State.PENDING}, {"state": State.DELETED}, {"quarantined_at": timezone.now()}):
        FileFactory(folder=folder, **hidden)
    assert shown(client, f"/folders/{folder.pk}") == names


OF_PREVIEW = ("/folders/{folder}/previews/Picture1.webp", "320", "240")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"preview_state": PreviewState.MADE}, OF_PREVIEW),
        ({"preview_state": PreviewState.MADE, "media": media.MP4}, OF_PREVIEW),
        ({"size": MEGABYTE}, ("/media/Picture1.png", "640", "480")),
        ({"size": MEGABYTE + 1}, None),
        ({"preview_state": PreviewState.FAILED}, ("/media/Picture1.png", "640", "480")),
        ({"media": media.MP4}, None),
    ],
)
def test_a_tile_shows_the_preview_or_the_small_file_itself_or_the_type(
    client: Client, values: dict[str, Any], expected: tuple[str, str, str] | None
) -> None:
    folder = shared()
    file = FileFactory(folder=folder, name="Picture1", **values)
    (tile,) = page_of(client.get(f"/folders/{folder.pk}")).xpath("//li[@class='tile']")
    found = [(image.get("src"), image.get("width"), image.get("height")) for image in tile.xpath(".//img")]
    assert found == ([(expected[0].format(folder=folder.pk), *expected[1:])] if expected else [])
    assert tile.xpath(".//*[@class='tile__none']/text()") == ([] if expected else [file.extension.upper()])


def test_fifty_files_make_a_page(client: Client) -> None:
    folder = shared()
    names = filled(folder, 51, booked=False)
    first, second = f"/folders/{folder.pk}", f"/folders/{folder.pk}?page=2"
    assert shown(client, first) == shown(client, f"{first}?page=1") == names[:50]
    assert shown(client, second) == names[50:]
    page = page_of(client.get(first))
    assert page.xpath("//nav[contains(@class, 'pager')]/a/@href") == ["?page=2"]
    assert page_of(client.get(second)).xpath("//nav[contains(@class, 'pager')]/a/@href") == ["?page=1"]
    assert page_of(client.get(second)).findtext(".//title").startswith("Holidays, page 2")


def test_a_folder_without_files_says_so_and_a_page_that_is_none_is_missing(client: Client) -> None:
    folder = shared()
    response = client.get(f"/folders/{folder.pk}")
    assert problems_of(response) == []
    assert page_of(response).findtext(".//h2") == "Nothing here yet"
    assert page_of(response).xpath("//a[.='Download as ZIP']") == []
    assert client.get(f"/folders/{folder.pk}?page=2").status_code == 404
    filled(folder, 2)
    for number in ("0", "2", "-1", "01", "+1", "1.0", "one", "", " 1", "9" * 9, "9" * 400, "\u0661"):
        assert file_pages.page_of_folder(folder, number) is None, number
    assert client.get(f"/folders/{folder.pk}?page=2").status_code == 404


def test_more_files_than_an_archive_takes(client: Client, settings: Settings) -> None:
    settings.MAX_FILES_IN_ARCHIVE = 2
    folder = shared()
    filled(folder, 2)
    assert b"The newest" not in client.get(f"/folders/{folder.pk}").content
    filled(folder, 1)
    assert b"The newest 2 files" in client.get(f"/folders/{folder.pk}").content


def test_the_tags_for_messengers(client: Client) -> None:
    folder = shared(owner=UserFactory(username="Ada"))
    FileFactory(folder=folder, media=media.MP4, uploaded_at=MOMENT)
    FileFactory(folder=folder, name="Picture1", uploaded_at=MOMENT - dt.timedelta(minutes=1))
    expected = {
        "robots": "noindex",
        "og:type": "website",
        "og:title": "Holidays",
        "og:url": f"{BASE}/folders/{folder.pk}",
        "og:description": "2 files by Ada",
        "og:image": f"{BASE}/media/Picture1.png",
        "twitter:card": "summary_large_image",
    }
    found = messenger_tags(client.get(f"/folders/{folder.pk}"))
    assert {name: found.get(name) for name in expected} == expected


def test_whatever_is_not_published_is_missing_alike(client: Client) -> None:
    missing = client.get(f"/folders/{'f' * 32}")
    member = signed_in(UserFactory())
    private = FolderFactory()
    stored(folder=private, name="Picture1", preview=PREVIEW)
    of_banned = shared(owner=UserFactory(is_active=False, banned_at=timezone.now()))
    stored(folder=of_banned, name="Picture2", preview=PREVIEW)
    ids = ["0" * 32, private.pk, of_banned.pk, shared().pk.upper(), str(uuid.UUID(shared().pk)), "%00", "x" * 3000]
    for folder_id in ids:
        for below in ("", "/previews/Picture1.webp", "/previews/Picture2.webp", "/files.zip"):
            for browser in (client, member):
                response = browser.get(f"/folders/{folder_id}{below}")
                assert (response.status_code, response.content) == (404, missing.content), (folder_id, below)
                assert response.cookies == {}


def test_its_owner_sees_a_private_folder_marked_as_such() -> None:
    folder = FolderFactory()
    file = stored(folder=folder, preview=PREVIEW)
    owner = signed_in(folder.owner)
    response = owner.get(f"/folders/{folder.pk}")
    assert response.status_code == 200
    assert problems_of(response) == []
    assert page_of(response).xpath("//span[contains(@class, 'badge')]/text()") == ["Private: only you see this page"]
    preview = owner.get(f"/folders/{folder.pk}/previews/{file.name}.webp")
    assert (preview.content, preview.headers["Cache-Control"]) == (PREVIEW, "private, no-store")
    other = FolderFactory(owner=folder.owner)
    for path in (f"{other.pk}/previews/{file.name}.webp", f"{folder.pk}/previews/{file.name.lower()}.webp"):
        assert owner.get(f"/folders/{path}").status_code == 404


@pytest.mark.embedded
@pytest.mark.parametrize("amount", [1, 10])
def test_the_page_takes_three_queries_however_many_files_there_are(client: Client, amount: int) -> None:
    folder = shared()
    filled(folder, amount, preview_state=PreviewState.MADE)
    asked = statements.names(lambda: client.get(f"/folders/{folder.pk}"))
    assert asked == [
        "SELECT imagehost_folder",  # with its owner
        "SELECT imagehost_file",  # how many files
        "SELECT imagehost_file",  # those of the page
    ]


def test_a_locked_page_takes_one_query_and_an_unlocked_one_three(client: Client) -> None:
    folder = FolderFactory(password=PASSWORD)
    filled(folder, 2)
    path = f"/folders/{folder.pk}"
    assert statements.names(lambda: client.get(path)) == ["SELECT imagehost_folder"]
    browser = unlocked(folder.pk)
    asked = statements.names(lambda: browser.get(path))
    assert [name for name in asked if name != "SELECT django_session"] == [  # which may be in the cache
        "SELECT imagehost_folder",
        "SELECT imagehost_file",
        "SELECT imagehost_file",
    ]


def test_a_page_reached_from_the_folder_leads_to_its_neighbors_there(client: Client) -> None:
    folder = FolderFactory(is_public=True)
    at = MOMENT
    for name, hours in (("Newest12", 2), ("Middle12", 1), ("Oldest12", 0)):
        FileFactory(folder=folder, name=name, uploaded_at=at + dt.timedelta(hours=hours))
    FileFactory(folder=folder, uploaded_at=at, quarantined_at=at)

    def ways(name: str, place: str = folder.pk) -> list[str]:
        found: list[str] = page_of(client.get(f"/files/{name}?in={place}")).xpath("//nav//a[@rel]/@href")
        return found

    assert ways("Newest12") == [f"/files/Middle12?in={folder.pk}"]
    assert ways("Middle12") == [f"/files/{name}?in={folder.pk}" for name in ("Newest12", "Oldest12")]
    assert ways("Oldest12") == [f"/files/Middle12?in={folder.pk}"]
    assert ways("Middle12", FolderFactory(is_public=True).pk) == ways("Middle12", "") == []
    asked = statements.names(lambda: client.get(f"/files/Middle12?in={folder.pk}"))
    assert asked == ["SELECT imagehost_file"] * 3
    folder.is_public = False
    folder.save()
    assert ways("Middle12") == []
