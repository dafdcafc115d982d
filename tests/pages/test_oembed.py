"""oEmbed (https://oembed.com): discovery on public pages, and the answers for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from lxml import html

from accounts import bans
from accounts.models import User
from imagehost import media
from imagehost.folders import albums
from imagehost.models import Album, File
from lookup.editing import aliases
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost.public_pages import BASE, PASSWORD
from tests.lookup.profile_pages import change
from tests.pages.markup import page_of

pytestmark = pytest.mark.django_db

Json = dict[str, Any]  # Any: a JSON value
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOSTILE = '"><script>alert(1)</script>'


@pytest.fixture
def ada() -> User:
    user = UserFactory(username="Ada", display_name="Ada L.")
    make.shown(user)
    return user


def ask(url: str, **query: str | int) -> Any:
    """The test client's response, which Django gives no public type."""
    return Client().get("/oembed", {"url": url, **query})


def found(url: str, **query: str | int) -> Json:
    response = ask(url, **query)
    assert response.status_code == 200, response.content
    body: Json = response.json()
    return body


def about(user: User, title: str, **parts: object) -> Json:
    """An answer with what all have. `parts`: what it has besides."""
    return {
        "version": "1.0",
        "title": title,
        "author_name": user.get_full_name(),
        "author_url": f"{BASE}/{user.username}",
        "provider_name": settings.SITE_NAME,
        "provider_url": f"{BASE}/",
        "cache_age": 60,
        **parts,
    }


def picture(owner: User, **values: object) -> File:
    return FileFactory(**{"owner": owner, "original_name": "a.png", "width": 800, "height": 600, **values})


def album_of(owner: User, *held: File) -> Album:
    return albums.create(owner=owner, title="Summer", files=held, now=NOW)


def frame(picture: str, page: str, title: str, width: int, height: int) -> str:
    return f'<a href="{page}"><img src="{picture}" alt="{title}" width="{width}" height="{height}"></a>'


# --- Discovery ---


def discovered(path: str) -> list[tuple[str, str]]:
    links = page_of(Client().get(path)).xpath("//head/link[@rel='alternate'][@type='application/json+oembed']")
    return [(link.get("href"), link.get("title")) for link in links]


def test_a_consumer_finds_the_answer_by_the_head_of_each_page(ada: User) -> None:
    file = picture(ada)
    folder = FolderFactory(owner=ada, is_public=True, name="Clips")
    pages = {
        "/Ada": "Ada L. (@Ada)",
        f"/files/{file.name}": "a.png",
        f"/files/albums/{album_of(ada, file).link}": "Summer",
    }
    for path, title in {**pages, f"/folders/{folder.pk}": "Clips"}.items():
        ((href, said),) = discovered(path)
        assert (said, href.startswith(f"{BASE}/oembed?")) == (title, True)
        answer = Client().get(href.removeprefix(BASE))
        assert (answer.status_code, answer.json()["title"]) == (200, title)
        assert answer.headers["Content-Type"] == "application/json"


# --- Answers ---


def test_a_profile_is_its_card(ada: User) -> None:
    card, page = f"{BASE}/Ada/card.svg?size=large", f"{BASE}/Ada"
    size = {"width": 480, "height": 240}
    title = "Ada L. (@Ada)"
    assert found(page) == about(ada, title, type="rich", html=frame(card, page, title, 480, 240), **size)


@pytest.mark.parametrize(
    ("room", "card", "size"),
    [
        ({"maxwidth": 480, "maxheight": 240}, "/Ada/card.svg?size=large", (480, 240)),
        ({"maxwidth": 479}, "/Ada/card.svg", (400, 152)),
        ({"maxheight": 100}, "/Ada/card.svg?size=small", (320, 72)),
        ({"maxwidth": 160}, "/Ada/card.svg?size=small", (160, 36)),
        ({"maxwidth": 1, "maxheight": 1}, "/Ada/card.svg?size=small", (1, 1)),
        ({"maxwidth": ""}, "/Ada/card.svg?size=large", (480, 240)),
    ],
)
def test_a_card_fits_into_the_room(ada: User, room: Json, card: str, size: tuple[int, int]) -> None:
    body = found(f"{BASE}/Ada", **room)
    assert (body["width"], body["height"]) == size
    (image,) = html.fragment_fromstring(body["html"]).xpath("//img")
    assert (image.get("src"), int(image.get("width")), int(image.get("height"))) == (f"{BASE}{card}", *size)


def test_a_picture_is_a_photo_and_fits_into_the_room(ada: User) -> None:
    file = picture(ada)
    small = {"thumbnail_url": file.url, "thumbnail_width": 800, "thumbnail_height": 600}
    whole = about(ada, "a.png", type="photo", url=file.url, width=800, height=600)
    assert found(file.page_url) == whole | small
    assert found(file.page_url, maxwidth=400) == whole | {"width": 400, "height": 300}
    assert found(file.page_url, maxheight=60)["width"] == 80


def test_a_film_is_a_video(ada: User) -> None:
    film = picture(ada, media=media.MP4, original_name="f.mp4")
    body = found(film.page_url, maxwidth=400)
    video = f'<video src="{film.url}" title="f.mp4" width="400" height="300" controls></video>'
    assert body == about(ada, "f.mp4", type="video", html=video, width=400, height=300)


def test_an_album_and_a_folder_are_their_first_picture_and_without_one_a_link(ada: User) -> None:
    file = picture(ada)
    album, folder = album_of(ada, file), FolderFactory(owner=ada, is_public=True, name="Clips")
    body = found(album.url, maxwidth=80)
    assert body == about(
        ada, "Summer", type="rich", html=frame(file.url, album.url, "Summer", 80, 60), width=80, height=60
    )
    assert found(folder.url) == about(ada, "Clips", type="link")


def test_an_alias_is_what_it_shows(ada: User) -> None:
    aliases.add(user=ada, name="Old", redirects=True, has_own_profile=False, by=ada)
    aliases.add(user=ada, name="Mask", redirects=False, has_own_profile=True, by=ada)
    assert found(f"{BASE}/Old") == found(f"{BASE}/Ada")
    assert f"{BASE}/Mask/card.svg" in found(f"{BASE}/mask")["html"]


def test_no_text_leaves_its_place(ada: User) -> None:
    change(ada, display_name=HOSTILE)
    file = picture(ada, caption=HOSTILE)
    for url in (f"{BASE}/Ada", album_of(ada, file).url):
        fragment = html.fragment_fromstring(found(url)["html"])
        assert [element.tag for element in fragment.iter()] == ["a", "img"]
    assert found(f"{BASE}/Ada")["author_name"] == HOSTILE


def test_the_answer_is_for_every_site_and_reads_no_cookie(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    response = client.get("/oembed", {"url": f"{BASE}/Ada"})
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Cache-Control"] == "public, max-age=60"
    assert response.headers["X-Robots-Tag"] == "noindex"
    assert (response.cookies, response.headers.get("Vary")) == ({}, None)


def test_answers_take_few_queries(ada: User) -> None:
    files = [picture(ada) for _ in range(10)]
    folder = FolderFactory(owner=ada, is_public=True)
    File.objects.filter(pk=files[0].pk).update(folder=folder)
    few, many = album_of(ada, files[0]), album_of(ada, *files)
    queries = {f"{BASE}/Ada": 1, files[1].page_url: 1, few.url: 2, many.url: 2, folder.url: 3, f"{BASE}/docs": 0}
    for url, count in queries.items():
        with CaptureQueriesContext(connection) as captured:
            ask(url)
        assert len(captured) == count, (url, [query["sql"] for query in captured])


# --- Refusals ---


@pytest.mark.parametrize("format", ["xml", "JSON", "", "x" * 5000])
def test_another_format_is_not_implemented(ada: User, format: str) -> None:
    response = ask(f"{BASE}/Ada", format=format)
    assert (response.status_code, response.json()) == (501, {"error": "Only the format json is offered."})
    assert ask(f"{BASE}/Ada", format="json").status_code == 200


@pytest.mark.parametrize("size", ["0", "-1", "1.5", "x", "1" * 7, "\u0663", "1 "])
def test_a_size_is_a_whole_number(ada: User, size: str) -> None:
    for name in ("maxwidth", "maxheight"):
        assert ask(f"{BASE}/Ada", **{name: size}).status_code == 400


@pytest.mark.parametrize(
    "url",
    [
        "",
        "Ada",
        "/Ada",
        BASE,
        f"{BASE}/",
        f"{BASE}/folders/%00",
        f"{BASE}.evil.example/Ada",
        "https://evil.example/Ada",
        f"{BASE}/Ada/share",
        f"{BASE}/oembed?url={quote(f'{BASE}/Ada')}",
        f"{BASE}/docs",
        f"{BASE}/nobody",
        f"{BASE}/%00",
        f"{BASE}/%ff%fe",
        f"{BASE}/files/../Ada",
        f"{BASE}/[",
        f"{BASE}/files/" + "a" * 5000,
        f"{BASE}//[x/Ada",
    ],
)
def test_an_address_that_shows_nothing_is_404(ada: User, url: str) -> None:
    response = ask(url)
    assert (response.status_code, response.json()) == (
        404,
        {"error": "This address shows nothing that can be embedded."},
    )
    assert response.headers["Cache-Control"] == "public, max-age=60"


def test_what_visitors_may_not_see_is_404_like_what_is_unknown(ada: User) -> None:
    private, banned = UserFactory(username="private"), UserFactory(username="banned")
    User.objects.filter(pk=private.pk).update(public_api_access=False)
    of_banned = picture(banned)
    bans.ban(user=banned, by=None, reason="x")
    locked = FolderFactory(owner=ada, name="Secret", is_public=True, password=PASSWORD)
    hidden = FolderFactory(owner=ada, is_public=False)
    quarantined, expired = picture(ada), picture(ada, expires_at=timezone.now() - timedelta(seconds=1))
    in_locked = picture(ada, folder=locked)
    File.objects.filter(pk=quarantined.pk).update(quarantined_at=timezone.now())
    album = album_of(ada, picture(ada))
    Album.objects.filter(pk=album.pk).update(quarantined_at=timezone.now())
    unknown = ask(f"{BASE}/nobody")
    urls = [
        f"{BASE}/private",
        f"{BASE}/banned",
        *(file.page_url for file in (of_banned, quarantined, expired, in_locked)),
    ]
    for url in (*urls, locked.url, hidden.url, album.url):
        response = ask(url)
        assert (response.status_code, response.content) == (404, unknown.content), url


def test_an_album_shows_no_picture_of_a_locked_folder(ada: User) -> None:
    locked = FolderFactory(owner=ada, name="Secret", password=PASSWORD)
    file = picture(ada, folder=locked)
    assert found(album_of(ada, file).url) == about(ada, "Summer", type="link")


@pytest.mark.parametrize("method", ["post", "delete"])
def test_it_is_only_read(method: str) -> None:
    response = getattr(Client(enforce_csrf_checks=True), method)(f"/oembed?{urlencode({'url': BASE})}")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")
