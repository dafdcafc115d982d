"""A scope that an app no longer registers, because staff relock it or the owner removes it."""

from __future__ import annotations

import pytest
from django.test import Client

from oidc_provider.applications import applications
from oidc_provider.applications.scopes import LOCKED_SCOPES, SCOPES
from oidc_provider.models import RefreshToken
from tests.oidc_provider.protocol import (
    EVERY_SCOPE,
    INVALID_GRANT,
    INVALID_SCOPE,
    App,
    authorize,
    claims_of,
    code_for,
    error_sent_back,
    refused,
    userinfo,
)

SCOPE = "email"


@pytest.fixture
def app(app: App) -> App:
    applications.unlock_scope(owner=app.application.user, scope=SCOPE, by=None, reason="Known to us")
    return app


def _relock(app: App) -> None:
    applications.relock_scope(owner=app.application.user, scope=SCOPE, by=None, reason="Broke a promise")


def _deregister(app: App, scope: str) -> None:
    for locked in LOCKED_SCOPES:
        applications.unlock_scope(owner=app.application.user, scope=locked, by=None, reason="Known to us")
    left = [name for name in SCOPES if name != scope]
    applications.change_scopes(application=app.application, scopes=left, by=app.application.user)


def test_a_request_for_it_fails_as_a_whole(app: App, browser: Client) -> None:
    code_for(browser, app.application, scope=f"openid {SCOPE}")
    _relock(app)
    assert error_sent_back(authorize(browser, app.application, scope=f"openid {SCOPE}")) == "invalid_scope"


def test_tokens_that_live_no_longer_give_it(app: App, browser: Client) -> None:
    tokens = app.sign_in(browser)
    assert SCOPE in userinfo(tokens["access_token"]).json()
    _relock(app)
    left = " ".join(name for name in SCOPES if name != SCOPE)
    assert SCOPE not in userinfo(tokens["access_token"]).json()
    assert app.introspect(tokens["access_token"]).json()["scope"] == left
    assert app.introspect(tokens["refresh_token"]).json()["scope"] == left
    assert refused(app.refresh(tokens["refresh_token"], scope=f"openid {SCOPE}")) == INVALID_SCOPE
    refreshed = app.refresh(tokens["refresh_token"]).json()
    assert refreshed["scope"] == left
    assert SCOPE not in claims_of(refreshed["id_token"])
    assert SCOPE not in userinfo(refreshed["access_token"]).json()


def test_a_code_under_way_no_longer_gives_it(app: App, browser: Client) -> None:
    code = code_for(browser, app.application, scope=f"openid {SCOPE}")
    _relock(app)
    tokens = app.exchange(code).json()
    assert tokens["scope"] == "openid"
    assert SCOPE not in claims_of(tokens["id_token"])
    assert set(userinfo(tokens["access_token"]).json()) == {"sub"}


def test_a_consent_page_that_is_open_no_longer_gives_it(app: App, browser: Client) -> None:
    path = authorize(browser, app.application, scope=f"openid {SCOPE}")["Location"]
    _relock(app)
    answer = browser.post(path, {"decision": "allow"})
    assert error_sent_back(answer) == "invalid_scope"


@pytest.mark.parametrize("removed", ["openid", "identify", "email", "connections"])
def test_a_scope_that_the_owner_deregisters_is_left_out_of_exchange_and_refresh(
    app: App, browser: Client, removed: str
) -> None:
    code, first = code_for(browser, app.application, scope=EVERY_SCOPE), app.sign_in(browser)
    _deregister(app, removed)
    left = [name for name in SCOPES if name != removed]
    for answer in (app.exchange(code), app.refresh(first["refresh_token"])):
        tokens = answer.json()
        assert tokens["scope"].split() == left
        assert "refresh_token" in tokens
        if removed == "openid":
            assert "id_token" not in tokens
        else:
            claims = {*claims_of(tokens["id_token"]), *userinfo(tokens["access_token"]).json()}
            assert not {*SCOPES[removed].claims} & claims


@pytest.mark.embedded
def test_without_offline_access_a_refresh_gives_no_refresh_token_and_uses_up_its_own(app: App, browser: Client) -> None:
    code, first = code_for(browser, app.application, scope=EVERY_SCOPE), app.sign_in(browser)
    _deregister(app, "offline_access")
    assert "refresh_token" not in app.exchange(code).json()
    answer = app.refresh(first["refresh_token"])
    assert answer.status_code == 200
    assert "refresh_token" not in answer.json()
    assert app.is_live(answer.json()["access_token"])
    assert refused(app.refresh(first["refresh_token"])) == INVALID_GRANT
    assert not RefreshToken.objects.filter(revoked=None).exists()
