"""The dashboard's pages of albums: made from chosen files, edited, shared anew, deleted."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import User
from imagehost.models import Album
from tests.dashboard.imagehost.reading import HOME, HOSTILE, messages_of, text_of
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

ALBUMS, ADD = f"{HOME}albums/", f"{HOME}files/selected/"


def test_an_album_is_made_from_chosen_files_and_edited(browser: Client, user: User) -> None:
    one, two = FileFactory(owner=user, original_name="one.png"), FileFactory(owner=user, original_name=HOSTILE)
    answer = browser.post(ADD, {"file": [one.name, two.name, FileFactory().name], "act": "album:new"})
    [album] = Album.objects.all()
    place = f"{ALBUMS}{album.pk}/"
    assert (answer["Location"], messages_of(answer)) == (place, ["2 files added to the album."])
    opened = browser.get(place)
    assert problems_of(opened) == []
    assert f"/files/albums/{album.link}" in text_of(opened)

    version = page_of(opened).xpath("//input[@name='version']/@value")[0]
    assert browser.post(place, {"title": HOSTILE, "version": version})["Location"] == place
    stale = browser.post(place, {"title": "Mine", "version": version})
    assert "This was changed while you edited it" in text_of(stale)
    assert page_of(stale).xpath("//input[@name='title']/@value") == ["Mine"]

    first = album.ids()[0]
    name = one.name if first == one.pk else two.name
    assert browser.post(f"{place}files/{name}/", {"places": "1"})["Location"] == place
    album.refresh_from_db()
    assert album.ids()[1] == first
    browser.post(f"{place}files/{name}/", {"remove": "1"})
    album.refresh_from_db()
    assert first not in album.ids()
    assert browser.post(f"{place}files/{name}/", {"remove": "1"}).status_code == 404

    link = album.link
    assert "no longer works" in text_of(browser.get(f"{place}reset/"))
    browser.post(f"{place}reset/")
    album.refresh_from_db()
    assert album.link != link
    assert problems_of(browser.get(ALBUMS)) == []
    browser.post(f"{place}delete/")
    assert not Album.objects.exists()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"act": "album:new"}, "Choose at least one file first."),
        ({"act": "album:x", "file": "own"}, "Choose one of your albums"),
    ],
)
def test_a_choice_that_fails_says_why(browser: Client, user: User, body: dict[str, str], message: str) -> None:
    file = FileFactory(owner=user)
    answer = browser.post(ADD, {name: file.name if value == "own" else value for name, value in body.items()})
    assert message in messages_of(answer)[0]
    assert not Album.objects.exists()


@pytest.mark.parametrize("below", ["", "reset/", "delete/", "files/Picture1/"])
def test_albums_of_others_are_404(browser: Client, below: str) -> None:
    album = Album.objects.create(owner=UserFactory(), title="Theirs")
    path = f"{ALBUMS}{album.pk}/{below}"
    assert browser.post(path, {"title": "Mine", "version": "1", "places": "1"}).status_code == 404
    if not below.startswith("files"):
        assert browser.get(path).status_code == 404


def test_it_costs_the_same_for_one_album_and_for_ten(browser: Client, user: User) -> None:
    files = [FileFactory(owner=user) for _ in range(3)]
    browser.post(ALBUMS, {"title": "One"})
    album = Album.objects.get()
    asked = statements.names(lambda: browser.get(ALBUMS))
    assert [name for name in asked if "imagehost" in name] == ["SELECT imagehost_album"]
    browser.post(ADD, {"file": [file.name for file in files], "act": f"album:{album.pk}"})
    edited = statements.names(lambda: browser.get(f"{ALBUMS}{album.pk}/"))
    assert [name for name in edited if "imagehost" in name] == ["SELECT imagehost_album", "SELECT imagehost_file"]
    for number in range(9):
        browser.post(ALBUMS, {"title": f"{number}"})
    assert statements.names(lambda: browser.get(ALBUMS)) == asked
