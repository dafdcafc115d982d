"""`delete_expired`: what it deletes, and what it must keep."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
import time_machine
from django.core.management import call_command
from django.db import models
from django.test import Client

from infrastructure.databases import batches
from oidc_provider.models import AccessToken, Approval, Grant, PendingRequest, RefreshToken
from tests.oidc_provider.protocol import INVALID_GRANT, App, authorize, code_for, refused

ONE_SECOND = timedelta(seconds=1)


def _run() -> str:
    output = io.StringIO()
    call_command("delete_expired", stdout=output)
    return output.getvalue()


@pytest.mark.parametrize(
    ("model", "lifetime"),
    [
        (Grant, timedelta(minutes=10)),
        (AccessToken, timedelta(hours=1)),
        (RefreshToken, timedelta(days=30)),
        (PendingRequest, timedelta(minutes=20)),
    ],
    ids=["unused code", "access token", "refresh token", "waiting request"],
)
def test_each_kind_is_deleted_at_the_end_of_its_use(
    clock: time_machine.Traveller,
    app: App,
    browser: Client,
    model: type[models.Model],
    lifetime: timedelta,
) -> None:
    if model is Grant:
        code_for(browser, app.application)
    elif model is PendingRequest:
        authorize(browser, app.application)
    else:
        app.sign_in(browser)
    rows = model._default_manager
    clock.shift(lifetime - ONE_SECOND)
    _run()
    assert rows.count() == 1
    clock.shift(ONE_SECOND)
    _run()
    assert rows.count() == 0


def test_the_job_says_how_many_rows_it_deleted(clock: time_machine.Traveller, app: App, browser: Client) -> None:
    app.sign_in(browser)  # a waiting request, a code, an access and a refresh token
    clock.shift(timedelta(days=30))
    assert _run() == "Deleted 4 rows.\n"
    assert Approval.objects.count() == 1
    assert _run() == "Deleted 0 rows.\n"


def test_a_used_code_stays_as_long_as_what_came_from_it_can_live(
    clock: time_machine.Traveller, app: App, browser: Client
) -> None:
    code = code_for(browser, app.application, scope="openid offline_access")
    token = app.exchange(code).json()["refresh_token"]
    clock.shift(timedelta(days=20))
    newer = app.refresh(token).json()["refresh_token"]
    clock.shift(timedelta(days=20))
    _run()
    assert refused(app.exchange(code)) == INVALID_GRANT
    assert refused(app.refresh(newer)) == INVALID_GRANT


def test_a_rotated_token_stays_as_long_as_its_family_can_live(
    clock: time_machine.Traveller, app: App, browser: Client
) -> None:
    first = app.sign_in(browser)["refresh_token"]
    clock.shift(timedelta(days=29))
    second = app.refresh(first).json()["refresh_token"]
    clock.shift(timedelta(days=2))
    _run()
    assert refused(app.refresh(first)) == INVALID_GRANT
    assert refused(app.refresh(second)) == INVALID_GRANT


def test_once_a_family_is_dead_nothing_of_it_is_left(clock: time_machine.Traveller, app: App, browser: Client) -> None:
    token = app.sign_in(browser)["refresh_token"]
    for _ in range(3):
        clock.shift(timedelta(days=29))
        token = app.refresh(token).json()["refresh_token"]
    clock.shift(timedelta(days=30))
    _run()
    assert [model.objects.count() for model in (Grant, AccessToken, RefreshToken)] == [0, 0, 0]


def test_a_code_whose_line_of_tokens_goes_on_does_not_stop_the_batches(
    clock: time_machine.Traveller, app: App, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept rows are between deleted ones in the order of the index."""
    monkeypatch.setattr(batches, "SIZE", 2)
    token = app.sign_in(browser)["refresh_token"]
    for _ in range(5):
        app.sign_in(browser, "openid")
    clock.shift(timedelta(days=29))
    newer = app.refresh(token).json()["refresh_token"]
    clock.shift(timedelta(days=2))
    assert _run() == "Deleted 13 rows.\n"  # a request, 5 codes and 7 access tokens
    assert (Grant.objects.count(), RefreshToken.objects.count()) == (1, 2)
    assert app.refresh(newer).status_code == 200
