"""Linking a chat account by OAuth 2: what the platform is asked, what is taken from its answers, and what fails."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import Settings

from accounts import linking
from accounts.models import LinkedAccount, User
from tests.accounts import chat_platform, linking_pages
from tests.accounts.chat_platform import (
    ADA,
    CLIENT_ID,
    HASH,
    ID,
    ME_PATH,
    NOT_ANSWERING,
    SECRET,
    TOKEN_PATH,
    back,
    begun,
    link,
)
from tests.accounts.linking_pages import CHAT_CALLBACK, LINK_CHAT, PAGE, SITE, events, linked, said
from tests.accounts.scripted import Scripted, of_json
from tests.factories.accounts import LinkedAccountFactory, UserFactory

pytestmark = pytest.mark.django_db
CHAT = LinkedAccount.Kind.CHAT
TOO_LATE = "This took too long, or was begun elsewhere. Nothing was changed; try again."


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


def test_the_button_leads_to_the_platform_with_state_and_pkce(browser: Client) -> None:
    answer = browser.post(LINK_CHAT)
    assert linking_pages.place_of(answer) == "https://chat.example/oauth2/authorize"
    query = linking_pages.query_of(answer)
    assert len(query.pop("state")) >= 16
    assert len(query.pop("code_challenge")) == 43
    assert query == {
        "client_id": CLIENT_ID,
        "redirect_uri": f"{SITE}{CHAT_CALLBACK}",
        "response_type": "code",
        "scope": "identify",
        "code_challenge_method": "S256",
    }


def test_nothing_in_the_address_of_the_button_asks_for_more(browser: Client) -> None:
    answer = browser.post(f"{LINK_CHAT}?scope=email&auth_params=prompt%3Dnone&process=login&next=//evil.example/")
    query = linking_pages.query_of(answer)
    assert (query["scope"], "prompt" in query) == ("identify", False)
    assert back(browser, state=query["state"], code="x")["Location"] == PAGE


def test_what_comes_back_is_linked(browser: Client, user: User, platform: Scripted) -> None:
    begun = linking_pages.query_of(browser.post(LINK_CHAT))
    answer = back(browser, state=begun["state"], code="the-code")

    assert said(browser, answer) == "Your chat platform account ada is linked."
    picture = f"https://cdn.chat.example/avatars/{ID}/{HASH}.png"
    assert linked(user) == [("CHAT", ID, "ada", picture)]
    assert events(user) == [("linked_account:linked", "CHAT", "Ada")]
    exchange, question = platform.asked
    verifier = exchange.form.pop("code_verifier")
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    assert digest == begun["code_challenge"]
    assert (exchange.method, exchange.path, "authorization" in exchange.headers) == ("POST", TOKEN_PATH, False)
    assert exchange.form == {
        "grant_type": "authorization_code",
        "code": "the-code",
        "redirect_uri": f"{SITE}{CHAT_CALLBACK}",
        "client_id": CLIENT_ID,
        "client_secret": SECRET,
    }
    asked = (question.method, question.path, question.headers["authorization"], question.form)
    assert asked == ("GET", ME_PATH, "Bearer the-access-token", {})


def test_nothing_of_it_is_kept_elsewhere(browser: Client, user: User, platform: Scripted) -> None:
    platform.replies[ME_PATH] = of_json({**ADA, "email": "chat@example.org", "verified": True})
    link(browser)
    assert (SocialAccount.objects.count(), SocialToken.objects.count()) == (0, 0)
    assert list(EmailAddress.objects.values_list("email", flat=True)) == [user.email]
    user.refresh_from_db()
    assert (user.username, user.email) == ("Ada", "ada@example.org")
    sessions = json.dumps([session.get_decoded() for session in Session.objects.all()])
    assert "the-access-token" not in sessions


@pytest.mark.parametrize(
    ("avatar", "end"),
    [
        (HASH, f"/avatars/{ID}/{HASH}.png"),
        (f"a_{HASH}", f"/avatars/{ID}/a_{HASH}.gif"),
        (None, ""),
        ("", ""),
        (5, ""),
        (["a"], ""),
        ("../../x", ""),
        ("a" * 101, ""),
        ("a\x00", ""),
        ("https://evil.example/x", ""),
    ],
)
def test_the_picture_is_at_the_platforms_cdn(
    browser: Client, user: User, platform: Scripted, avatar: object, end: str
) -> None:
    platform.replies[ME_PATH] = of_json({**ADA, "avatar": avatar})
    link(browser)
    assert linked(user) == [("CHAT", ID, "ada", end and f"https://cdn.chat.example{end}")]


@pytest.mark.parametrize(
    ("name", "kept"),
    [("ada", "ada"), (" A\x00d\ud800a\n", "Ada"), ("é" * 200, "é" * 128), ("<b>", "<b>"), ("👩\u200d💻", "👩\u200d💻")],
)
def test_a_name_loses_what_cannot_be_kept(
    browser: Client, user: User, platform: Scripted, name: str, kept: str
) -> None:
    platform.replies[ME_PATH] = of_json({**ADA, "username": name})
    link(browser)
    assert [row[2] for row in linked(user)] == [kept]
    assert browser.get(PAGE).status_code == 200


@pytest.mark.parametrize("external_id", ["9" * 17, "1" + "0" * 18])
def test_an_id_has_17_to_19_digits(browser: Client, user: User, platform: Scripted, external_id: str) -> None:
    platform.replies[ME_PATH] = of_json({**ADA, "id": external_id})
    link(browser)
    assert [row[1] for row in linked(user)] == [external_id]


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {"id": value}
            for value in (None, int(ID), "", "9" * 16, "9" * 20, "0" * 17, "٩" * 17, f"{ID}\n", [ID], "ada")
        ),
        *({"username": name} for name in (None, "", "  ", "\x00", 5, ["ada"])),
    ],
)
def test_an_account_without_a_good_id_and_a_name_is_not_linked(
    browser: Client, user: User, platform: Scripted, changes: dict[str, object]
) -> None:
    platform.replies[ME_PATH] = of_json({**ADA, **changes})
    assert said(browser, link(browser)) == NOT_ANSWERING
    assert linked(user) == []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"error": "access_denied"}, "You did not allow it at the chat platform. Nothing was changed."),
        ({"error": "server_error", "error_description": "<script>"}, TOO_LATE),
        ({}, TOO_LATE),
    ],
)
def test_a_person_who_comes_back_without_a_code_is_told_why(
    browser: Client, user: User, platform: Scripted, query: dict[str, str], text: str
) -> None:
    assert said(browser, back(browser, state=begun(browser), **query)) == text
    assert (linked(user), platform.asked) == ([], [])


@pytest.mark.parametrize("state", ["", "wrong", "\x01", "x" * 5000])
def test_a_state_that_this_session_did_not_begin_is_refused(
    browser: Client, user: User, platform: Scripted, state: str
) -> None:
    begun(browser)
    assert said(browser, back(browser, state=state, code="the-code")) == TOO_LATE
    assert (linked(user), platform.asked) == ([], [])


def test_the_state_of_another_person_is_refused(browser: Client, user: User, platform: Scripted) -> None:
    state = begun(linking_pages.signed_in(UserFactory()))
    assert said(browser, back(browser, state=state, code="the-code")) == TOO_LATE
    assert (linked(user), platform.asked) == ([], [])


def test_a_state_counts_once(browser: Client, platform: Scripted) -> None:
    state = begun(browser)
    back(browser, state=state, code="the-code")
    platform.asked.clear()
    assert back(browser, state=state, code="another")["Location"] == PAGE
    assert platform.asked == []


@pytest.mark.parametrize(("seconds", "count"), [(590, 1), (610, 0)])
def test_a_state_lives_ten_minutes(browser: Client, user: User, seconds: int, count: int) -> None:
    state = begun(browser)
    with time_machine.travel(timedelta(seconds=seconds)):
        back(browser, state=state, code="the-code")
    assert len(linked(user)) == count


def test_an_account_of_somebody_else_is_refused_and_nothing_is_lost(browser: Client, user: User) -> None:
    other = LinkedAccountFactory(external_id=ID, name="ada")
    linking.link(user=user, kind=CHAT, external_id="9" * 18, name="earlier", by=user)
    assert said(browser, link(browser)) == "This account is linked to another user."
    assert linked(user) == [("CHAT", "9" * 18, "earlier", "")]
    assert linked(other.user) == [("CHAT", ID, "ada", "")]


def test_where_it_is_not_set_up_nothing_begins(browser: Client, user: User, settings: Settings) -> None:
    state = begun(browser)
    settings.CHAT = replace(settings.CHAT, oauth_client_id="")
    text = "Accounts of the chat platform cannot be linked here."
    assert said(browser, browser.post(LINK_CHAT)) == text
    assert said(browser, back(browser, state=state, code="the-code")) == text
    page = browser.get(PAGE)
    assert text in page.content.decode()
    assert LINK_CHAT not in page.content.decode()
    assert "chat.example" not in page["Content-Security-Policy"]


def test_the_button_is_a_post_with_a_token(user: User, platform: Scripted) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    assert browser.post(LINK_CHAT).status_code == 403
    assert browser.get(LINK_CHAT)["Location"] == PAGE
    assert Client().put(LINK_CHAT).status_code == 405
    assert Client().post(CHAT_CALLBACK).status_code == 405
    assert Client().head(CHAT_CALLBACK).status_code == 405
