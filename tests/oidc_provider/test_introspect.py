"""Introspection describes live tokens of the calling app only."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from accounts.models import User
from tests.accounts.clock import NOON
from tests.oidc_provider.protocol import (
    INTROSPECT,
    INVALID_CLIENT,
    INVALID_REQUEST,
    ISSUER,
    REVOKE,
    App,
    code_for,
    refused,
)

INACTIVE = {"active": False}
ONE_HOUR, THIRTY_DAYS = 3600, 30 * 24 * 3600
HINTS = pytest.mark.parametrize("hint", [None, "access_token", "refresh_token"])


@pytest.mark.embedded
@HINTS
@pytest.mark.parametrize(
    "row",
    [
        ("access_token", "openid identify", "Bearer", ONE_HOUR),
        ("refresh_token", "openid offline_access", "refresh_token", THIRTY_DAYS),
    ],
    ids=lambda row: row[0],
)
def test_a_live_token_is_described(
    clock: time_machine.Traveller,
    app: App,
    browser: Client,
    user: User,
    row: tuple[str, str, str, int],
    hint: str | None,
) -> None:
    kind, scope, token_type, lifetime = row
    token = app.sign_in(browser, scope)[kind]
    clock.shift(timedelta(minutes=30))
    answer = app.introspect(token, token_type_hint=hint)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
    assert answer.json() == {
        "active": True,
        "iss": ISSUER,
        "client_id": app.application.client_id,
        "sub": user.pk,
        "scope": scope,
        "token_type": token_type,
        "exp": int(NOON.timestamp()) + lifetime,
        "iat": int(NOON.timestamp()),
    }


@pytest.mark.parametrize("token", ["unknown", "\x00"])
def test_an_unknown_token_is_inactive_and_nothing_else(app: App, token: str) -> None:
    answer = app.introspect(token)
    assert (answer.status_code, answer.json()) == (200, INACTIVE)
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_another_apps_token_is_inactive(app: App, other_app: App, browser: Client, kind: str) -> None:
    token = app.sign_in(browser)[kind]
    assert other_app.introspect(token).json() == INACTIVE
    assert app.is_live(token)


def test_id_tokens_and_codes_are_inactive(app: App, browser: Client) -> None:
    tokens = app.sign_in(browser)
    assert app.introspect(tokens["id_token"]).json() == INACTIVE
    assert app.introspect(code_for(browser, app.application)).json() == INACTIVE


def test_a_rotated_refresh_token_is_inactive(app: App, browser: Client) -> None:
    token = app.sign_in(browser)["refresh_token"]
    newer = app.refresh(token).json()["refresh_token"]
    assert (app.is_live(token), app.is_live(newer)) == (False, True)


@pytest.mark.parametrize(("kind", "lifetime"), [("access_token", ONE_HOUR), ("refresh_token", THIRTY_DAYS)])
def test_a_token_is_inactive_from_its_exp_on(
    clock: time_machine.Traveller, app: App, browser: Client, kind: str, lifetime: int
) -> None:
    token = app.sign_in(browser)[kind]
    clock.shift(timedelta(seconds=lifetime - 1))
    assert app.is_live(token)
    clock.shift(timedelta(seconds=1))
    assert not app.is_live(token)


@pytest.mark.parametrize("path", [INTROSPECT, REVOKE])
@pytest.mark.parametrize("token", [None, ""])
def test_a_missing_token_is_an_invalid_request_of_a_known_app(app: App, path: str, token: str | None) -> None:
    assert refused(app.post(path, token=token)) == INVALID_REQUEST
    assert refused(app.post(path, token=token, client_secret="wrong")) == INVALID_CLIENT
