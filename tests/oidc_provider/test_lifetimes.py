"""Codes and tokens work until just before their expiry, and not at it."""

from __future__ import annotations

from datetime import timedelta

import time_machine
from django.test import Client

from tests.oidc_provider.protocol import (
    INVALID_GRANT,
    INVALID_TOKEN,
    App,
    code_for,
    refused,
    userinfo,
)

ONE_SECOND = timedelta(seconds=1)
CODE = timedelta(minutes=10)
ACCESS_TOKEN = timedelta(hours=1)
REFRESH_TOKEN = timedelta(days=30)
ID_TOKEN = timedelta(hours=10)


def test_a_code_lives_ten_minutes(clock: time_machine.Traveller, app: App, browser: Client) -> None:
    in_time, too_late = code_for(browser, app.application), code_for(browser, app.application)
    clock.shift(CODE - ONE_SECOND)
    assert app.exchange(in_time).status_code == 200
    clock.shift(ONE_SECOND)
    assert refused(app.exchange(too_late)) == INVALID_GRANT


def test_an_access_token_lives_one_hour(clock: time_machine.Traveller, app: App, browser: Client) -> None:
    token = app.sign_in(browser)["access_token"]
    clock.shift(ACCESS_TOKEN - ONE_SECOND)
    assert userinfo(token).status_code == 200
    clock.shift(ONE_SECOND)
    assert refused(userinfo(token)) == INVALID_TOKEN


def test_a_refresh_token_lives_thirty_days(clock: time_machine.Traveller, app: App, browser: Client) -> None:
    in_time, too_late = (app.sign_in(browser)["refresh_token"] for _ in range(2))
    clock.shift(REFRESH_TOKEN - ONE_SECOND)
    assert app.refresh(in_time).status_code == 200
    clock.shift(ONE_SECOND)
    assert refused(app.refresh(too_late)) == INVALID_GRANT


def test_every_refresh_starts_the_thirty_days_anew(clock: time_machine.Traveller, app: App, browser: Client) -> None:
    token = app.sign_in(browser)["refresh_token"]
    for _ in range(2):  # nearly two months
        clock.shift(REFRESH_TOKEN - ONE_SECOND)
        token = app.refresh(token).json()["refresh_token"]
    clock.shift(REFRESH_TOKEN)
    assert refused(app.refresh(token)) == INVALID_GRANT
