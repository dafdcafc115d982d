"""Whatever files, folders and their owners are called, their pages run nothing and load nothing from elsewhere.

The rows are written past every check, as an earlier release or staff may have left them.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from imagehost import media
from imagehost.models import PreviewState
from imagehost.pages import file_pages
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import DELETION_TOKEN, FileFactory, FolderFactory
from tests.imagehost.public_pages import foreign_scripts, messenger_tags, stored
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

MARKUP = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title><script>alert(1)//",
    "{{ 7|add:7 }}{% debug %}",
    "&lt;script&gt;&amp;",
    "\u05e2\u05d1\u05e8\u05d9\u05ea \u0e01\u0e47\u0e47 \U0001f469\u200d\U0001f467",
]


@pytest.mark.parametrize("markup", MARKUP)
def test_markup_in_any_name_is_text(client: Client, markup: str) -> None:
    owner = UserFactory(display_name=markup)
    folder = FolderFactory(owner=owner, name=markup[:32], is_public=True)
    file = FileFactory(folder=folder, media=media.MP4, original_name=markup, preview_state=PreviewState.MADE)
    paths = [f"/files/{file.name}", f"/folders/{folder.pk}", f"/files/{file.name}/delete/{DELETION_TOKEN}"]
    pages = [client.get(path) for path in paths]
    for response in pages:
        assert response.status_code == 200
        assert problems_of(response) == []
        assert foreign_scripts(response) == []
    of_file, of_folder, of_deletion = map(page_of, pages)
    title = markup.strip()
    assert of_file.findtext(".//h1") == messenger_tags(pages[0])["og:title"] == title
    assert of_file.xpath("//main//bdi/text()") == [markup, markup[:32]]
    assert of_folder.findtext(".//h1") == messenger_tags(pages[1])["og:title"] == markup[:32].strip()
    assert of_folder.xpath("//main//*[@class='tile__title']/text()") == [title]
    assert of_deletion.xpath("//main//strong/text()") == [title]


def test_a_title_reads_as_it_is_written() -> None:
    for name, title in (
        ("gnp.\u202eexe", "gnp.exe"),
        ("\u2066isolated\u2069.png", "isolated.png"),
        ("line\r\nbreak\x00\x1b\x7f\x85\u2028.png", "linebreak.png"),
        ("\u202e \t ", "Picture1.png"),
        ("", "Picture1.png"),
        ("x" * 255, "x" * 255),
    ):
        page = file_pages.page_of_file(FileFactory.build(owner=None, name="Picture1", original_name=name))
        assert page.title == page.card.title == title


def test_a_folders_name_adds_no_header_to_its_archive(client: Client) -> None:
    for name in ("x\r\nSet-Cookie: a=b", '"; filename="evil.exe', "../.."):
        folder = FolderFactory(name=name, is_public=True)
        response: Any = client.get(f"/folders/{folder.pk}/files.zip")  # it streams
        assert (response.status_code, response.cookies, b"".join(response)[:2]) == (200, {}, b"PK")
        value = response.headers["Content-Disposition"]
        assert value.isascii()
        assert value.isprintable()
        assert value.startswith('attachment; filename="')
        assert (value.count('"'), "/" in value) == (2, False)


PATHS = [
    "/files/%00",
    "/files/..%2f..%2fetc%2fpasswd",
    "/files/%ff%fe",
    "/files/\N{LATIN SMALL LETTER SHARP S}",
    "/files/" + "a" * 3000,
    "/files/Picture1/",
    "/files/Picture1/delete/",
    "/files/",
    "/folders/",
    "/folders/%00",
    "/folders/x/previews/%00.webp",
    "/folders/x/previews/..%2f..%2fx.webp",
]


def test_no_path_is_a_server_error(client: Client) -> None:
    stored(name="Picture1")
    for path in PATHS:
        assert client.get(path).status_code == 404, path
