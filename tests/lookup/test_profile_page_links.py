"""The links of the public profile page: where they lead, and which are followed."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import User
from lookup.models import Link
from lookup.page import url_policy
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.profile_pages import filled, page, text

pytestmark = pytest.mark.django_db

ID = "a" * 32


@pytest.fixture(scope="module")
def ada(module_db: None) -> User:
    """With something of everything; what a test changes is rolled back."""
    return filled()


def follow(name: str = "ada", link_id: str = ID) -> tuple[int, str]:
    response = Client().get(f"/{name}/links/{link_id}")
    return response.status_code, response.headers.get("Location", "")


def test_a_link_on_the_page_says_where_it_leads(ada: User) -> None:
    links = page("/ada").xpath("//ul[@aria-label='Links']/li/*")
    assert [(link.tag, link.get("href"), link.get("title"), link.get("rel"), text(link)) for link in links] == [
        ("a", f"/Ada/links/{ID}", "https://notes.example/ada", "nofollow noopener ugc", "Notebook notes.example"),
        (
            "a",
            f"/Ada/links/{'b' * 32}",
            "mailto:ada@letters.example",
            "nofollow noopener ugc",
            "Letters ada@letters.example",
        ),
        ("div", None, None, None, "Number AE-1843"),
    ]


@pytest.mark.parametrize("method", ["get", "head"])
def test_a_link_leads_on_without_a_referrer(ada: User, method: str) -> None:
    response = getattr(Client(), method)(f"/ADA/links/{ID}")
    assert (response.status_code, response.headers["Location"]) == (302, "https://notes.example/ada")
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert response.cookies == {}


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("https://bücher.example/ä?q=ö#ß", "https://b%C3%BCcher.example/%C3%A4?q=%C3%B6#%C3%9F"),
        ("https://x.example/" + "ß" * 1900, "https://x.example/" + "%C3%9F" * 1900),
        ("HTTPS://X.example/?a=%20&b='\"<>", "HTTPS://X.example/?a=%20&b='%22%3C%3E"),
    ],
)
def test_an_address_of_any_letters_is_sent_as_ascii(url: str, location: str) -> None:
    eve = UserFactory(username="eve")
    make.LinkFactory(profile=make.main_profile(eve), id="e" * 32, url=url)
    make.shown(eve)
    assert follow("eve", "e" * 32) == (302, location)


@pytest.mark.parametrize("link_id", ["c" * 32, "d" * 32, "e" * 32, "A" * 32, "a" * 33, "%00"])
def test_texts_inactive_links_and_unknown_ones_are_404(ada: User, link_id: str) -> None:
    assert follow(link_id=link_id) == (404, "")


def test_a_text_is_not_followed_even_where_it_is_an_address(ada: User) -> None:
    Link.objects.filter(pk="c" * 32).update(url="https://text.example/")
    make.shown(ada)
    assert "https://text.example/" in text(page("/ada"))
    assert follow(link_id="c" * 32) == (404, "")


def test_a_link_of_somebody_else_is_404(ada: User) -> None:
    UserFactory(username="ben")
    assert follow("ben") == follow("nobody") == (404, "")


@pytest.mark.parametrize(
    ("hidden", "said"),
    [({"public_api_access": False}, "This profile is private."), ({"is_active": False}, "Page not found")],
)
def test_a_link_of_a_profile_that_is_not_shown_is_404(ada: User, hidden: dict[str, bool], said: str) -> None:
    User.objects.filter(pk=ada.pk).update(**hidden)
    response = Client().get(f"/ada/links/{ID}")
    assert response.status_code == 404
    assert said in response.content.decode()
    assert "notes.example" not in response.content.decode()


def test_an_alias_has_the_links_of_the_profile_that_it_shows(ada: User) -> None:
    own = make.ProfileFactory(user=ada)
    make.LinkFactory(profile=own, id="e" * 32, url="https://other.example/")
    make.AliasRowFactory(name__user=ada, name__name="other", redirects=False, profile=own)
    make.AliasRowFactory(name__user=ada, name__name="same", redirects=False)
    make.shown(ada)
    assert follow("other", "e" * 32) == (302, "https://other.example/")
    assert follow("same", "e" * 32) == follow("other", ID) == (404, "")
    assert follow("same", ID) == (302, "https://notes.example/ada")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://notes.example/ada", "notes.example"),
        ("https://user:secret@NOTES.example:8443/", "notes.example"),
        ("https://good.example@evil.example/", "evil.example"),
        ("https://\u0430pple.example/", "xn--pple-43d.example"),
        ("https://[2001:db8::1]/", "2001:db8::1"),
        ("https://" + "ä" * 70 + ".example/", "ä" * 70 + ".example"),
        ("mailto:ada@letters.example?subject=x", "ada@letters.example"),
    ],
)
def test_a_host_is_shown_as_what_it_is(url: str, host: str) -> None:
    assert url_policy.host(url) == host
