"""What the profile page tells machines: its head, its headers, and what an answer costs."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from lookup.page import presenters
from lookup.page.presenters import Card
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AssetFactory, CommentFactory, LinkFactory, SectionFactory, main_profile, shown
from tests.lookup.profile_pages import ADDRESS, UPLOADS, change, filled, page
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def ada(module_db: None) -> User:
    """With something of everything; what a test changes is rolled back."""
    return filled()


def test_messengers_and_search_engines_get_whole_addresses(ada: User) -> None:
    head = {meta.get("property") or meta.get("name"): meta.get("content") for meta in page("/ADA").xpath("//meta")}
    assert page("/ADA").xpath("//link[@rel='canonical']/@href") == [f"{ADDRESS}/Ada"]
    banner = f"{ADDRESS}{UPLOADS}/files/banner.png"
    assert {name: value for name, value in head.items() if name not in {None, "viewport", "color-scheme"}} == {
        "description": "Poet of numbers",
        "og:type": "profile",
        "og:site_name": "Hearth",
        "og:title": "Ada Lovelace (@Ada)",
        "og:description": "Poet of numbers",
        "og:url": f"{ADDRESS}/Ada",
        "og:image": banner,
        "og:image:type": "image/png",
        "og:image:width": "640",
        "og:image:height": "480",
        "og:image:alt": "Ada Lovelace (@Ada)",
        "profile:username": "Ada",
        "twitter:card": "summary_large_image",
        "twitter:title": "Ada Lovelace (@Ada)",
        "twitter:description": "Poet of numbers",
        "twitter:image": banner,
        "twitter:image:alt": "Ada Lovelace (@Ada)",
    }


def test_the_owner_may_choose_title_summary_colour_icon_and_picture() -> None:
    eve = UserFactory(username="eve")
    chosen = {"metadataSettings": {"title": "My own title", "description": "word " * 100, "color": "#123456"}}
    assets = {name: AssetFactory(owner=eve, path=f"files/{name}.png") for name in ("favicon", "card")}
    change(eve, settings=chosen, metadata_favicon=assets["favicon"], metadata_banner=assets["card"])
    found = page("/eve")
    assert found.findtext(".//title") == "My own title · Hearth"
    (summary,) = found.xpath("//meta[@name='description']/@content")
    assert (len(summary), summary[-5:]) == (200, "word…")
    assert found.xpath("//meta[@name='theme-color']/@content") == ["#123456"]
    assert found.xpath("//link[@rel='icon']/@href") == [f"{UPLOADS}/files/favicon.png"]
    assert found.xpath("//meta[@property='og:image']/@content") == [f"{ADDRESS}{UPLOADS}/files/card.png"]


@pytest.mark.parametrize(
    ("mime", "size", "card"),
    [
        ("image/jpeg", (1200, 400), Card(f"{ADDRESS}{UPLOADS}/files/1.x", "image/jpeg", 1200, 400)),
        ("image/gif", (None, None), Card(f"{ADDRESS}{UPLOADS}/files/1.x", "image/gif", None, None)),
        ("image/webp", (1200, 400), Card(f"{ADDRESS}/uploads/files/1.x/card.png", "image/png", 640, 213)),
        ("image/avif", (300, 640), Card(f"{ADDRESS}/uploads/files/1.x/card.png", "image/png", 300, 640)),
        ("image/webp", (None, None), Card(f"{ADDRESS}/uploads/files/1.x/card.png", "image/png", None, None)),
        ("image/svg+xml", (1200, 400), None),
        ("video/mp4", (1200, 400), None),
    ],
)
def test_messengers_get_a_picture_that_they_show(mime: str, size: tuple[int | None, ...], card: Card | None) -> None:
    asset = {"url": f"{ADDRESS}{UPLOADS}/files/1.x", "mime": mime, "width": size[0], "height": size[1]}
    assert presenters.card(asset) == card


def test_a_drawing_is_left_out_for_the_next_picture() -> None:
    eve = UserFactory(username="eve")
    drawing = AssetFactory(owner=eve, path="files/banner.svg", mime="image/svg+xml")
    change(eve, banner=drawing, avatar=AssetFactory(owner=eve, path="files/me.png"))
    found = page("/eve")
    assert found.xpath("//meta[@property='og:image']/@content") == [f"{ADDRESS}{UPLOADS}/files/me.png"]
    assert found.xpath("//meta[@name='twitter:card']/@content") == ["summary"]


# --- Headers and costs ---


def test_an_anonymous_visit_leaves_no_cookie_and_no_session(ada: User) -> None:
    client = Client(headers={"User-Agent": "A browser"})
    response = client.get("/ada")
    assert response.cookies == {}
    assert not Session.objects.exists()
    assert response.headers["Cache-Control"] == "private, no-cache"


def test_a_page_that_did_not_change_is_not_sent_again(ada: User) -> None:
    first = Client().get("/ada")
    again = Client().get("/ada", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    policy = "Content-Security-Policy"
    assert again.headers[policy] == first.headers[policy]  # a browser renews what it kept by these
    change(ada, description="Something else")
    assert Client().get("/ada", headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


@pytest.mark.parametrize("method", ["post", "delete", "options"])
def test_a_page_is_only_read(ada: User, method: str) -> None:
    response = getattr(Client(), method)("/ada")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


def test_other_origins_of_uploads_and_assets_are_let_in(ada: User, settings: Any) -> None:
    settings.UPLOAD_CDN_URL, settings.ASSET_URL = "https://cdn.example/u", "https://art.example"
    shown(ada)
    response = Client().get("/ada")
    policy = response.headers["Content-Security-Policy"]
    assert "img-src 'self' data: https://cdn.example https://art.example;" in policy
    assert policy.endswith("media-src 'self' https://cdn.example https://art.example")
    sources = page_of(response).xpath("//main//img/@src[not(starts-with(., 'data:'))]")
    assert {source.partition("/files/")[0] for source in sources} == {
        "https://cdn.example/u",
        "https://art.example/badges/standard/views-2.svg",
    }


def _statements(path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert Client().get(path).status_code == 200
    return len(captured)


@pytest.mark.embedded
def test_a_page_is_one_statement_and_its_comments_another(ada: User) -> None:
    """A robot's request: nothing is counted. 1: the user with the document. 2: the comments, where there are any."""
    assert _statements("/ada") == 2
    change(ada, settings={"commentsSettings": {"enabled": False}})
    assert _statements("/ada") == 1
    UserFactory(username="bare")
    assert _statements("/bare") == 1


def test_the_statements_do_not_grow_with_what_is_shown(ada: User) -> None:
    before = _statements("/ada")
    for number in range(3):
        LinkFactory(profile=main_profile(ada))
        CommentFactory(user=ada)
        SectionFactory(profile=main_profile(ada), config={"content": f"Text {number}"})
    shown(ada)
    assert _statements("/ada") == before


def test_a_member_gets_a_page_of_their_own_that_keeps_the_rules(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    response = client.get("/ada")
    assert problems_of(response) == []
    assert "Sign out" in page_of(response).text_content()
    assert "Cookie" in response.headers["Vary"]
    assert response.headers["Cache-Control"] == "private, no-cache, no-store"  # it has the token of a form
