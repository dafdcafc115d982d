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

SCOPE = "email"


@pytest.fixture
def app(app: App) -> App:
    applications.unlock_scope(owner=app.application.user, scope=SCOPE, by=None, reason="Known to us")
    return app


def _relock(app: App) -> None:
    applications.relock_scope(owner=app.application.user, scope=SCOPE, by=None, reason="Broke a promise")


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
