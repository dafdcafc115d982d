"""Linking while the chat platform is down, slow or talks nonsense: the person is told, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.test import Client
from pytest_django import Settings

from accounts import link_flow, linking
from accounts.models import LinkedAccount, User
from tests.accounts import chat_platform, linking_pages
from tests.accounts.chat_platform import ME_PATH, NOT_ANSWERING, TOKEN_PATH, link
from tests.accounts.linking_pages import linked, said
from tests.accounts.scripted import BROKEN, Reply, Scripted, of_json
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db
CHAT = LinkedAccount.Kind.CHAT


@pytest.fixture
def platform(settings: Settings) -> Iterator[Scripted]:
    with chat_platform.running(settings) as platform:
        yield platform


@pytest.fixture
def user(db: None) -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def browser(user: User, platform: Scripted) -> Client:
    return linking_pages.signed_in(user)


@pytest.mark.parametrize("path", [TOKEN_PATH, ME_PATH])
@pytest.mark.parametrize("reply", [pytest.param(reply, id=name) for name, reply in BROKEN.items()])
def test_an_outage_is_said_and_changes_nothing(
    browser: Client, user: User, platform: Scripted, path: str, reply: Reply
) -> None:
    linking.link(user=user, kind=CHAT, external_id="9" * 18, name="earlier", by=user)
    platform.replies[path] = reply
    assert said(browser, link(browser)) == NOT_ANSWERING
    assert linked(user) == [("CHAT", "9" * 18, "earlier", "")]


@pytest.mark.parametrize("token", [5, None, "", ["x"], "a b", "a\r\nX: y", "a\x00", "ä", "\ud800", "x" * 5000])
def test_a_token_that_is_none_is_an_outage(browser: Client, platform: Scripted, token: object) -> None:
    platform.replies[TOKEN_PATH] = of_json({"access_token": token})
    assert said(browser, link(browser)) == NOT_ANSWERING


def test_a_platform_that_is_silent_is_not_waited_for_long(
    browser: Client, platform: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_flow, "SECONDS", 0.1)
    platform.replies[ME_PATH] = Reply(200, b"", is_silent=True)
    assert said(browser, link(browser)) == NOT_ANSWERING


def test_a_platform_that_is_not_there_is_an_outage(browser: Client, settings: Settings) -> None:
    settings.CHAT = replace(settings.CHAT, api_url="http://127.0.0.1:9/api/v10")
    assert said(browser, link(browser)) == NOT_ANSWERING


def test_nothing_secret_is_logged(browser: Client, platform: Scripted, caplog: pytest.LogCaptureFixture) -> None:
    platform.replies[ME_PATH] = of_json({"the-answer": "the-access-token"}, 401)
    link(browser)
    assert [record.getMessage() for record in caplog.records] == [
        "The chat platform gave no account to link: status 401"
    ]
