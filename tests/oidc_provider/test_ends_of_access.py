"""What ends an access: a ban, a suspension, a relocked scope, an expiry, a lifetime."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.core.management import call_command
from django.db import models
from django.test import Client
from django.utils import timezone

from accounts import bans
from accounts.models import User
from infrastructure.databases import batches
from oidc_provider.applications import applications
from oidc_provider.applications.scopes import LOCKED_SCOPES, SCOPES
from oidc_provider.models import AccessToken, Application, Approval, Grant, PendingRequest, RefreshToken
from tests.factories.accounts import PASSWORD
from tests.oidc_provider.protocol import (
    EVERY_SCOPE,
    INVALID_GRANT,
    INVALID_SCOPE,
    INVALID_TOKEN,
    Answer,
    App,
    authorize,
    claims_of,
    code_for,
    decide,
    error_sent_back,
    place_of,
    refused,
    sent_back,
    userinfo,
)


@pytest.fixture
def ada(user: User) -> Client:
    """Signed in through the login page, so that the ban finds the session."""
    ada = Client()
    ada.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    return ada


def _ban(user: User) -> None:
    bans.ban(user=user, by=None, reason="Abuse")


def test_codes_and_tokens_of_this_user_are_deleted(ada: Client, other_browser: Client, app: App, user: User) -> None:
    tokens, code = app.sign_in(ada), code_for(ada, app.application)
    of_ben = app.sign_in(other_browser)
    _ban(user)
    for model in (Grant, AccessToken, RefreshToken):
        assert not model.objects.filter(user=user).exists()
    assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN
    assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT
    assert refused(app.exchange(code)) == INVALID_GRANT
    assert app.refresh(of_ben["refresh_token"]).status_code == 200
    bans.lift(user=user, by=None, reason="A mistake")
    assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN
    assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT


def test_a_waiting_request_leads_nowhere(ada: Client, app: App, user: User) -> None:
    path = authorize(ada, app.application)["Location"]
    _ban(user)
    for answer in (ada.get(path), ada.post(path, {"decision": "allow"})):
        assert place_of(answer) == "/accounts/login/"
    assert not Grant.objects.exists()


def test_a_token_that_a_ban_missed_is_dead_all_the_same(ada: Client, app: App, user: User) -> None:
    tokens, code = app.sign_in(ada), code_for(ada, app.application)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN
    assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT
    assert refused(app.exchange(code)) == INVALID_GRANT
    for kind in ("access_token", "refresh_token"):
        assert app.introspect(tokens[kind]).json() == {"active": False}


def test_an_app_of_a_banned_owner_works_on_for_others(ada: Client, app: App) -> None:
    _ban(app.application.user)
    assert app.sign_in(ada)["token_type"] == "Bearer"


def _suspend(app: App) -> None:
    applications.suspend(application=app.application, by=None, reason="Abuse")


def _restore(app: App) -> None:
    applications.restore(application=app.application, by=None)


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


SCOPE = "email"


@pytest.fixture
def unlocked(app: App) -> App:
    applications.unlock_scope(owner=app.application.user, scope=SCOPE, by=None, reason="Known to us")
    return app


def _relock(unlocked: App) -> None:
    applications.relock_scope(owner=unlocked.application.user, scope=SCOPE, by=None, reason="Broke a promise")


def _deregister(unlocked: App, scope: str) -> None:
    for locked in LOCKED_SCOPES:
        applications.unlock_scope(owner=unlocked.application.user, scope=locked, by=None, reason="Known to us")
    left = [name for name in SCOPES if name != scope]
    applications.change_scopes(application=unlocked.application, scopes=left, by=unlocked.application.user)


def test_tokens_that_live_no_longer_give_it(unlocked: App, browser: Client) -> None:
    tokens = unlocked.sign_in(browser)
    assert SCOPE in userinfo(tokens["access_token"]).json()
    _relock(unlocked)
    left = " ".join(name for name in SCOPES if name != SCOPE)
    assert SCOPE not in userinfo(tokens["access_token"]).json()
    assert unlocked.introspect(tokens["access_token"]).json()["scope"] == left
    assert unlocked.introspect(tokens["refresh_token"]).json()["scope"] == left
    assert refused(unlocked.refresh(tokens["refresh_token"], scope=f"openid {SCOPE}")) == INVALID_SCOPE
    refreshed = unlocked.refresh(tokens["refresh_token"]).json()
    assert refreshed["scope"] == left
    assert SCOPE not in claims_of(refreshed["id_token"])
    assert SCOPE not in userinfo(refreshed["access_token"]).json()


def test_a_code_under_way_no_longer_gives_it(unlocked: App, browser: Client) -> None:
    code = code_for(browser, unlocked.application, scope=f"openid {SCOPE}")
    _relock(unlocked)
    tokens = unlocked.exchange(code).json()
    assert tokens["scope"] == "openid"
    assert SCOPE not in claims_of(tokens["id_token"])
    assert set(userinfo(tokens["access_token"]).json()) == {"sub"}


def test_neither_a_request_nor_a_consent_page_that_is_open_gives_it(unlocked: App, browser: Client) -> None:
    scope = f"openid {SCOPE}"
    code_for(browser, unlocked.application, scope=scope)  # approved, so that no page asks
    waiting = authorize(browser, unlocked.application, scope=scope, prompt="consent")
    _relock(unlocked)
    assert error_sent_back(decide(browser, waiting)) == "invalid_scope"
    assert error_sent_back(authorize(browser, unlocked.application, scope=scope)) == "invalid_scope"


@pytest.mark.parametrize("removed", ["openid", "identify", "email", "connections"])
def test_a_scope_that_the_owner_deregisters_is_left_out_of_exchange_and_refresh(
    unlocked: App, browser: Client, removed: str
) -> None:
    code, first = code_for(browser, unlocked.application, scope=EVERY_SCOPE), unlocked.sign_in(browser)
    _deregister(unlocked, removed)
    left = [name for name in SCOPES if name != removed]
    for answer in (unlocked.exchange(code), unlocked.refresh(first["refresh_token"])):
        tokens = answer.json()
        assert tokens["scope"].split() == left
        assert "refresh_token" in tokens
        if removed == "openid":
            assert "id_token" not in tokens
        else:
            claims = {*claims_of(tokens["id_token"]), *userinfo(tokens["access_token"]).json()}
            assert not {*SCOPES[removed].claims} & claims


@pytest.mark.embedded
def test_without_offline_access_a_refresh_gives_no_refresh_token_and_uses_up_its_own(
    unlocked: App, browser: Client
) -> None:
    code, first = code_for(browser, unlocked.application, scope=EVERY_SCOPE), unlocked.sign_in(browser)
    _deregister(unlocked, "offline_access")
    assert "refresh_token" not in unlocked.exchange(code).json()
    answer = unlocked.refresh(first["refresh_token"])
    assert answer.status_code == 200
    assert "refresh_token" not in answer.json()
    assert unlocked.is_live(answer.json()["access_token"])
    assert refused(unlocked.refresh(first["refresh_token"])) == INVALID_GRANT
    assert not RefreshToken.objects.filter(revoked=None).exists()


ONE_SECOND = timedelta(seconds=1)
CODE = timedelta(minutes=10)
ACCESS_TOKEN = timedelta(hours=1)
REFRESH_TOKEN = timedelta(days=30)


@pytest.mark.parametrize(
    ("lifetime", "issue", "use", "error"),
    [
        (CODE, lambda app, browser: code_for(browser, app.application), App.exchange, INVALID_GRANT),
        (
            ACCESS_TOKEN,
            lambda app, browser: app.sign_in(browser)["access_token"],
            lambda _, token: userinfo(token),
            INVALID_TOKEN,
        ),
        (REFRESH_TOKEN, lambda app, browser: app.sign_in(browser)["refresh_token"], App.refresh, INVALID_GRANT),
    ],
    ids=["code", "access token", "refresh token"],
)
def test_codes_and_tokens_work_until_just_before_their_expiry(
    clock: time_machine.Traveller,
    app: App,
    browser: Client,
    lifetime: timedelta,
    issue: Callable[[App, Client], str],
    use: Callable[[App, str], Answer],
    error: tuple[int, str],
) -> None:
    in_time, too_late = issue(app, browser), issue(app, browser)
    clock.shift(lifetime - ONE_SECOND)
    assert use(app, in_time).status_code == 200
    clock.shift(ONE_SECOND)
    assert refused(use(app, too_late)) == error


def test_every_refresh_starts_the_thirty_days_anew(clock: time_machine.Traveller, app: App, browser: Client) -> None:
    token = app.sign_in(browser)["refresh_token"]
    for _ in range(2):  # nearly two months
        clock.shift(REFRESH_TOKEN - ONE_SECOND)
        token = app.refresh(token).json()["refresh_token"]
    clock.shift(REFRESH_TOKEN)
    assert refused(app.refresh(token)) == INVALID_GRANT


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
