"""The state table, row "User approval present": the user disconnects the app."""

from __future__ import annotations

from django.test import Client

from accounts.models import User
from oidc_provider import approvals
from oidc_provider.models import AccessToken, Approval, Grant, RefreshToken
from tests.oidc_provider.protocol import (
    INVALID_GRANT,
    INVALID_TOKEN,
    App,
    authorize,
    code_for,
    error_sent_back,
    refused,
    userinfo,
)


def _disconnect(app: App, user: User) -> None:
    approvals.disconnect(user=user, application=app.application, by=user)


def test_approval_and_tokens_are_deleted(browser: Client, app: App, user: User) -> None:
    first, second = app.sign_in(browser), app.sign_in(browser)
    _disconnect(app, user)
    for model in (Approval, Grant, AccessToken, RefreshToken):
        assert not model.objects.exists()
    for tokens in (first, second):
        assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN
        assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT
        assert app.introspect(tokens["access_token"]).json() == {"active": False}


def test_a_code_under_way_is_dead_too(browser: Client, app: App, user: User) -> None:
    code = code_for(browser, app.application)
    _disconnect(app, user)
    assert refused(app.exchange(code)) == INVALID_GRANT


def test_the_flow_connects_again(browser: Client, app: App, user: User) -> None:
    code_for(browser, app.application, scope="openid identify")
    _disconnect(app, user)
    assert error_sent_back(authorize(browser, app.application, prompt="none")) == "consent_required"
    assert app.sign_in(browser, "openid")["scope"] == "openid"
    assert Approval.objects.get().scopes == ["openid"]


def test_other_people_and_other_apps_stay_connected(
    browser: Client, other_browser: Client, app: App, other_app: App, user: User
) -> None:
    app.sign_in(browser)
    of_ben, of_other_app = app.sign_in(other_browser), other_app.sign_in(browser)
    _disconnect(app, user)
    assert app.refresh(of_ben["refresh_token"]).status_code == 200
    assert other_app.refresh(of_other_app["refresh_token"]).status_code == 200
    assert Approval.objects.count() == 2


def test_disconnecting_twice_is_as_good_as_once(browser: Client, app: App, user: User) -> None:
    app.sign_in(browser)
    _disconnect(app, user)
    _disconnect(app, user)
    assert not Approval.objects.exists()
