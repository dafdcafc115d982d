"""From the Link button to the simulated platforms and back, and what follows everywhere else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Permission, User
from oidc_provider.token import signing
from tests.accounts import linking_pages
from tests.accounts.linking_pages import LINK_CHAT, LINK_SCROBBLER, PAGE, events, linked, said
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.lookup import answers
from tests.oidc_provider import protocol
from tests.oidc_provider.protocol import App
from tests.presence import outside_pages
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db
ID, HASH = "80351110224678912", "a_8342729096ea3675442027381ff50dfe"
PICTURE = f"https://cdn.chat.example/avatars/{ID}/{HASH}.gif"


@dataclass(frozen=True)
class Person:
    user: User
    browser: Client
    app: App

    def everywhere(self) -> dict[str, Any]:
        """What the rest of the service says of this person's accounts elsewhere."""
        found = answers.user(self.user.username).body["user"]
        by_chat = answers.user(ID, by="chat")
        token = self.app.sign_in(self.browser, "openid connections")["access_token"]
        avatar = Client().get(f"/api/chat/avatar/{self.user.pk}")
        return {
            "chatId": found["chatId"],
            "scrobblerUsername": found["scrobblerUsername"],
            "type=chat": by_chat.body["user"]["username"] if by_chat.status == 200 else by_chat.status,
            "connections": protocol.userinfo(token).json()["connections"],
            "avatar": avatar.headers.get("Location", avatar.status_code),
        }


NOTHING: dict[str, Any] = {
    "chatId": None,
    "scrobblerUsername": None,
    "type=chat": 404,
    "connections": [],
    "avatar": 404,
}


@pytest.fixture
def platform(simulator: Simulator, settings: Settings) -> Simulator:
    """Ada is a member."""
    settings.CHAT_CDN_URL = "https://cdn.chat.example"
    settings.RATE_LIMITS_ENABLED = False
    settings.CHAT = replace(
        settings.CHAT,
        oauth_client_id="268473310000000001",
        oauth_client_secret="simulated",
        oauth_authorize_url=f"{simulator.url}/oauth2/authorize",
    )
    settings.SCROBBLER = replace(
        settings.SCROBBLER,
        api_key="simulated",
        secret="simulated",
        api_url=f"{simulator.url}/scrobbler/2.0/",
        authorize_url=f"{simulator.url}/scrobbler/auth/",
    )
    simulator.add_member(ID, user={"username": "ada", "avatar": HASH})
    return simulator


@pytest.fixture
def person(platform: Simulator) -> Person:
    signing.ensure_signing_key()
    user = UserFactory(username="Ada")
    ApiKeyFactory(secret=answers.LOOKUP_SECRET, permissions=[Permission.LOOKUP_USER.value])
    return Person(user, linking_pages.signed_in(user), App(ApplicationFactory()))


def test_what_is_linked_is_known_everywhere_until_it_is_unlinked(person: Person) -> None:
    assert person.everywhere() == NOTHING

    outside_pages.link(person.browser, LINK_CHAT, member=ID)
    outside_pages.link(person.browser, LINK_SCROBBLER, name="AdaListens")
    assert linked(person.user) == [("CHAT", ID, "ada", PICTURE), ("SCROBBLER", "adalistens", "AdaListens", "")]
    assert person.everywhere() == {
        "chatId": ID,
        "scrobblerUsername": "AdaListens",
        "type=chat": "Ada",
        "connections": [
            {"type": "chat", "id": ID, "name": "ada"},
            {"type": "scrobbler", "id": "adalistens", "name": "AdaListens"},
        ],
        "avatar": PICTURE,
    }

    for slug in ("chat", "scrobbler"):
        assert person.browser.post(f"{PAGE}{slug}/unlink/").status_code == 302
    assert person.everywhere() == NOTHING
    assert events(person.user) == [
        ("linked_account:linked", "CHAT", "Ada"),
        ("linked_account:linked", "SCROBBLER", "Ada"),
        ("linked_account:unlinked", "CHAT", "Ada"),
        ("linked_account:unlinked", "SCROBBLER", "Ada"),
    ]


def test_a_code_that_somebody_else_brings_along_is_not_exchanged(person: Person, platform: Simulator) -> None:
    """The code is good; the state of this session went with another request, whose challenge it does not answer."""
    stolen = outside_pages.sent_back(outside_pages.decide(person.browser.post(LINK_CHAT)["Location"], "allow"))
    state = linking_pages.query_of(person.browser.post(LINK_CHAT))["state"]
    answer = person.browser.get("/accounts/chat/login/callback/", {"state": state, "code": stolen["code"]})
    assert said(person.browser, answer).startswith("The chat platform does not respond correctly")
    assert linked(person.user) == []
