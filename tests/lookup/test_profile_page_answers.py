"""What the profile page tells machines: its head, its headers, and what an answer costs."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories.accounts import UserFactory
from tests.factories.lookup import AssetFactory, CommentFactory, LinkFactory, SectionFactory, main_profile, shown
from tests.lookup.profile_pages import ADDRESS, UPLOADS, change, filled, page
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db


def test_messengers_and_search_engines_get_whole_addresses() -> None:
    filled()
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
        "profile:username": "Ada",
        "twitter:card": "summary_large_image",
        "twitter:title": "Ada Lovelace (@Ada)",
        "twitter:description": "Poet of numbers",
        "twitter:image": banner,
    }


def test_the_owner_may_choose_title_summary_colour_icon_and_picture() -> None:
    ada = UserFactory(username="ada")
    chosen = {"metadataSettings": {"title": "My own title", "description": "word " * 100, "color": "#123456"}}
    assets = {name: AssetFactory(owner=ada, path=f"files/{name}.png") for name in ("favicon", "card")}
    change(ada, settings=chosen, metadata_favicon=assets["favicon"], metadata_banner=assets["card"])
    found = page("/ada")
    assert found.findtext(".//title") == "My own title · Hearth"
    (summary,) = found.xpath("//meta[@name='description']/@content")
    assert (len(summary), summary[-5:]) == (200, "word…")
    assert found.xpath("//meta[@name='theme-color']/@content") == ["#123456"]
    assert found.xpath("//link[@rel='icon']/@href") == [f"{UPLOADS}/files/favicon.png"]
    assert found.xpath("//meta[@property='og:image']/@content") == [f"{ADDRESS}{UPLOADS}/files/card.png"]


# --- Headers and costs ---


def test_an_anonymous_visit_leaves_no_cookie_and_no_session() -> None:
    filled()
    client = Client(headers={"User-Agent": "A browser"})
    response = client.get("/ada")
    assert response.cookies == {}
    assert not Session.objects.exists()
    assert response.headers["Cache-Control"] == "private, no-cache"


def test_a_page_that_did_not_change_is_not_sent_again() -> None:
    ada = filled()
    first = Client().get("/ada")
    again = Client().get("/ada", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    policy = "Content-Security-Policy"
    assert again.headers[policy] == first.headers[policy]  # a browser renews what it kept by these
    change(ada, description="Something else")
    assert Client().get("/ada", headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


def test_head_answers_as_get_without_a_body() -> None:
    filled()
    head, get = Client().head("/ada"), Client().get("/ada")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["ETag"] == get.headers["ETag"]


@pytest.mark.parametrize("method", ["post", "put", "delete", "options", "patch"])
def test_a_page_is_only_read(method: str) -> None:
    UserFactory(username="ada")
    response = getattr(Client(), method)("/ada")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


def test_other_origins_of_uploads_and_assets_are_let_in(settings: Any) -> None:
    settings.UPLOAD_CDN_URL, settings.ASSET_URL = "https://cdn.example/u", "https://art.example"
    filled()
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


def test_a_page_is_one_statement_and_its_comments_another() -> None:
    """A robot's request: nothing is counted. 1: the user with the document. 2: the comments, where there are any."""
    ada = filled()
    assert _statements("/ada") == 2
    change(ada, settings={"commentsSettings": {"enabled": False}})
    assert _statements("/ada") == 1
    UserFactory(username="bare")
    assert _statements("/bare") == 1


def test_the_statements_do_not_grow_with_what_is_shown() -> None:
    ada = filled()
    before = _statements("/ada")
    for number in range(100):
        LinkFactory(profile=main_profile(ada))
        CommentFactory(user=ada)
        SectionFactory(profile=main_profile(ada), config={"content": f"Text {number}"})
    shown(ada)
    assert _statements("/ada") == before


def test_a_member_gets_a_page_of_their_own_that_keeps_the_rules() -> None:
    ada, client = filled(), Client()
    client.force_login(ada)
    response = client.get("/ada")
    assert problems_of(response) == []
    assert "Sign out" in page_of(response).text_content()
    assert "Cookie" in response.headers["Vary"]
    assert response.headers["Cache-Control"] == "private, no-cache"
