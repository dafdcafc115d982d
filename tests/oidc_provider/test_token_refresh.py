"""The refresh of tokens: rotation, reuse, narrower scopes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from tests.accounts.clock import NOON
from tests.oidc_provider.protocol import (
    INVALID_CLIENT,
    INVALID_GRANT,
    INVALID_REQUEST,
    INVALID_SCOPE,
    App,
    claims_of,
    code_for,
    refused,
)

ONE_HOUR = 3600


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
