"""The card by itself, as the page's script requests it, and without a known presence."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts.models import User
from presence.store.store import PresenceStore
from tests.factories.accounts import UserFactory
from tests.lookup.profile_pages import change, page, text
from tests.pages.markup import page_of, parsed, problems_of
from tests.presence import card_people
from tests.presence.card_people import CARD, CUSTOM, MEMBER, MUSIC, ONLINE, linked, say, words

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


def test_unknown_banned_and_private_cannot_be_distinguished(store: PresenceStore) -> None:
    private, banned = linked("private"), linked("banned", chat_id=268473310986240009)
    say(store)
    assert ask("private").status_code == 200
    User.objects.filter(pk=private.pk).update(public_api_access=False)
    User.objects.filter(pk=banned.pk).update(is_active=False)
    answers = [ask(name) for name in ("private", "banned", "nobody", "admin")]
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, b"")}
    assert [strict(answer) for answer in answers] == [STRICT] * 4


@pytest.mark.parametrize("method", ["post", "options"])
def test_it_is_only_read(method: str) -> None:
    UserFactory(username="ada")
    response = getattr(Client(enforce_csrf_checks=True), method)("/presence/card/ada")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


def test_a_stale_feed_leaves_an_empty_place(store: PresenceStore) -> None:
    linked()
    say(store, alive_at=timezone.now() - timedelta(seconds=59))
    assert words() is not None
    say(store, alive_at=timezone.now() - timedelta(seconds=61))
    assert words() is None
    (place,) = page("/ada").xpath("//header//div[@data-presence-card]")
    assert (place.get("hidden"), text(place)) == ("", "")


def test_a_store_that_does_not_answer_costs_the_card_and_not_the_page(settings: Any) -> None:
    linked()
    closed = {"BACKEND": "presence.store.redis_cache.PresenceRedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {**settings.CACHES, "presence": closed}
    assert words() is None
    assert Client().get("/presence/card/ada").status_code == 204


HOSTILE = "\x00<b>\ud800\u202e" + "W" * 5000


def test_texts_of_the_platform_are_never_markup_and_never_an_error(store: PresenceStore) -> None:
    linked()
    activity = {**MUSIC, "name": HOSTILE, "details": HOSTILE, "state": HOSTILE, "assets": {"large_text": HOSTILE}}
    guild = {**MEMBER["user"]["primary_guild"], "tag": HOSTILE}
    say(
        store,
        member={"nick": HOSTILE, "user": {**MEMBER["user"], "primary_guild": guild}},
        presence={
            "client_status": {"web": "online"},
            "activities": [{**CUSTOM, "state": HOSTILE, "emoji": {"name": HOSTILE}}, activity],
        },
    )
    response = Client().get("/ada")
    assert problems_of(response) == []
    (found,) = page_of(response).xpath(CARD)
    assert found.xpath(".//b") == []
    assert all(len(part) <= 160 for part in found.xpath(".//text() | .//@title"))
