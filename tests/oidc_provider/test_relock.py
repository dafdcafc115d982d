"""Staff take a locked scope away from an owner: their apps lose it at once."""

from __future__ import annotations

import pytest
from django.test import Client

from oidc_provider import applications
from oidc_provider.scopes import SCOPES
from tests.oidc_provider.protocol import (
    INVALID_SCOPE,
    App,
    authorize,
    claims_of,
    code_for,
    error_sent_back,
    refused,
    userinfo,
)

LOCKED = pytest.mark.parametrize("scope", ["email", "connections"])
CLAIM = {"email": "email", "connections": "connections"}


@pytest.fixture
def app(app: App) -> App:
    for scope in CLAIM:
        applications.unlock_scope(owner=app.application.user, scope=scope, by=None, reason="Known to us")
    return app


def _relock(app: App, scope: str) -> None:
    applications.relock_scope(owner=app.application.user, scope=scope, by=None, reason="Broke a promise")


@LOCKED
def test_the_scope_leaves_the_registered_ones_of_every_app_of_the_owner(app: App, other_app: App, scope: str) -> None:
    other_app.application.user = app.application.user
    other_app.application.save()
    _relock(app, scope)
    for application in (app.application, other_app.application):
        application.refresh_from_db()
        assert application.registered_scopes == [name for name in SCOPES if name != scope]


@LOCKED
def test_apps_of_others_keep_it(app: App, other_app: App, scope: str) -> None:
    _relock(app, scope)
    other_app.application.refresh_from_db()
    assert other_app.application.registered_scopes == list(SCOPES)


@LOCKED
def test_a_request_for_it_fails_as_a_whole(app: App, browser: Client, scope: str) -> None:
    code_for(browser, app.application, scope=f"openid {scope}")
    _relock(app, scope)
    assert error_sent_back(authorize(browser, app.application, scope=f"openid {scope}")) == "invalid_scope"


@LOCKED
def test_tokens_that_live_no_longer_give_it(app: App, browser: Client, scope: str) -> None:
    tokens = app.sign_in(browser)
    assert CLAIM[scope] in userinfo(tokens["access_token"]).json()
    _relock(app, scope)
    left = " ".join(name for name in SCOPES if name != scope)
    assert CLAIM[scope] not in userinfo(tokens["access_token"]).json()
    assert app.introspect(tokens["access_token"]).json()["scope"] == left
    assert app.introspect(tokens["refresh_token"]).json()["scope"] == left
    assert refused(app.refresh(tokens["refresh_token"], scope=f"openid {scope}")) == INVALID_SCOPE
    refreshed = app.refresh(tokens["refresh_token"]).json()
    assert refreshed["scope"] == left
    assert CLAIM[scope] not in claims_of(refreshed["id_token"])
    assert CLAIM[scope] not in userinfo(refreshed["access_token"]).json()


@LOCKED
def test_a_code_under_way_no_longer_gives_it(app: App, browser: Client, scope: str) -> None:
    code = code_for(browser, app.application, scope=f"openid {scope}")
    _relock(app, scope)
    tokens = app.exchange(code).json()
    assert tokens["scope"] == "openid"
    assert CLAIM[scope] not in claims_of(tokens["id_token"])
    assert set(userinfo(tokens["access_token"]).json()) == {"sub"}


@LOCKED
def test_a_consent_page_that_is_open_no_longer_gives_it(app: App, browser: Client, scope: str) -> None:
    path = authorize(browser, app.application, scope=f"openid {scope}")["Location"]
    _relock(app, scope)
    answer = browser.post(path, {"decision": "allow"})
    code = answer["Location"].partition("code=")[2].partition("&")[0]
    if code:
        assert app.exchange(code).json()["scope"] == "openid"
    else:
        assert error_sent_back(answer) == "invalid_scope"


@LOCKED
def test_an_unlocked_owner_registers_it_again_by_hand(app: App, browser: Client, scope: str) -> None:
    _relock(app, scope)
    applications.unlock_scope(owner=app.application.user, scope=scope, by=None, reason="Talked")
    assert error_sent_back(authorize(browser, app.application, scope=f"openid {scope}")) == "invalid_scope"
    applications.change_scopes(application=app.application, scopes=["openid", scope], by=None)
    assert app.sign_in(browser, f"openid {scope}")["scope"] == f"openid {scope}"
