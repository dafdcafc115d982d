"""The exchange of a code and the refresh of tokens: answers, refusals, rotation, reuse, narrower scopes."""

from __future__ import annotations

from datetime import timedelta
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
    INVALID_SCOPE,
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


@pytest.mark.parametrize(("scope", "name"), [("openid offline_access", "id_token"), ("identify offline_access", None)])
def test_openid_brings_an_id_token_and_offline_access_a_refresh_token(
    app: App, browser: Client, scope: str, name: str | None
) -> None:
    body = app.sign_in(browser, scope)
    always = {"access_token", "token_type", "expires_in", "expires_at", "scope", "refresh_token"}
    assert set(body) == always | ({name} if name else set())
    assert body["scope"] == scope


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


def _refreshed(app: App, token: str, **changes: Any) -> dict[str, Any]:
    answer = app.refresh(token, **changes)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


@pytest.mark.embedded
def test_a_refresh_answers_with_new_tokens_of_every_kind(
    clock: time_machine.Traveller, app: App, browser: Client
) -> None:
    first = app.sign_in(browser, "openid offline_access", nonce="once")
    clock.shift(timedelta(days=1))
    answer = app.refresh(first["refresh_token"])
    second = answer.json()
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
    assert second == {
        "access_token": second["access_token"],
        "token_type": "Bearer",
        "expires_in": ONE_HOUR,
        "expires_at": int(NOON.timestamp()) + 24 * ONE_HOUR + ONE_HOUR,
        "scope": "openid offline_access",
        "id_token": second["id_token"],
        "refresh_token": second["refresh_token"],
    }
    values = {first["access_token"], second["access_token"], first["refresh_token"], second["refresh_token"]}
    assert len(values) == 4


def test_the_new_id_token_keeps_sub_and_auth_time_and_has_no_nonce(
    clock: time_machine.Traveller, app: App, browser: Client
) -> None:
    tokens = app.sign_in(browser, nonce="once")
    first = claims_of(tokens["id_token"])
    for _ in range(3):
        clock.shift(timedelta(days=1))
        tokens = _refreshed(app, tokens["refresh_token"], nonce="smuggled")
        later = claims_of(tokens["id_token"])
        moved = {name: later[name] - first[name] for name in ("iat", "exp")}
        assert moved["iat"] == moved["exp"] > 0
        assert later == {
            **{name: first[name] for name in first if name != "nonce"},
            **{name: later[name] for name in moved},
        }


@pytest.mark.parametrize(
    ("value", "error"),
    [(None, INVALID_REQUEST), ("", INVALID_REQUEST), ("unknown", INVALID_GRANT), ("\x00", INVALID_GRANT)],
)
def test_a_missing_or_unknown_refresh_token_is_refused(app: App, value: str | None, error: tuple[int, str]) -> None:
    assert refused(app.refresh("", refresh_token=value)) == error


def test_an_access_token_an_id_token_and_a_code_are_no_refresh_tokens(app: App, browser: Client) -> None:
    tokens = app.sign_in(browser)
    code = code_for(browser, app.application)
    for value in (tokens["access_token"], tokens["id_token"], code):
        assert refused(app.refresh(value)) == INVALID_GRANT
        assert refused(app.exchange(tokens["refresh_token"])) == INVALID_GRANT


def test_another_apps_refresh_token_is_an_invalid_grant(app: App, other_app: App, browser: Client) -> None:
    token = app.sign_in(browser)["refresh_token"]
    assert refused(other_app.refresh(token)) == INVALID_GRANT
    _refreshed(app, token)


@pytest.mark.parametrize(
    ("scope", "granted"),
    [
        ("openid", "openid"),
        ("identify openid", "openid identify"),
        ("identify", "identify"),
        ("openid  identify", "openid identify"),
        (" openid\t", "openid"),
        (None, "openid identify offline_access"),
    ],
)
def test_scope_narrows_the_new_access_token_and_never_the_grant(
    app: App, browser: Client, scope: str | None, granted: str
) -> None:
    tokens = app.sign_in(browser, "openid identify offline_access")
    narrow = _refreshed(app, tokens["refresh_token"], scope=scope)
    assert narrow["scope"] == granted
    assert app.introspect(narrow["access_token"]).json()["scope"] == granted
    assert ("id_token" in narrow) is ("openid" in granted)
    assert _refreshed(app, narrow["refresh_token"])["scope"] == "openid identify offline_access"


@pytest.mark.parametrize("scope", ["openid email", "profile", " ", "openid\u00a0identify", "openid\nidentify"])
def test_a_wider_or_malformed_scope_is_an_invalid_scope_and_uses_nothing_up(
    app: App, browser: Client, scope: str
) -> None:
    tokens = app.sign_in(browser, "openid identify offline_access")
    assert refused(app.refresh(tokens["refresh_token"], scope=scope)) == INVALID_SCOPE
    _refreshed(app, tokens["refresh_token"])


def test_a_scope_approved_for_another_sign_in_is_not_of_this_grant(app: App, browser: Client) -> None:
    tokens = app.sign_in(browser, "openid offline_access")
    app.sign_in(browser, "openid identify")
    assert refused(app.refresh(tokens["refresh_token"], scope="openid identify")) == INVALID_SCOPE


def test_reuse_within_ten_seconds_is_refused_and_the_family_survives(
    clock: time_machine.Traveller, app: App, browser: Client
) -> None:
    first = app.sign_in(browser)
    second = _refreshed(app, first["refresh_token"])
    clock.shift(timedelta(seconds=10))
    assert refused(app.refresh(first["refresh_token"])) == INVALID_GRANT
    assert app.is_live(first["access_token"])
    assert app.is_live(second["access_token"])
    _refreshed(app, second["refresh_token"])


@pytest.mark.embedded
def test_reuse_later_revokes_the_whole_family_and_no_other(
    clock: time_machine.Traveller, app: App, browser: Client
) -> None:
    other_device = app.sign_in(browser)
    first = app.sign_in(browser)
    second = _refreshed(app, first["refresh_token"])
    third = _refreshed(app, second["refresh_token"])
    clock.shift(timedelta(seconds=11))
    assert refused(app.refresh(first["refresh_token"])) == INVALID_GRANT
    for tokens in (first, second, third):
        assert not app.is_live(tokens["access_token"])
        assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT
    assert app.is_live(other_device["access_token"])
    _refreshed(app, other_device["refresh_token"])


def test_reuse_of_a_token_that_would_have_expired_revokes_the_family_too(
    clock: time_machine.Traveller, app: App, browser: Client
) -> None:
    first = app.sign_in(browser)
    clock.shift(timedelta(days=29))
    second = _refreshed(app, first["refresh_token"])
    clock.shift(timedelta(days=2))
    assert refused(app.refresh(first["refresh_token"])) == INVALID_GRANT
    assert refused(app.refresh(second["refresh_token"])) == INVALID_GRANT


def test_reuse_with_a_wrong_secret_and_by_another_app_revokes_nothing(
    clock: time_machine.Traveller, app: App, other_app: App, browser: Client
) -> None:
    first = app.sign_in(browser)
    second = _refreshed(app, first["refresh_token"])
    clock.shift(timedelta(seconds=11))
    assert refused(app.refresh(first["refresh_token"], client_secret="wrong")) == INVALID_CLIENT
    assert refused(other_app.refresh(first["refresh_token"])) == INVALID_GRANT
    _refreshed(app, second["refresh_token"])
