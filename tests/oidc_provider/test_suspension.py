"""The state table, rows "App active" and "App suspended"."""

from __future__ import annotations

import pytest
from django.test import Client

from oidc_provider import applications
from oidc_provider.models import AccessToken, Approval, Grant, RefreshToken
from tests.oidc_provider.protocol import (
    INVALID_CLIENT,
    INVALID_GRANT,
    INVALID_TOKEN,
    TOKEN,
    App,
    authorize,
    code_for,
    refused,
    sent_back,
    userinfo,
)


def _suspend(app: App) -> None:
    applications.suspend(application=app.application, by=None, reason="Abuse")


def _restore(app: App) -> None:
    applications.restore(application=app.application, by=None)


def test_the_authorization_endpoint_refuses_with_client_disabled(browser: Client, app: App) -> None:
    code_for(browser, app.application)
    _suspend(app)
    answer = authorize(browser, app.application, accept="application/json")
    assert answer.status_code == 403
    assert answer.json() == {"error": "client_disabled", "error_description": "This app has been disabled."}
    for prompt in ("none", "login", "consent"):
        assert authorize(browser, app.application, prompt=prompt).status_code == 403


def test_every_token_grant_answers_invalid_client(browser: Client, app: App) -> None:
    refresh_token = app.sign_in(browser)["refresh_token"]
    code = code_for(browser, app.application)
    _suspend(app)
    assert refused(app.exchange(code)) == INVALID_CLIENT
    assert refused(app.refresh(refresh_token)) == INVALID_CLIENT
    for grant_type in ("client_credentials", "password", ""):
        assert refused(app.post(TOKEN, grant_type=grant_type)) == INVALID_CLIENT


def test_all_tokens_of_the_app_are_deleted_and_no_others(
    browser: Client, other_browser: Client, app: App, other_app: App
) -> None:
    kept = other_app.sign_in(browser)
    tokens = [app.sign_in(browser), app.sign_in(other_browser)]
    code_for(browser, app.application)
    _suspend(app)
    for model in (Grant, AccessToken, RefreshToken):
        assert not model.objects.filter(application=app.application).exists()
    for token in tokens:
        assert refused(userinfo(token["access_token"])) == INVALID_TOKEN
    assert userinfo(kept["access_token"]).status_code == 200
    assert other_app.refresh(kept["refresh_token"]).status_code == 200


def test_approvals_are_kept(browser: Client, app: App) -> None:
    code_for(browser, app.application, scope="openid identify")
    _suspend(app)
    assert Approval.objects.get().scopes == ["openid", "identify"]


def test_after_a_restore_nobody_is_asked_again(browser: Client, app: App) -> None:
    code_for(browser, app.application, scope="openid identify")
    _suspend(app)
    _restore(app)
    answer = authorize(browser, app.application, scope="openid identify")
    assert app.exchange(sent_back(answer)["code"]).status_code == 200


def test_a_restore_brings_no_token_back(browser: Client, app: App) -> None:
    tokens = app.sign_in(browser)
    code = code_for(browser, app.application)
    _suspend(app)
    _restore(app)
    assert refused(app.exchange(code)) == INVALID_GRANT
    assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT
    assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_the_app_may_not_even_ask_about_its_tokens(browser: Client, app: App, kind: str) -> None:
    token = app.sign_in(browser)[kind]
    _suspend(app)
    assert refused(app.introspect(token)) == INVALID_CLIENT
    assert refused(app.revoke(token)) == INVALID_CLIENT


def test_suspending_twice_is_as_good_as_once(browser: Client, app: App) -> None:
    _suspend(app)
    _suspend(app)
    _restore(app)
    assert app.sign_in(browser)["token_type"] == "Bearer"
