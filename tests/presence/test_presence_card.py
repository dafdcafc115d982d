"""The card of live presence on the profile page: what it shows, what its owner hides, and what it never costs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from django.utils import timezone

from presence.store.database_cache import PresenceDatabaseCache
from presence.store.store import PresenceStore
from tests.factories.lookup import AliasRowFactory, ProfileFactory, shown
from tests.lookup import statements
from tests.lookup.profile_pages import change, page, text
from tests.pages.markup import page_of, problems_of
from tests.presence import card_people
from tests.presence.card_people import (
    CARD,
    CHAT_CDN,
    CHAT_ID,
    GAME,
    HASH,
    MEMBER,
    MUSIC,
    ONLINE,
    card,
    linked,
    say,
    words,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def chat(settings: Any) -> None:
    card_people.have_chat_server(settings)


def test_the_card_says_how_the_owner_is(store: PresenceStore) -> None:
    linked(left="Right now", right="Come and say hello")
    say(store, presence=ONLINE)
    found = card()
    assert text(found) == (
        "Right now Come and say hello Ada of the harbour Server tag: PINE Online "
        "🫖 Kettle is on Listening to Spotify Slow Train North Velvet Ferry"
    )
    assert found.xpath(".//img/@src") == [
        "/static/status/online.png",
        "/static/badges/chat/earlysupporter.svg",
        "/static/badges/chat/boosted.svg",
    ]
    assert found.xpath(".//ul//img/@alt") == found.xpath(".//ul/li/@title") == ["Early Supporter", "Server Booster"]
    assert found.xpath(".//*[@title='Night Timetable']")
    assert problems_of(Client().get("/ada")) == []


STATUSES: list[tuple[dict[str, Any] | None, str]] = [
    ({"client_status": {"mobile": "online"}}, "Online"),
    ({"client_status": {"web": "idle"}}, "Idle"),
    ({"client_status": {"desktop": "dnd"}}, "Do not disturb"),
    ({"client_status": {"desktop": "dnd"}, "activities": [{"type": 1, "name": "Beacon"}]}, "Streaming"),
    ({"client_status": {}}, "Offline"),
    (None, "Offline"),
]


@pytest.mark.parametrize(("presence", "word"), STATUSES)
def test_a_status_is_said_in_a_word_and_never_by_color_alone(
    store: PresenceStore, presence: dict[str, Any] | None, word: str
) -> None:
    linked()
    say(store, presence=presence)
    assert text(card().xpath(".//*[@class='presence__word']")[0]) == word


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (timedelta(seconds=20), "Offline, last online just now"),
        (timedelta(hours=3, minutes=20), "Offline, last online 3 hours ago"),
        (timedelta(seconds=-20), "Offline"),
        (None, "Offline"),
    ],
)
def test_an_absent_owner_was_last_online_some_time_ago(
    store: PresenceStore, before: timedelta | None, said: str
) -> None:
    linked()
    say(store, last_online=None if before is None else timezone.now() - before)
    assert text(card().xpath(".//*[@class='presence__status']")[0]) == said


ACTIVITIES: list[tuple[dict[str, Any], str]] = [
    (GAME, "Playing Lighthouse On the cliff"),
    (MUSIC, "Listening to Spotify Slow Train North Velvet Ferry"),
    ({"type": 1, "name": "Beacon", "details": "Drawing maps"}, "Streaming on Beacon Drawing maps"),
    ({"type": 3, "name": "A film"}, "Watching A film"),
    ({"type": 2, "name": "", "details": "A song"}, "Listening A song"),
]


@pytest.mark.parametrize(("activity", "said"), ACTIVITIES)
def test_an_activity_is_said_as_a_sentence(store: PresenceStore, activity: dict[str, Any], said: str) -> None:
    linked()
    say(store, presence={"activities": [activity]})
    assert text(card().xpath(".//*[@class='presence__doing']")[0]) == said


@pytest.mark.parametrize(
    ("member", "name"),
    [
        (MEMBER, "Ada of the harbour"),
        ({**MEMBER, "nick": None}, "Ada L."),
        ({"nick": " ", "user": {"username": "ada.chats"}}, "ada.chats"),
        ({}, str(CHAT_ID)),
    ],
)
def test_the_name_is_the_one_of_the_chat_server(store: PresenceStore, member: dict[str, Any], name: str) -> None:
    linked()
    say(store, member=member)
    assert text(card().xpath(".//*[@class='presence__name']/span[1]")[0]) == name


HIDDEN: list[tuple[dict[str, Any], str]] = [
    ({"status": False}, ".//*[@class='presence__status' or @class='presence__says']"),
    ({"clan": False}, ".//*[@class='presence__clan']"),
    ({"badges": False}, ".//*[@class='presence__badges']"),
    ({"image": False}, ".//*[starts-with(@class, 'presence__artwork')]"),
    ({"details": False}, ".//*[@class='presence__title' or @class='presence__line' or @title='Night Timetable']"),
]


@pytest.mark.parametrize(("wanted", "hidden"), HIDDEN)
def test_what_the_owner_turned_off_is_not_there(store: PresenceStore, wanted: dict[str, Any], hidden: str) -> None:
    ada = linked()
    say(store, presence=ONLINE)
    assert card().xpath(hidden)
    change(ada, settings={"presenceSettings": wanted})
    assert card().xpath(hidden) == []


# --- Pictures ---


def test_without_a_mirrored_picture_nothing_comes_from_the_chat_platform(store: PresenceStore) -> None:
    linked()
    emoji = {"type": 4, "name": "", "state": "Hi", "emoji": {"id": "268473310000000011", "name": "wave"}}
    say(store, presence={"activities": [emoji, GAME]})
    response = Client().get("/ada")
    assert CHAT_CDN not in response.content.decode()
    assert CHAT_CDN not in response.headers["Content-Security-Policy"]


def test_a_profile_that_mirrors_its_picture_shows_those_of_its_cdn_and_of_no_other(store: PresenceStore) -> None:
    ada = linked()
    change(ada, settings={"avatarSettings": {"mirrorChat": True}})
    emoji = {"type": 4, "name": "", "state": "Hi", "emoji": {"id": "268473310000000011", "name": "wave"}}
    say(store, presence={"client_status": {"web": "online"}, "activities": [emoji, GAME]})
    response = Client().get("/ada")
    assert f"img-src 'self' data: {CHAT_CDN};" in response.headers["Content-Security-Policy"]
    (found,) = page_of(response).xpath(CARD)
    assert found.xpath(".//img/@src")[:-2] == [
        f"{CHAT_CDN}/avatars/{CHAT_ID}/{HASH}.png",
        f"{CHAT_CDN}/avatar-decoration-presets/a_{HASH}.png",
        "/static/status/online.png",
        f"{CHAT_CDN}/emojis/268473310000000011.png",
        f"{CHAT_CDN}/app-assets/268473310000000009/268473310000000010.png",
    ]
    assert {image.get("referrerpolicy") for image in found.xpath(f".//img[starts-with(@src, '{CHAT_CDN}')]")} == {
        "no-referrer"
    }
    change(ada, settings={"presenceSettings": {"decoration": False}})
    assert not card().xpath(".//img[contains(@src, 'avatar-decoration')]")
    say(store, presence={"activities": [MUSIC]})
    assert "i.scdn.co" not in Client().get("/ada").content.decode()


# --- Whose card ---


def test_an_alias_with_a_profile_of_its_own_shows_the_card_of_its_user(store: PresenceStore) -> None:
    ada = linked()
    own = ProfileFactory(user=ada, settings={"presenceSettings": {"left": "From afar"}})
    AliasRowFactory(name__user=ada, name__name="Other", redirects=False, profile=own)
    shown(ada)
    say(store)
    assert words("/Other") == "From afar Ada of the harbour Server tag: PINE Offline"
    assert page("/other").xpath("//@data-presence-card") == ["/presence/card/Other"]


@pytest.mark.parametrize("lacks", ["a linked account", "the owner's wish", "a chat server"])
def test_there_is_no_place_for_a_card_without(store: PresenceStore, settings: Any, lacks: str) -> None:
    ada = linked(enabled=lacks != "the owner's wish")
    say(store, presence=ONLINE)
    if lacks == "a linked account":
        ada.linked_accounts.all().delete()
    if lacks == "a chat server":
        settings.CHAT = replace(settings.CHAT, guild_id="")
    assert page("/ada").xpath("//@data-presence-card") == []


# --- What it costs ---


@pytest.mark.embedded
def test_a_card_is_one_round_trip_to_the_store(store: PresenceStore) -> None:
    """1: the user with the document. 2: the store, where it lies in the database."""
    ada = linked()
    say(store, presence=ONLINE)
    of_store = ["SELECT presence_storeentry"] * isinstance(caches["presence"], PresenceDatabaseCache)
    assert statements.names(lambda: Client().get("/ada")) == ["SELECT accounts_name", *of_store]
    change(ada, settings={"presenceSettings": {"enabled": False}})
    assert statements.names(lambda: Client().get("/ada")) == ["SELECT accounts_name"]
