"""The card of live presence where nobody knows how the owner is, and where the platform tells strange things."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from presence.store import PresenceStore
from tests.lookup.profile_pages import page, text
from tests.pages.markup import page_of, problems_of
from tests.presence import card_people
from tests.presence.card_people import CARD, CHAT_ID, CUSTOM, MEMBER, MUSIC, ONLINE, linked, say, words

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def chat(settings: Any) -> None:
    card_people.have_chat_server(settings)


def test_a_stale_feed_leaves_an_empty_place(store: PresenceStore) -> None:
    linked()
    say(store, alive_at=timezone.now() - timedelta(seconds=59))
    assert words() is not None
    say(store, alive_at=timezone.now() - timedelta(seconds=61))
    assert words() is None
    (place,) = page("/ada").xpath("//header//div[@data-presence-card]")
    assert (place.get("hidden"), text(place)) == ("", "")


@pytest.mark.parametrize("chat_id", ["268473310986240002", "x", "9" * 19])
def test_an_account_of_which_nothing_is_known_leaves_an_empty_place(store: PresenceStore, chat_id: str) -> None:
    ada = linked()
    ada.linked_accounts.update(external_id=chat_id)
    say(store, presence=ONLINE)
    assert words() is None
    assert Client().get("/ada").status_code == 200


def test_a_store_that_does_not_answer_costs_the_card_and_not_the_page(settings: Any) -> None:
    linked()
    closed = {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
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


@pytest.mark.parametrize(
    "presence",
    [{"activities": "x"}, {"activities": [None, 7, {"type": "x"}, {"type": 10**30}]}, {"client_status": [1]}, {}],
)
def test_a_damaged_presence_is_still_a_card(store: PresenceStore, presence: dict[str, Any]) -> None:
    linked()
    say(store, member={"user": [1], "nick": 3}, presence=presence)
    assert (words() or "").startswith(f"{CHAT_ID} Offline")
