"""Links that owners mark as their own pages: rel="me" on the profile, and JSON-LD for search engines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from lookup.models import Link, ProfileDocument
from lookup.transfer import own
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.profile_pages import change
from tests.pages.markup import page_of, problems_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]

OWN = "https://social.example/@ada?x=1&y=2"
COUNTED = f"/Ada/links/{'b' * 32}"


@pytest.fixture
def ada(operator: User) -> User:
    user = UserFactory(username="Ada", display_name="Ada L.")
    profile = make.main_profile(user)
    make.LinkFactory(profile=profile, id="a" * 32, title="Social", url=OWN, is_own=True)
    make.LinkFactory(profile=profile, id="b" * 32, title="Friend", url="https://friend.example/")
    make.shown(user)
    return user


def verified(response: Any) -> list[str]:
    """The addresses that a verifier of rel="me" finds (https://microformats.org/wiki/rel-me). `response`: of a page."""
    found = page_of(response).xpath("//a[@rel] | //link[@rel]")
    return [one.get("href") for one in found if "me" in one.get("rel").split()]


def data_of(response: Any) -> Any:
    """The JSON-LD of a page. `response`: of the test client."""
    (block,) = page_of(response).xpath("//script[@type='application/ld+json']/text()")
    return json.loads(block)


def test_a_marked_link_has_its_own_address_and_the_others_are_counted(ada: User) -> None:
    response = Client().get("/Ada")
    assert verified(response) == [OWN]
    links = page_of(response).xpath("//a[@class='link-card']")
    assert [(link.get("href"), link.get("rel")) for link in links] == [
        (OWN, "me noopener"),
        (COUNTED, "nofollow noopener ugc"),
    ]
    assert Client().get(f"/Ada/links/{'a' * 32}").headers["Location"] == OWN  # pages that were kept lead on


def test_the_mark_is_taken_back_at_once(ada: User) -> None:
    assert verified(Client().get("/Ada")) == [OWN]
    Link.objects.filter(pk="a" * 32).update(is_own=False)
    make.shown(ada)
    assert verified(Client().get("/Ada")) == []


@pytest.mark.parametrize(
    "values",
    [
        {"url": "mailto:ada@social.example"},
        {"url": "javascript:alert(1)"},
        {"url": OWN, "is_text": True},
        {"url": OWN, "is_active": False},
    ],
)
def test_only_a_shown_link_to_a_web_address_is_marked(ada: User, values: dict[str, Any]) -> None:
    Link.objects.filter(pk="a" * 32).update(**values)
    make.shown(ada)
    assert verified(Client().get("/Ada")) == []
    assert "sameAs" not in data_of(Client().get("/Ada"))["mainEntity"]


def test_no_answer_of_the_api_says_which_links_are_marked(ada: User) -> None:
    (document,) = ProfileDocument.objects.filter(user=ada)
    assert json.loads(document.own_links) == ["a" * 32]
    before = document.links
    Link.objects.filter(pk="a" * 32).update(is_own=False)
    make.shown(ada)
    document.refresh_from_db()
    assert (document.links, document.own_links) == (before, "[]")
    assert b"own" not in own.exported(ada).lower()


def test_an_import_of_the_own_export_keeps_the_marks(ada: User) -> None:
    text = own.exported(ada).replace(b'"Social"', b'"Renamed"')
    outcome = own.look(user=ada, text=text)
    own.restore(user=ada, text=text, digest=outcome.changes.digest, by=ada)
    (link,) = Link.objects.filter(title="Renamed")
    assert link.is_own


def test_search_engines_read_who_it_is(ada: User) -> None:
    change(ada, description="Poet of numbers")
    response = Client().get("/Ada")
    assert problems_of(response) == []
    data, page = data_of(response), f"{settings.BASE_URL}/Ada"
    assert data == {
        "@context": "https://schema.org",
        "@type": "ProfilePage",
        "url": page,
        "dateCreated": data["dateCreated"],
        "mainEntity": {
            "@type": "Person",
            "url": page,
            "name": "Ada L.",
            "alternateName": "Ada",
            "identifier": str(ada.uid),
            "description": "Poet of numbers",
            "sameAs": [OWN],
        },
    }


def test_a_text_cannot_end_the_block_of_data(ada: User) -> None:
    hostile = "</script><script>alert(1)</script><!-- &amp;"
    change(ada, display_name=hostile, description=hostile)
    response = Client().get("/Ada")
    assert problems_of(response) == []
    assert data_of(response)["mainEntity"]["name"] == hostile
    (script,) = page_of(response).xpath("//script[@type='application/ld+json']")
    assert not set(script.text) & set("<>&")
