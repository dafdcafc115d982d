"""Outside accounts are for linking by somebody who is signed in; nobody signs in or up by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount, SocialApp
from django.test import Client, RequestFactory
from pytest_django import Settings

from accounts.models import LinkedAccount, User
from accounts.social import SocialAccountAdapter
from tests.accounts import linking_pages, scripted
from tests.accounts.linking_pages import CHAT_CALLBACK, LINK_CHAT, PAGE, linked, said
from tests.accounts.scripted import Scripted, of_json
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db
ID = "80351110224678912"
SIGN_IN = "Accounts of other services are for linking, not for signing in. Sign in to your account first."


@pytest.fixture
def platform(settings: Settings) -> Iterator[Scripted]:
    """Whoever has a code is Ada there, whose address is that of a user here."""
    with scripted.running() as platform:
        settings.CHAT = replace(
            settings.CHAT,
            api_url=platform.url,
            oauth_authorize_url="https://chat.example/oauth2/authorize",
            oauth_client_id="268473310000000001",
            oauth_client_secret="x",
        )
        platform.replies["/oauth2/token"] = of_json({"access_token": "x"})
        platform.replies["/users/@me"] = of_json(
            {"id": ID, "username": "ada", "email": "ada@example.org", "verified": True}
        )
        yield platform


@pytest.fixture
def user(db: None) -> User:
    return UserFactory(username="Ada", email="ada@example.org")


def test_a_visitor_is_told_to_sign_in(platform: Scripted) -> None:
    visitor = Client()
    assert said(visitor, visitor.get(f"{LINK_CHAT}?process=login"), "/accounts/login/") == SIGN_IN
    assert said(visitor, visitor.post(LINK_CHAT), "/accounts/login/") == SIGN_IN


def test_a_visitor_who_comes_back_from_the_platform_is_nobody(user: User, platform: Scripted) -> None:
    """Although the platform would say that they are Ada, who has linked that very account."""
    browser = linking_pages.signed_in(user)
    state = linking_pages.query_of(browser.post(LINK_CHAT))["state"]
    browser.post("/accounts/logout/")
    browser.get("/accounts/login/")
    assert said(browser, browser.get(CHAT_CALLBACK, {"state": state, "code": "x"}), "/accounts/login/") == SIGN_IN
    assert browser.get(PAGE).status_code == 302
    assert (platform.asked, User.objects.count()) == ([], 1)


def test_there_is_no_sign_up_by_an_outside_account(platform: Scripted) -> None:
    for path in ("/accounts/login/", "/accounts/signup/"):
        assert LINK_CHAT not in Client().get(path).content.decode()
    for path in ("/accounts/3rdparty/signup/", "/accounts/social/signup/"):
        assert Client().get(path, follow=True).redirect_chain[-1][0] == "/accounts/login/"
    assert User.objects.count() == 0


def test_rows_of_allauths_own_tables_count_for_nothing(user: User, platform: Scripted) -> None:
    """An account that they say is somebody else's is linked by who proves to have it; another app of theirs is none."""
    SocialAccount.objects.create(user=UserFactory(), provider="chat", uid=ID)
    SocialApp.objects.create(provider="chat", name="Another", client_id="another", secret="x")
    browser = linking_pages.signed_in(user)
    query = linking_pages.query_of(browser.post(LINK_CHAT))
    assert query["client_id"] == "268473310000000001"
    browser.get(CHAT_CALLBACK, {"state": query["state"], "code": "x"})
    assert linked(user) == [("CHAT", ID, "ada", "")]


def test_the_adapter_opens_no_door(rf: RequestFactory, platform: Scripted) -> None:
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


def test_a_banned_person_links_nothing(user: User, platform: Scripted) -> None:
    browser = linking_pages.signed_in(user)
    state = linking_pages.query_of(browser.post(LINK_CHAT))["state"]
    User.objects.update(is_active=False)
    assert browser.get(CHAT_CALLBACK, {"state": state, "code": "x"})["Location"] == "/accounts/login/"
    assert LinkedAccount.objects.count() == 0
