"""The card of live presence for other sites."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from lookup.editing import aliases
from lookup.page import svg_card
from presence.store.store import PresenceStore
from tests.factories.accounts import UserFactory
from tests.lookup.profile_pages import change
from tests.lookup.test_cards import HEADERS, HOSTILE, is_harmless, shown
from tests.pages.markup import page_of
from tests.presence import card_people
from tests.presence.card_people import CUSTOM, GAME, MUSIC, ONLINE, linked, say

pytestmark = pytest.mark.django_db

NAME = "Ada of the harbour"


@pytest.fixture(autouse=True)
def chat(settings: Any) -> None:
    card_people.have_chat_server(settings)


def ask(query: str = "?size=large", name: str = "ada", **headers: str) -> Any:
    """The test client's response, which Django gives no public type."""
    return Client().get(f"/{name}/presence.svg{query}", headers=headers)


def lines(query: str = "?size=large") -> list[str]:
    return shown(ask(query).content)


def test_it_says_status_custom_status_and_activity(store: PresenceStore) -> None:
    linked()
    say(store, presence=ONLINE)
    response = ask()
    assert (response.status_code, response.headers["Content-Type"]) == (200, "image/svg+xml")
    assert {name: response.headers.get(name) for name in HEADERS} == HEADERS
    whole = [NAME, "Online", "🫖 Kettle is on", "Listening to Spotify", "Slow Train North", "Velvet Ferry"]
    assert [lines(f"?size={size}") for size in ("small", "medium", "large")] == [whole[:2], whole[:5], whole]
    assert is_harmless(response.content)


@time_machine.travel("2026-03-01T12:00:00Z", tick=False)
@pytest.mark.parametrize(
    ("start", "said"),
    [
        (timedelta(seconds=59), []),
        (timedelta(minutes=12), ["For 12\u00a0minutes"]),
        (timedelta(hours=3, minutes=5), ["For 3\u00a0hours, 5\u00a0minutes"]),
        (timedelta(minutes=-5), []),
    ],
)
def test_it_says_how_long_an_activity_has_lasted(store: PresenceStore, start: timedelta, said: list[str]) -> None:
    ada = linked()
    began = {"timestamps": {"start": int((timezone.now() - start).timestamp() * 1000)}}
    say(store, presence={"client_status": {"web": "online"}, "activities": [{**GAME, **began}]})
    assert lines()[2:] == ["Playing Lighthouse", "On the cliff", *(part.replace("\u00a0", " ") for part in said)]
    change(ada, settings={"presenceSettings": {"details": False}})
    assert lines()[2:] == ["Playing Lighthouse"]


@pytest.mark.parametrize("start", [None, "1", True, -1, 0, 1.5, 2**53 - 1, 10**30, {"x": 1}])
def test_a_start_that_is_no_time_is_left_out(store: PresenceStore, start: object) -> None:
    linked()
    say(store, presence={"client_status": {"web": "online"}, "activities": [{**GAME, "timestamps": {"start": start}}]})
    assert lines()[2:] == ["Playing Lighthouse", "On the cliff"]


def test_it_says_when_who_is_offline_was_last_online(store: PresenceStore) -> None:
    linked()
    say(store, last_online=timezone.now() - timedelta(hours=2))
    assert lines() == [NAME, "Offline, last online 2 hours ago"]


def test_an_owner_hides_the_parts(store: PresenceStore) -> None:
    linked(status=False)
    say(store, presence=ONLINE)
    assert lines() == [NAME, "Listening to Spotify", "Slow Train North", "Velvet Ferry"]


def test_an_alias_that_redirects_shows_nothing_of_a_profile_of_its_own(store: PresenceStore) -> None:
    """It may have had a page before: what that profile shows is not what the page shows where the alias leads."""
    ada = linked()
    say(store, presence=ONLINE)
    aliases.add(user=ada, name="Old", redirects=True, has_own_profile=True, by=ada)
    response = ask("?size=small&theme=dark", name="old")
    assert (response.status_code, response.headers["Location"]) == (302, "/ada/presence.svg?theme=dark&size=small")
    change(ada, settings={"presenceSettings": {"enabled": False}})
    for name in ("ada", "old"):
        assert Client().get(f"/{name}/presence.svg", follow=True).status_code == 404
        assert Client().get(f"/presence/card/{name}").status_code == 204


def test_it_takes_one_query_and_no_cookie_and_an_unchanged_one_is_304(store: PresenceStore) -> None:
    ada, client = linked(), Client()
    client.force_login(ada)
    say(store, presence=ONLINE)
    ask()
    with CaptureQueriesContext(connection) as captured:
        response = client.get("/ada/presence.svg")
    queries = [query["sql"] for query in captured if "presence_cache" not in query["sql"]]
    assert (len(queries), response.cookies) == (1, {})
    assert "Cookie" not in response.headers.get("Vary", "")
    unchanged = ask("", If_None_Match=response.headers["ETag"])
    assert (unchanged.status_code, unchanged.headers["Cache-Control"]) == (304, "public, max-age=60")


def test_a_presence_that_is_not_known_is_said_and_not_guessed(store: PresenceStore) -> None:
    linked()
    unknown = ["ada", "Presence is not known at the moment"]
    assert lines() == unknown
    say(store, presence=ONLINE, alive_at=timezone.now() - timedelta(seconds=61))
    assert lines() == unknown
    say(store, presence=ONLINE)
    assert lines()[1] == "Online"


def test_a_store_that_does_not_answer_costs_the_presence_and_not_the_picture(settings: Any) -> None:
    linked()
    closed = {"BACKEND": "presence.store.redis_cache.PresenceRedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {**settings.CACHES, "presence": closed}
    assert lines() == ["ada", "Presence is not known at the moment"]


def test_whatever_shows_no_presence_has_one_answer(store: PresenceStore) -> None:
    UserFactory(username="unlinked")
    linked("switched-off", chat_id=268473310986240010, enabled=False)
    private, banned = linked("private"), linked("banned", chat_id=268473310986240009)
    say(store)
    assert ask(name="private").status_code == 200
    User.objects.filter(pk=private.pk).update(public_api_access=False)
    User.objects.filter(pk=banned.pk).update(is_active=False)
    answers = [ask(name=name) for name in ("private", "banned", "nobody", "unlinked", "switched-off")]
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, b"Not found.\n")}
    assert [{name: answer.headers.get(name) for name in HEADERS} for answer in answers] == [HEADERS] * 5


def test_without_a_chat_server_there_is_none(store: PresenceStore, settings: Any) -> None:
    linked()
    say(store)
    settings.CHAT = replace(settings.CHAT, guild_id="")
    assert ask().status_code == 404


def test_texts_of_the_platform_are_never_markup(store: PresenceStore) -> None:
    linked()
    activity = {**MUSIC, "name": HOSTILE * 20, "details": HOSTILE, "state": "W" * 5000}
    custom = {**CUSTOM, "state": HOSTILE, "emoji": {"name": HOSTILE}}
    say(
        store, member={"nick": HOSTILE}, presence={"client_status": {"web": "online"}, "activities": [custom, activity]}
    )
    for size in svg_card.SIZES:
        response = ask(f"?size={size}")
        assert (response.status_code, is_harmless(response.content)) == (200, True)


def test_the_share_page_offers_it_where_the_owner_shows_presence(store: PresenceStore) -> None:
    linked()
    pictures = "//img[@class='embed-card']/@src"
    assert page_of(Client().get("/ada/share")).xpath(pictures) == ["/ada/card.svg", "/ada/presence.svg"]
    UserFactory(username="ben")
    assert page_of(Client().get("/ben/share")).xpath(pictures) == ["/ben/card.svg"]
