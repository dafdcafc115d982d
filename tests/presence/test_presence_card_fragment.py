"""The card by itself, as the page's script asks for it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts.models import User
from presence.store import PresenceStore
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AliasRowFactory, ProfileFactory, shown
from tests.lookup.profile_pages import change
from tests.pages.markup import page_of, parsed
from tests.presence import card_people
from tests.presence.card_people import CHAT_CDN, ONLINE, linked, say

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def chat(settings: Any) -> None:
    card_people.have_chat_server(settings)


STRICT = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex, nofollow",
    "X-Content-Type-Options": "nosniff",
}


def ask(name: str = "ada") -> Any:
    """The test client's response, which Django gives no public type."""
    return Client().get(f"/presence/card/{name}")


def strict(response: Any) -> dict[str, str | None]:
    """`response`: as `ask` gives it."""
    return {name: response.headers.get(name) for name in STRICT}


def test_the_fragment_is_the_card_of_the_page(store: PresenceStore) -> None:
    linked(left="Right now")
    say(store, presence=ONLINE)
    response = ask()
    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert strict(response) == STRICT
    (on_page,) = page_of(Client().get("/ada")).xpath("//div[@data-presence-card]/div")
    (alone,) = parsed(response.content.decode()).xpath("//body/div")
    assert normalized(alone) == normalized(on_page)


def normalized(element: Any) -> Any:
    """The element with its attributes and texts, without the page's indentation (lxml's types do not know HTML)."""
    inner = [normalized(child) for child in element]
    return (element.tag, dict(element.attrib), " ".join((element.text or "").split()), inner)


def test_it_needs_no_session_and_makes_none(store: PresenceStore) -> None:
    ada, client = linked(), Client()
    say(store)
    assert client.get("/presence/card/ada").cookies == {}
    assert not Session.objects.exists()
    client.force_login(ada)
    response = client.get("/presence/card/ada")
    assert (response.status_code, response.cookies) == (200, {})
    assert "Vary" not in response.headers


def test_an_account_that_nothing_is_known_of_has_no_card(store: PresenceStore) -> None:
    ada = linked()
    no_card = ask()
    assert (no_card.status_code, no_card.content, strict(no_card)) == (204, b"", STRICT)
    say(store, alive_at=timezone.now() - timedelta(seconds=61))
    assert ask().status_code == 204
    say(store)
    assert ask().status_code == 200
    change(ada, settings={"presenceSettings": {"enabled": False}})
    assert ask().status_code == 204


def test_unknown_banned_and_private_cannot_be_told_apart(store: PresenceStore) -> None:
    private, banned = linked("private"), linked("banned", chat_id=268473310986240009)
    say(store)
    assert ask("private").status_code == 200
    User.objects.filter(pk=private.pk).update(public_api_access=False)
    User.objects.filter(pk=banned.pk).update(is_active=False)
    answers = [ask(name) for name in ("private", "banned", "nobody", "admin")]
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, b"")}
    assert [strict(answer) for answer in answers] == [STRICT] * 4


def test_aliases_show_the_card_of_their_user(store: PresenceStore) -> None:
    ada = linked()
    own = ProfileFactory(user=ada, settings={"presenceSettings": {"left": "From afar"}})
    AliasRowFactory(name__user=ada, name__name="Other", redirects=False, profile=own)
    AliasRowFactory(name__user=ada, name__name="Moved", redirects=True)
    shown(ada)
    say(store)
    assert "From afar" in ask("other").content.decode()
    assert (ask("MOVED").status_code, ask("MOVED").content) == (200, ask("ada").content)


@pytest.mark.parametrize("method", ["post", "options"])
def test_it_is_only_read(method: str) -> None:
    UserFactory(username="ada")
    response = getattr(Client(enforce_csrf_checks=True), method)("/presence/card/ada")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("name", ["", "a%00", "a%2fb", "a%0a", "a/"])
def test_what_is_no_name_is_not_found(name: str) -> None:
    UserFactory(username="a")
    assert ask(name).status_code == 404


def test_pictures_of_the_chat_platform_follow_the_page(store: PresenceStore) -> None:
    ada = linked()
    say(store)
    assert CHAT_CDN not in ask().content.decode()
    change(ada, settings={"avatarSettings": {"mirrorChat": True}})
    assert CHAT_CDN in ask().content.decode()
    change(ada, settings={"avatarSettings": {"mirrorChat": True, "enabled": False}})
    assert CHAT_CDN not in ask().content.decode()
