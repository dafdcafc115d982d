"""A banned user has no session, token or code, also after the ban is lifted."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts import bans
from accounts.models import User
from oidc_provider.models import AccessToken, Grant, RefreshToken
from tests.factories.accounts import PASSWORD
from tests.oidc_provider.protocol import (
    INVALID_GRANT,
    INVALID_TOKEN,
    App,
    authorize,
    code_for,
    place_of,
    refused,
    userinfo,
)


@pytest.fixture
def browser(user: User) -> Client:
    """Signed in through the login page, so that the ban finds the session."""
    browser = Client()
    browser.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    return browser


def _ban(user: User) -> None:
    bans.ban(user=user, by=None, reason="Abuse")


def test_codes_and_tokens_of_this_user_are_deleted(
    browser: Client, other_browser: Client, app: App, user: User
) -> None:
    tokens, code = app.sign_in(browser), code_for(browser, app.application)
    of_ben = app.sign_in(other_browser)
    _ban(user)
    for model in (Grant, AccessToken, RefreshToken):
        assert not model.objects.filter(user=user).exists()
    assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN
    assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT
    assert refused(app.exchange(code)) == INVALID_GRANT
    assert app.refresh(of_ben["refresh_token"]).status_code == 200
    bans.lift(user=user, by=None, reason="A mistake")
    assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN
    assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT


def test_a_waiting_request_leads_nowhere(browser: Client, app: App, user: User) -> None:
    path = authorize(browser, app.application)["Location"]
    _ban(user)
    for answer in (browser.get(path), browser.post(path, {"decision": "allow"})):
        assert place_of(answer) == "/accounts/login/"
    assert not Grant.objects.exists()


def test_a_token_that_a_ban_missed_is_dead_all_the_same(browser: Client, app: App, user: User) -> None:
    tokens, code = app.sign_in(browser), code_for(browser, app.application)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN
    assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT
    assert refused(app.exchange(code)) == INVALID_GRANT
    for kind in ("access_token", "refresh_token"):
        assert app.introspect(tokens[kind]).json() == {"active": False}


def test_an_app_of_a_banned_owner_works_on_for_others(browser: Client, app: App) -> None:
    _ban(app.application.user)
    assert app.sign_in(browser)["token_type"] == "Bearer"
