"""The state table, rows "App active" and "App suspended"."""

from __future__ import annotations

from django.test import Client
from django.utils import timezone

from oidc_provider.applications import applications
from oidc_provider.models import AccessToken, Application, Grant, RefreshToken
from tests.oidc_provider.protocol import (
    INVALID_CLIENT,
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


def test_after_a_restore_users_are_not_asked_again(browser: Client, app: App) -> None:
    code_for(browser, app.application, scope="openid identify")
    _suspend(app)
    _restore(app)
    answer = authorize(browser, app.application, scope="openid identify")
    assert app.exchange(sent_back(answer)["code"]).status_code == 200


def test_an_access_token_that_a_suspension_missed_is_dead(browser: Client, app: App) -> None:
    token = app.sign_in(browser)["access_token"]
    Application.objects.filter(pk=app.application.pk).update(suspended_at=timezone.now())
    assert refused(userinfo(token)) == INVALID_TOKEN
