"""Codes that show a file on another site: their syntax, and what they give away."""

from __future__ import annotations

import pytest
from django.test import Client
from lxml import html

from accounts.models import User
from imagehost import media
from imagehost.models import PreviewState
from imagehost.pages import file_pages
from lookup.page import embeds
from lookup.page.embeds import Embedded
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost.public_pages import BASE, PASSWORD, locked_folder, unlocked
from tests.pages.markup import page_of, problems_of

HOSTILE = '</a>"><script>[x](y)[/url] *a_ @ada :tada: &amp; `'


def texts(shown: Embedded) -> dict[str, str]:
    return {code.key: code.text for code in embeds.codes(shown)}


def test_the_codes_of_a_picture() -> None:
    assert texts(Embedded("a.png", "https://h/files/A", "https://c/A.png", "https://c/A.png", width=3, height=2)) == {
        "direct": "https://c/A.png",
        "page": "https://h/files/A",
        "markdown": "[![a.png](https://c/A.png)](https://h/files/A)",
        "html": '<a href="https://h/files/A"><img src="https://c/A.png" alt="a.png" width="3" height="2"></a>',
        "bbcode": "[url=https://h/files/A][img]https://c/A.png[/img][/url]",
    }


def test_the_codes_of_a_film() -> None:
    page, film = "https://h/files/F", "https://c/F.mp4"
    for picture, markdown, poster in (
        ("https://h/p", "[![f](https://h/p)]", ' poster="https://h/p"'),
        ("", "[f]", ""),
    ):
        found = texts(Embedded("f", page, film, picture, film, width=3, height=2))
        assert found["markdown"] == f"{markdown}({page})"
        assert found["html"] == f'<video src="{film}" title="f" width="3" height="2"{poster} controls></video>'
        assert found["bbcode"] == f"[video]{film}[/video]"


def test_a_name_cannot_leave_its_place() -> None:
    found = texts(Embedded(HOSTILE, "https://h/files/A", picture="https://c/A.png"))
    (image,) = html.fragment_fromstring(found["html"]).getchildren()
    assert (image.get("alt"), "script" in found["bbcode"]) == (HOSTILE, False)
    assert found["markdown"] == (
        r"[![\</a\>\"\>\<script\>\[x\](y)\[/url\] \*a\_ \@ada \:tada\: \&amp; \`](https://c/A.png)](https://h/files/A)"
    ).replace(r"\"", '"')
    untitled = texts(Embedded(HOSTILE, "https://h/albums/A"))
    assert untitled["bbcode"].count("[") == untitled["bbcode"].count("[url=https") + 1 == 2
    assert html.fragment_fromstring(untitled["html"]).text_content() == HOSTILE


@pytest.mark.django_db
def test_the_page_has_the_codes_in_fields_that_can_be_selected(client: Client) -> None:
    file = FileFactory(original_name=HOSTILE)
    answer = client.get(f"/files/{file.name}")
    assert problems_of(answer) == []
    fields = page_of(answer).xpath("//main//input[@readonly]")
    assert [(field.get("id"), field.get("value")) for field in fields] == [
        (f"copy-{code.key}", code.text) for code in file_pages.codes_of(file)
    ]
    assert [button.get("data-copy") for button in page_of(answer).xpath("//main//button[@data-copy]")] == [
        field.get("id") for field in fields
    ]


@pytest.mark.django_db
def test_a_locked_file_has_codes_once_its_folder_is_unlocked(client: Client) -> None:
    folder = locked_folder()
    assert b"/media/Picture1.png" not in client.get("/files/Picture1").content
    assert b"/media/Picture1.png" in unlocked(folder.pk, PASSWORD).get("/files/Picture1").content


@pytest.mark.django_db
def test_the_poster_of_a_film_in_a_locked_folder_is_in_no_code() -> None:
    folder = FolderFactory(password=PASSWORD)
    film = FileFactory(folder=folder, media=media.MP4, preview_state=PreviewState.MADE)
    assert not any("preview" in code.text for code in file_pages.codes_of(film))
    folder.password_hash = ""
    assert f"{BASE}/files/{film.name}/preview.png" in file_pages.codes_of(film)[2].text


@pytest.mark.django_db
def test_the_owner_has_them_in_the_gallery_s_details(client: Client, user: User) -> None:
    client.force_login(user)
    file, taken = FileFactory(owner=user), FileFactory(owner=user, quarantined_at="2026-01-01T00:00Z")
    answer = client.get(f"/dashboard/imagehost/files/{file.name}/")
    assert problems_of(answer) == []
    assert page_of(answer).xpath("//input[@id='copy-direct']/@value") == [f"{BASE}/media/{file.name}.png"]
    assert b"copy-direct" not in client.get(f"/dashboard/imagehost/files/{taken.name}/").content
    assert client.get(f"/dashboard/imagehost/files/{FileFactory().name}/").status_code == 404
