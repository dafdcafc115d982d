"""A file's page in the dashboard: its name, its caption, its views and downloads."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from accounts.models import User
from imagehost import media
from imagehost.folders import albums, listing
from imagehost.folders.listing import FileFilters
from imagehost.models import File, FileDay, State
from imagehost.storing import files
from lookup.visits.database_store import day_of
from tests.dashboard.imagehost.reading import HOME, HOSTILE, messages_of, text_of, titles_of
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost.public_pages import messenger_tags, signed_in, unlocked
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of
from tests.support.threads import together

pytestmark = pytest.mark.django_db

UNSAFE = "Contains control or invisible characters."


def place_of(file: File) -> str:
    return f"{HOME}files/{file.name}/"


def form_of(browser: Client, file: File) -> dict[str, str]:
    """The fields of the form, as it is shown."""
    [form] = [form for form in page_of(browser.get(place_of(file))).forms if "caption" in form.fields]
    return {name: value.strip("\n") for name, value in form.form_values() if name != "csrfmiddlewaretoken"}


def save(browser: Client, file: File, **values: str) -> Any:
    """The answer, to which Django gives no public type."""
    return browser.post(place_of(file), {**form_of(browser, file), **values})


def test_a_file_is_renamed_and_described_and_keeps_its_address(browser: Client, user: User) -> None:
    file = FileFactory(owner=user)
    answer = save(browser, file, name="  Über uns.png ", caption=f" {HOSTILE}\r\n two\tlines ")
    assert (answer["Location"], messages_of(answer)) == (place_of(file), ["File saved."])
    opened = browser.get(place_of(file))
    assert problems_of(opened) == []
    assert page_of(opened).findtext(".//h1") == "Über uns.png"
    assert f"{HOSTILE} two lines" in text_of(opened)
    before, name = file.url, file.name
    file.refresh_from_db()
    assert (file.original_name, file.url, file.name) == ("Über uns.png", before, name)
    found = listing.search(owner_id=user.pk, filters=FileFilters(text="uber"))
    assert list(found) == [file]
    assert titles_of(browser.get(HOME)) == ["Über uns.png"]


REFUSED = [
    ({"name": ""}, "This field is required."),
    ({"name": "\u2800"}, "Contains nothing that can be seen"),
    ({"name": "x" * 256}, "Ensure this value has at most 255 characters (it has 256)."),
    ({"name": "a\x07.png"}, UNSAFE),
    ({"name": "a\u202egnp.exe"}, UNSAFE),
    ({"name": "a/b.png"}, "Must not contain a slash or a backslash."),
    ({"name": "a\\b.png"}, "Must not contain a slash or a backslash."),
    ({"name": "a\x00"}, "Null characters are not allowed."),
    ({"caption": "x" * 301}, "Ensure this value has at most 300 characters (it has 301)."),
    ({"caption": "a\x07"}, "Contains a control character or a bidirectional override (U+0007); remove it."),
    ({"caption": "a\u202eb"}, "Contains a control character or a bidirectional override (U+202E); remove it."),
    ({"caption": "\u2800"}, "Contains nothing that can be seen"),
    ({"caption": "a\x00"}, "Null characters are not allowed."),
]


@pytest.mark.parametrize(("values", "sentence"), REFUSED)
def test_what_cannot_be_a_name_or_a_caption_says_why(
    browser: Client, user: User, values: dict[str, str], sentence: str
) -> None:
    file = FileFactory(owner=user, caption="before")
    answer = save(browser, file, **values)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert sentence in text_of(answer)
    file.refresh_from_db()
    assert (file.original_name, file.caption) == ("holiday.png", "before")


def test_the_longest_are_taken_and_a_name_of_other_rules_stays_until_it_is_changed(browser: Client, user: User) -> None:
    file = FileFactory(owner=user, original_name=" \u202eold/1.png")
    assert save(browser, file, caption="c" * 300).status_code == 302
    file.refresh_from_db()
    assert (file.original_name, file.caption) == (" \u202eold/1.png", "c" * 300)
    assert save(browser, file, name="n" * 255, caption="").status_code == 302
    file.refresh_from_db()
    assert (file.original_name, file.caption) == ("n" * 255, "")


def test_a_form_from_before_another_change_is_refused(browser: Client, user: User) -> None:
    file = FileFactory(owner=user)
    stale = form_of(browser, file)
    save(browser, file, caption="first")
    answer = browser.post(place_of(file), {**stale, "caption": "second"})
    assert "This was changed while you edited it" in text_of(answer)
    assert File.objects.get().caption == "first"


def test_only_the_owner_changes_it_while_it_is_stored(browser: Client, user: User) -> None:
    foreign, gone = FileFactory(), FileFactory(owner=user, state=State.DELETED)
    for file in (foreign, gone):
        answer = browser.post(place_of(file), {"name": "x", "caption": "x", "version": "x"})
        assert answer.status_code == 404
    with pytest.raises(File.DoesNotExist):
        files.describe(owner=user, file=foreign, name=None, caption="mine")
    with pytest.raises(ValidationError):
        files.describe(owner=User.objects.get(pk=foreign.owner_id), file=foreign, name=None, caption="a\x07")
    owner = UserFactory()
    banned, theirs = FileFactory(owner=owner), signed_in(owner)
    fields = form_of(theirs, banned)
    User.objects.filter(pk=owner.pk).update(is_active=False, banned_at=timezone.now())
    assert theirs.post(place_of(banned), {**fields, "caption": "x"})["Location"].startswith("/accounts/login/")
    assert not File.objects.exclude(caption="").exists()


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_once_one_is_refused(user: User) -> None:
    file = FileFactory(owner=user)
    fields = form_of(signed_in(user), file)

    def change(number: int) -> int:
        return signed_in(user).post(place_of(file), {**fields, "caption": f"{number}"}).status_code

    assert sorted(together(2, change)) == [200, 302]


def test_visitors_see_the_caption_on_the_page_in_lists_and_in_place_of_the_picture(client: Client) -> None:
    folder = FolderFactory(owner=UserFactory(username="Ada"), is_public=True)
    file = FileFactory(folder=folder, caption=f"The tide {HOSTILE}")
    film = FileFactory(folder=folder, media=media.MP4, caption="A film")
    answer = client.get(f"/files/{file.name}")
    assert problems_of(answer) == []
    assert page_of(answer).xpath("//main//img/@alt") == [file.caption]
    assert page_of(answer).findtext(".//h1") == "holiday.png"
    assert file.caption in text_of(answer)
    tags = messenger_tags(answer)
    assert {name for name, text in tags.items() if text == file.caption} == {
        *("description", "og:description", "og:image:alt", "twitter:description", "twitter:image:alt")
    }
    assert tags["og:title"] == "holiday.png"
    assert page_of(client.get(f"/files/{film.name}")).xpath("//video/@aria-label") == ["A film"]
    album = albums.create(owner=folder.owner, title="All", files=[file, film], now=timezone.now())
    for path in (f"/folders/{folder.pk}", f"/files/albums/{album.link}"):
        captions = page_of(client.get(path)).xpath("//span[@class='tile__caption']/text()")
        assert sorted(captions) == ["A film", file.caption]


def test_the_caption_of_a_locked_file_needs_the_password() -> None:
    folder = FolderFactory(owner=UserFactory(username="Ada"), password="open sesame")
    file = FileFactory(folder=folder, caption="Where the key is")
    album = albums.create(owner=folder.owner, title="All", files=[file], now=timezone.now())
    for path in (f"/files/{file.name}", f"/folders/{folder.pk}", f"/files/albums/{album.link}"):
        assert b"Where the key is" not in Client().get(path).content
        assert b"Where the key is" in unlocked(folder.pk, "open sesame").get(path).content


def test_views_and_downloads_are_shown_by_day_and_as_sums(browser: Client, user: User) -> None:
    file, quiet = FileFactory(owner=user, original_name="seen.png"), FileFactory(owner=user)
    today = day_of(timezone.now())
    for age, views, downloads in ((0, 3, 1), (29, 2, 0), (30, 50, 50)):
        FileDay.objects.create(file=file, day=today - timedelta(days=age), views=views, downloads=downloads)
    opened = browser.get(place_of(file))
    assert problems_of(opened) == []
    assert "5 views and 1 download in the last 30 days" in text_of(opened)
    rows = page_of(opened).xpath("//table//tr[th and td]")
    assert [len(rows), *(cell.text for cell in rows[0].xpath("td")), *(cell.text for cell in rows[29].xpath("td"))] == [
        *(30, "3", "1"),
        *("2", "0"),
    ]
    assert "None in the last 30 days" in text_of(browser.get(place_of(quiet)))
    gallery = text_of(browser.get(HOME))
    assert gallery.count("55 views, 51 downloads") == gallery.count(" views, ") == 1


def test_the_page_takes_two_queries(browser: Client, user: User) -> None:
    file = FileFactory(folder=FolderFactory(owner=user))
    asked = statements.names(lambda: browser.get(place_of(file)))
    assert [name for name in asked if "imagehost" in name] == ["SELECT imagehost_file", "SELECT imagehost_fileday"]
