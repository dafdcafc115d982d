"""Linking a chat account by OAuth 2: requests to the platform, its answers, failures. No one signs in or up by it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.socialaccount.providers.base import ProviderException
from django.contrib.sessions.models import Session
from django.test import Client, RequestFactory
from pytest_django import Settings

from accounts.chat_provider import provider
from accounts.linking import account_links, link_flow
from accounts.linking.social_adapter import SocialAccountAdapter
from accounts.models import LinkedAccount, User
from tests.accounts import linking_pages, scripted
from tests.accounts.linking_pages import CHAT_CALLBACK, LINK_CHAT, PAGE, SITE, Answer, events, linked, said
from tests.accounts.scripted import BROKEN, Reply, Scripted, of_json
from tests.factories.accounts import LinkedAccountFactory, UserFactory

pytestmark = pytest.mark.django_db
CHAT = LinkedAccount.Kind.CHAT
ID, HASH = "80351110224678912", "8342729096ea3675442027381ff50dfe"
PICTURE = f"https://cdn.chat.example/avatars/{ID}/{HASH}.png"
CLIENT_ID, SECRET = "268473310000000001", "the-secret-of-the-platform"
TOKEN_PATH, ME_PATH = "/api/v10/oauth2/token", "/api/v10/users/@me"
ADA: dict[str, Any] = {"id": ID, "username": "ada", "avatar": HASH, "discriminator": "0", "global_name": "Ada L."}
NOT_ANSWERING = "The chat platform does not respond correctly at the moment. Nothing was changed; try again later."
SIGN_IN = "Accounts of other services are for linking, not for signing in. Sign in to your account first."
TOO_LATE = "This took too long, or was started in another browser. Nothing was changed; try again."


@pytest.fixture
def platform(settings: Settings) -> Iterator[Scripted]:
    """A chat platform on which Ada has an account; the settings point to it."""
    with scripted.running() as platform:
        settings.CHAT_CDN_URL = "https://cdn.chat.example"
        settings.CHAT = replace(
            settings.CHAT,
            api_url=f"{platform.url}/api/v10",
            oauth_authorize_url="https://chat.example/oauth2/authorize",
            oauth_client_id=CLIENT_ID,
            oauth_client_secret=SECRET,
        )
        platform.replies[TOKEN_PATH] = of_json({"access_token": "the-access-token", "token_type": "Bearer"})
        platform.replies[ME_PATH] = of_json(ADA)
        yield platform


def begun(browser: Client) -> str:
    """The state of a linking that has begun."""
    return linking_pages.query_of(browser.post(LINK_CHAT))["state"]


def back(browser: Client, **query: str) -> Answer:
    """From the platform."""
    return browser.get(CHAT_CALLBACK, query)


def link(browser: Client) -> Answer:
    return back(browser, state=begun(browser), code="the-code")


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
    assert linked(user) == [("CHAT", ID, "ada", PICTURE)]
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
    ("changes", "found"),
    [
        ({}, {"avatar_url": PICTURE}),
        ({"avatar": f"a_{HASH}"}, {"avatar_url": f"https://cdn.chat.example/avatars/{ID}/a_{HASH}.gif"}),
        *(({"avatar": avatar}, {"avatar_url": ""}) for avatar in (None, 5, "../../x", "a" * 101, "a\x00")),
        ({"avatar": "", "username": " A\x00d\ud800a\n"}, {"name": "Ada", "avatar_url": ""}),
        ({"avatar": "", "username": "é" * 200}, {"name": "é" * 128, "avatar_url": ""}),
        ({"avatar": "", "id": "9" * 17}, {"id": "9" * 17, "avatar_url": ""}),
        ({"avatar": "", "id": "1" + "0" * 18}, {"id": "1" + "0" * 18, "avatar_url": ""}),
    ],
)
def test_an_account_is_read_from_the_answer(
    settings: Settings, changes: dict[str, object], found: dict[str, str]
) -> None:
    settings.CHAT_CDN_URL = "https://cdn.chat.example"
    assert provider._account({**ADA, **changes}) == {"id": ID, "name": "ada", **found}


@pytest.mark.parametrize(
    "changes",
    [
        *({"id": value} for value in (None, int(ID), "9" * 16, "9" * 20, "0" * 17, "٩" * 17, f"{ID}\n")),
        *({"username": name} for name in (None, "  ", "\x00", 5)),
    ],
)
def test_an_answer_without_a_good_id_and_a_name_is_no_account(changes: dict[str, object]) -> None:
    with pytest.raises(ProviderException):
        provider._account({**ADA, **changes})


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"error": "access_denied"}, "You did not allow it at the chat platform. Nothing was changed."),
        ({"error": "server_error", "error_description": "<script>"}, TOO_LATE),
        ({}, TOO_LATE),
    ],
)
def test_a_callback_without_a_code_shows_the_reason(
    browser: Client, user: User, platform: Scripted, query: dict[str, str], text: str
) -> None:
    assert said(browser, back(browser, state=begun(browser), **query)) == text
    assert (linked(user), platform.asked) == ([], [])


def test_a_state_that_this_session_did_not_begin_is_refused(browser: Client, user: User, platform: Scripted) -> None:
    begun(browser)
    of_another_user = begun(linking_pages.signed_in(UserFactory()))
    for state in ("wrong", "\x01", of_another_user):
        assert said(browser, back(browser, state=state, code="the-code")) == TOO_LATE
    assert (linked(user), platform.asked) == ([], [])


def test_an_account_of_another_user_is_refused_and_both_links_stay(browser: Client, user: User) -> None:
    other = LinkedAccountFactory(external_id=ID, name="ada")
    account_links.link(user=user, kind=CHAT, external_id="9" * 18, name="earlier", by=user)
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


@pytest.mark.parametrize(
    ("path", "reply"),
    [
        (TOKEN_PATH, BROKEN["refused"]),
        (TOKEN_PATH, BROKEN["a list"]),
        (ME_PATH, BROKEN["down"]),
        (ME_PATH, BROKEN["half of it"]),
        (ME_PATH, BROKEN["sent elsewhere"]),
    ],
)
def test_an_outage_is_said_and_changes_nothing(
    browser: Client, user: User, platform: Scripted, path: str, reply: Reply
) -> None:
    account_links.link(user=user, kind=CHAT, external_id="9" * 18, name="earlier", by=user)
    platform.replies[path] = reply
    assert said(browser, link(browser)) == NOT_ANSWERING
    assert linked(user) == [("CHAT", "9" * 18, "earlier", "")]


@pytest.mark.parametrize("name", BROKEN)
def test_an_answer_that_is_no_object_is_an_outage(platform: Scripted, name: str) -> None:
    platform.replies[ME_PATH] = BROKEN[name]
    url = f"{platform.url}{ME_PATH}"
    if name in {"an empty object", "no header of the length"}:
        assert provider._asked("GET", url) == {}
    else:
        with pytest.raises(ProviderException):
            provider._asked("GET", url)


@pytest.mark.parametrize("token", [5, "", "a\r\nX: y", "ä", "x" * 5000])
def test_a_token_that_is_none_is_an_outage(browser: Client, platform: Scripted, token: object) -> None:
    platform.replies[TOKEN_PATH] = of_json({"access_token": token})
    assert said(browser, link(browser)) == NOT_ANSWERING


def test_a_platform_that_is_silent_is_not_waited_for_long(
    browser: Client, platform: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_flow, "SECONDS", 0.1)
    platform.replies[ME_PATH] = Reply(200, b"", is_silent=True)
    assert said(browser, link(browser)) == NOT_ANSWERING


def test_nothing_secret_is_logged(browser: Client, platform: Scripted, caplog: pytest.LogCaptureFixture) -> None:
    platform.replies[ME_PATH] = of_json({"the-answer": "the-access-token"}, 401)
    link(browser)
    assert [record.getMessage() for record in caplog.records] == [
        "The chat platform gave no account to link: status 401"
    ]


def test_a_visitor_is_asked_to_sign_in(platform: Scripted) -> None:
    visitor = Client()
    assert said(visitor, visitor.get(f"{LINK_CHAT}?process=login"), "/accounts/login/") == SIGN_IN
    assert said(visitor, visitor.post(LINK_CHAT), "/accounts/login/") == SIGN_IN


def test_a_visitor_who_comes_back_from_the_platform_is_not_signed_in(
    browser: Client, user: User, platform: Scripted
) -> None:
    """Although the platform names an account with the email address of a user."""
    platform.replies[ME_PATH] = of_json({**ADA, "email": user.email, "verified": True})
    state = begun(browser)
    browser.post("/accounts/logout/")
    browser.get("/accounts/login/")
    assert said(browser, back(browser, state=state, code="x"), "/accounts/login/") == SIGN_IN
    assert browser.get(PAGE).status_code == 302
    assert (platform.asked, User.objects.count()) == ([], 1)


def test_there_is_no_sign_up_by_an_outside_account(platform: Scripted) -> None:
    for path in ("/accounts/login/", "/accounts/signup/"):
        assert LINK_CHAT not in Client().get(path).content.decode()
    for path in ("/accounts/3rdparty/signup/", "/accounts/social/signup/"):
        assert Client().get(path, follow=True).redirect_chain[-1][0] == "/accounts/login/"
    assert User.objects.count() == 0


def test_rows_of_allauths_own_tables_are_ignored(browser: Client, user: User) -> None:
    """Neither an account of another user nor another app counts."""
    SocialAccount.objects.create(user=UserFactory(), provider="chat", uid=ID)
    SocialApp.objects.create(provider="chat", name="Another", client_id="another", secret="x")
    query = linking_pages.query_of(browser.post(LINK_CHAT))
    assert query["client_id"] == CLIENT_ID
    back(browser, state=query["state"], code="x")
    assert linked(user) == [("CHAT", ID, "ada", PICTURE)]


def test_the_adapter_allows_no_sign_in(rf: RequestFactory, platform: Scripted) -> None:
    request = rf.get("/")
    adapter = get_adapter(request)
    assert isinstance(adapter, SocialAccountAdapter)
    assert adapter.is_open_for_signup(request, None) is False
    assert adapter.can_authenticate_by_email(None, "ada@example.org") is False
    assert adapter.is_email_verified(None, "ada@example.org") is False
    assert adapter.list_providers(request) == []
    assert [app.provider for app in adapter.list_apps(request)] == ["chat"]
    assert adapter.list_apps(request, provider="github") == []
    assert adapter.list_apps(request, client_id="another") == []


def test_a_banned_person_links_nothing(browser: Client) -> None:
    state = begun(browser)
    User.objects.update(is_active=False)
    assert back(browser, state=state, code="x")["Location"] == "/accounts/login/"
    assert LinkedAccount.objects.count() == 0
