"""The exchange of a code: the tokens, and the answer to each missing or wrong parameter."""

from __future__ import annotations

from typing import Any

import pytest
import time_machine
from django.test import Client

from oidc_provider.applications import applications
from oidc_provider.models import AccessToken
from tests.accounts.clock import NOON
from tests.factories.oidc_provider import CODE_CHALLENGE
from tests.oidc_provider.protocol import (
    INVALID_CLIENT,
    INVALID_GRANT,
    INVALID_REQUEST,
    App,
    claims_of,
    code_for,
    refused,
    userinfo,
)

ONE_HOUR = 3600


@pytest.mark.embedded
def test_the_answer_holds_an_access_token_and_an_id_token(
    clock: time_machine.Traveller, app: App, browser: Client
) -> None:
    answer = app.exchange(code_for(browser, app.application))
    body = answer.json()
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
    assert body == {
        "access_token": body["access_token"],
        "token_type": "Bearer",
        "expires_in": ONE_HOUR,
        "expires_at": int(NOON.timestamp()) + ONE_HOUR,
        "scope": "openid",
        "id_token": body["id_token"],
    }
    assert "." not in body["access_token"]
    assert len(body["access_token"]) == 43  # 256 bits


def test_the_answer_holds_a_refresh_token_with_offline_access(app: App, browser: Client) -> None:
    body = app.sign_in(browser, "openid offline_access")
    keys = {"access_token", "token_type", "expires_in", "expires_at", "scope", "id_token", "refresh_token"}
    assert set(body) == keys
    assert body["scope"] == "openid offline_access"


def test_the_answer_holds_no_id_token_without_openid(app: App, browser: Client) -> None:
    body = app.sign_in(browser, "identify offline_access")
    assert set(body) == {"access_token", "token_type", "expires_in", "expires_at", "scope", "refresh_token"}
    assert body["scope"] == "identify offline_access"


def test_scopes_are_answered_in_the_order_of_the_document(app: App, browser: Client) -> None:
    assert app.sign_in(browser, "email openid identify openid")["scope"] == "openid identify email"


@pytest.mark.parametrize("name", ["code", "redirect_uri", "code_verifier"])
def test_a_missing_parameter_is_an_invalid_request_and_uses_nothing_up(app: App, browser: Client, name: str) -> None:
    code = code_for(browser, app.application)
    assert refused(app.exchange(code, **{name: None})) == INVALID_REQUEST
    assert app.exchange(code).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"code": "unknown"},
        {"redirect_uri": "https://app.example.org/callback/"},
        {"code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl"},
        {"code_verifier": CODE_CHALLENGE},
        {"code_verifier": "é" * 50},
        {"code_verifier": "a" * 129},
    ],
    ids=lambda changes: ascii(changes)[:60],
)
def test_a_wrong_code_redirect_url_or_verifier_is_an_invalid_grant(
    app: App, browser: Client, changes: dict[str, Any]
) -> None:
    code = code_for(browser, app.application)
    assert refused(app.exchange(code, **changes)) == INVALID_GRANT
    assert not AccessToken.objects.exists()
    assert app.exchange(code).status_code == 200


def test_another_registered_redirect_url_is_an_invalid_grant(browser: Client, app: App) -> None:
    second = "https://app.example.org/second"
    applications.change_redirect_urls(
        application=app.application, redirect_urls=[*app.application.redirect_urls, second], by=None
    )
    code = code_for(browser, app.application, redirect_uri=second)
    assert refused(app.exchange(code)) == INVALID_GRANT
    assert app.exchange(code, redirect_uri=second).status_code == 200


def test_the_port_of_a_loopback_url_must_be_that_of_the_authorization_request(browser: Client, app: App) -> None:
    applications.change_redirect_urls(application=app.application, redirect_urls=["http://127.0.0.1/cb"], by=None)
    code = code_for(browser, app.application, redirect_uri="http://127.0.0.1:5001/cb")
    assert refused(app.exchange(code, redirect_uri="http://127.0.0.1:5002/cb")) == INVALID_GRANT
    assert refused(app.exchange(code, redirect_uri="http://127.0.0.1/cb")) == INVALID_GRANT
    assert app.exchange(code, redirect_uri="http://127.0.0.1:5001/cb").status_code == 200


def test_another_apps_code_is_an_invalid_grant_and_stays_good_for_its_own(
    app: App, other_app: App, browser: Client
) -> None:
    code = code_for(browser, app.application)
    assert refused(other_app.exchange(code)) == INVALID_GRANT
    assert app.exchange(code).status_code == 200


@pytest.mark.embedded
def test_a_used_code_is_an_invalid_grant_and_revokes_what_came_from_it(app: App, browser: Client) -> None:
    kept = app.sign_in(browser)
    code = code_for(browser, app.application, scope="openid offline_access")
    first = app.exchange(code).json()
    second = app.refresh(first["refresh_token"]).json()
    assert refused(app.exchange(code)) == INVALID_GRANT
    for token in (first["access_token"], second["access_token"], second["refresh_token"]):
        assert app.introspect(token).json() == {"active": False}
    assert userinfo(second["access_token"]).status_code == 401
    assert refused(app.refresh(second["refresh_token"])) == INVALID_GRANT
    assert app.is_live(kept["access_token"])
    assert app.refresh(kept["refresh_token"]).status_code == 200


def test_a_replay_by_another_app_or_with_a_wrong_secret_revokes_nothing(
    app: App, other_app: App, browser: Client
) -> None:
    code = code_for(browser, app.application, scope="openid offline_access")
    tokens = app.exchange(code).json()
    assert refused(other_app.exchange(code)) == INVALID_GRANT
    assert refused(app.exchange(code, client_secret="wrong")) == INVALID_CLIENT
    assert app.is_live(tokens["access_token"])
    assert app.is_live(tokens["refresh_token"])


def test_a_scope_and_a_nonce_in_the_token_request_are_ignored(app: App, browser: Client) -> None:
    body = app.exchange(code_for(browser, app.application), scope="openid email", nonce="smuggled").json()
    assert body["scope"] == "openid"
    assert "nonce" not in claims_of(body["id_token"])
