"""Back-channel logout: which sign-outs an app hears of, and by which names of sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine
from allauth.usersessions.models import UserSession
from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts import bans, credentials, notifications, second_factor, users
from accounts.models import User, WebhookDelivery
from accounts.models.webhooks import LOGOUT
from oidc_provider import revocation
from oidc_provider.applications import applications
from oidc_provider.authorize import approvals
from oidc_provider.models import Application, Approval, ClientSession, Grant, RefreshToken
from tests.accounts.test_new_browsers import path_in
from tests.accounts.test_passwords import NEW_PASSWORD, reset_link
from tests.factories.accounts import PASSWORD
from tests.oidc_provider.protocol import App, authorize, claims_of, code_for
from tests.support.browser import Browser
from tests.support.second_factors import with_app

pytestmark = pytest.mark.django_db

LOGOUT_URL = "https://app.example.org/logout"
EVERYWHERE = None  # in place of a sid: all sessions of the person
SCOPE = "openid offline_access"


@pytest.fixture
def heard(app: App) -> App:
    """An app with a logout URL."""
    app.application.backchannel_logout_uri = LOGOUT_URL
    app.application.save()
    return app


def signed_in() -> Client:
    """A new browser, signed in as Ada through the login page."""
    client = Client()
    client.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    return client


def sid_of(tokens: dict[str, Any]) -> str:
    return str(claims_of(tokens["id_token"])["sid"])


def logouts(application: Application) -> list[str | None]:
    """The sids that the app hears of, in order, each with the right person."""
    rows = WebhookDelivery.objects.filter(type=LOGOUT, client_id=application.client_id).order_by("pk")
    return [str(row.data["sid"]) if row.data else EVERYWHERE for row in rows]


@dataclass
class World:
    """Ada has signed in with two browsers, and with both at the app. `mails`: that she got."""

    user: User
    this: Client
    other: Client
    app: App
    mails: list[EmailMessage]

    def key_of(self, browser: Client) -> str:
        return str(browser.session.session_key)

    def row_of(self, browser: Client) -> UserSession:
        row: UserSession = UserSession.objects.get(session_key=self.key_of(browser))
        return row


def sign_out(world: World) -> None:
    assert world.this.post("/accounts/logout/").status_code == 302


def end_it_from_the_list(world: World) -> None:
    assert world.other.post(f"/dashboard/account/sessions/{world.row_of(world.this).pk}/end/").status_code == 302


def end_the_current_one_in_the_list(world: World) -> None:
    assert world.this.post(f"/dashboard/account/sessions/{world.row_of(world.this).pk}/end/").status_code == 302


def sign_out_all_others(world: World) -> None:
    assert world.other.post("/accounts/sessions/").status_code == 302


def end_it_by_the_mailed_link(world: World) -> None:
    assert Client().post(path_in(world.mails[0])).status_code == 200


def use_another_account(world: World) -> None:
    waiting = authorize(world.this, world.app.application, prompt="consent")["Location"].rpartition("/")[2]
    assert world.this.post(f"/consent/{waiting}/switch-account").status_code == 302


def choose_a_new_password(world: World) -> None:
    passwords = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    assert world.other.post("/accounts/password/change/", passwords).status_code == 302


def reset_the_password_by_mail(world: World) -> None:
    Browser().open("/accounts/password/reset/").submit(email=world.user.email)
    Browser().open(reset_link(world.mails[-1])).submit(password1=NEW_PASSWORD, password2=NEW_PASSWORD)
    world.user.refresh_from_db()
    assert world.user.check_password(NEW_PASSWORD)


def reset_the_password_by_staff(world: World) -> None:
    users.reset_password(user=world.user, by=None)


def reset_the_second_factor(world: World) -> None:
    with_app(world.user)
    second_factor.reset(user=world.user, by=None, reason="Lost")


def disconnect(world: World) -> None:
    path = f"/accounts/connected-apps/{world.app.application.client_id}/disconnect/"
    assert world.this.post(path).status_code == 302


def disconnect_by_staff(world: World) -> None:
    approval = Approval.objects.get(user=world.user, application=world.app.application)
    approvals.withdraw(approval=approval, by=None, reason="Asked by mail")


def end_all_access(world: World) -> None:
    credentials.end_access(user=world.user, by=world.user)


def ban(world: World) -> None:
    bans.ban(user=world.user, by=None, reason="Abuse")


def delete(world: World) -> None:
    users.delete(user=world.user, by=None)


THIS = ("this",)
BOTH = ("this", "other")
ENDS: list[tuple[Callable[[World], None], tuple[str, ...], bool]] = [
    # What ends, of which browsers, and whether the person has left the app.
    (sign_out, THIS, False),
    (end_it_from_the_list, THIS, False),
    (end_the_current_one_in_the_list, THIS, False),
    (sign_out_all_others, THIS, False),
    (end_it_by_the_mailed_link, THIS, False),
    (use_another_account, THIS, False),
    (choose_a_new_password, THIS, False),
    (reset_the_password_by_mail, BOTH, False),
    (reset_the_password_by_staff, BOTH, False),
    (reset_the_second_factor, BOTH, False),
    (disconnect, BOTH, True),
    (disconnect_by_staff, BOTH, True),
    (end_all_access, BOTH, True),
    (ban, BOTH, True),
    (delete, BOTH, True),
]


@pytest.fixture
def world(
    user: User,
    app: App,
    other_browser: Client,
    mailoutbox: list[EmailMessage],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> World:
    """`app` has a logout URL where the parameter says so. Ben has signed in there, too."""
    monkeypatch.setattr(notifications, "transaction", SimpleNamespace(on_commit=lambda send: send()))
    if request.param:
        request.getfixturevalue("heard")
    app.sign_in(other_browser, SCOPE)
    return World(user, signed_in(), signed_in(), app, mailoutbox)


@pytest.mark.parametrize("world", [True], indirect=True)
@pytest.mark.parametrize(("end", "browsers", "is_left"), ENDS, ids=lambda value: getattr(value, "__name__", ""))
def test_an_app_with_a_logout_url_hears_of(
    world: World, end: Callable[[World], None], browsers: tuple[str, ...], is_left: bool
) -> None:
    sids = {name: sid_of(world.app.sign_in(getattr(world, name), SCOPE)) for name in BOTH}
    user_id = world.user.pk
    end(world)
    assert logouts(world.app.application) == [*(sids[name] for name in browsers), *([EVERYWHERE] if is_left else [])]
    assert set(WebhookDelivery.objects.values_list("subject", flat=True)) == {user_id}
    assert set(ClientSession.objects.filter(user=user_id).values_list("sid", flat=True)) == {
        sids[name] for name in BOTH if name not in browsers
    }
    assert ClientSession.objects.exclude(user=user_id).count() == 1  # Ben's


@pytest.mark.parametrize("world", [False], indirect=True)
@pytest.mark.parametrize(("end", "browsers", "is_left"), ENDS, ids=lambda value: getattr(value, "__name__", ""))
def test_an_app_without_a_logout_url_does_not_hear_of(
    world: World, end: Callable[[World], None], browsers: tuple[str, ...], is_left: bool
) -> None:
    for name in BOTH:
        assert "sid" not in claims_of(world.app.sign_in(getattr(world, name), SCOPE)["id_token"])
    assert not ClientSession.objects.exists()
    end(world)
    assert logouts(world.app.application) == []


@pytest.mark.embedded
def test_a_session_has_one_sid_at_an_app_and_others_elsewhere(heard: App, other_app: App, user: User) -> None:
    other_app.application.backchannel_logout_uri = LOGOUT_URL
    other_app.application.save()
    first, second = signed_in(), signed_in()
    known = sid_of(heard.sign_in(first, SCOPE))
    assert sid_of(heard.sign_in(first, SCOPE)) == known
    assert len({known, sid_of(heard.sign_in(second, SCOPE)), sid_of(other_app.sign_in(first, SCOPE))}) == 3
    first.post("/accounts/logout/")
    first.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert sid_of(heard.sign_in(first, SCOPE)) != known


@pytest.mark.embedded
def test_the_sid_stays_through_refreshes_and_a_new_password(heard: App, user: User) -> None:
    browser = signed_in()
    tokens = heard.sign_in(browser, SCOPE)
    sid, key = sid_of(tokens), browser.session.session_key
    refreshed = heard.refresh(tokens["refresh_token"]).json()
    passwords = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    browser.post("/accounts/password/change/", passwords)
    assert browser.session.session_key != key
    again = heard.refresh(refreshed["refresh_token"]).json()
    assert {sid_of(refreshed), sid_of(again), sid_of(heard.sign_in(browser, SCOPE))} == {sid}
    assert logouts(heard.application) == []
    browser.post("/accounts/logout/")
    assert logouts(heard.application) == [sid]


def test_a_session_from_before_sessions_had_names_gets_one_at_the_first_sign_in(heard: App, user: User) -> None:
    browser = signed_in()
    session = browser.session
    del session["browser_session"]
    session.save()
    sid = sid_of(heard.sign_in(browser, SCOPE))
    assert sid_of(heard.sign_in(browser, SCOPE)) == sid
    browser.post("/accounts/logout/")
    assert logouts(heard.application) == [sid]


def test_a_request_without_openid_opens_no_session(heard: App, browser: Client) -> None:
    heard.sign_in(browser, "identify")
    assert not ClientSession.objects.exists()


def test_an_app_that_gave_its_logout_url_up_hears_nothing_and_its_id_tokens_keep_the_sid(
    heard: App, browser: Client, user: User
) -> None:
    tokens = heard.sign_in(browser, SCOPE)
    application = applications.change_details(application=heard.application, backchannel_logout_uri="", by=None)
    assert sid_of(heard.refresh(tokens["refresh_token"]).json()) == sid_of(tokens)
    approvals.disconnect(user=user, application=application, by=user)
    assert logouts(application) == []
    assert not ClientSession.objects.exists()


def test_an_app_that_is_disconnected_again_hears_of_it_once(heard: App, browser: Client, user: User) -> None:
    sid = sid_of(heard.sign_in(browser, SCOPE))
    for _ in range(2):
        approvals.disconnect(user=user, application=heard.application, by=user)
    assert logouts(heard.application) == [sid, EVERYWHERE]


def test_a_suspended_app_hears_of_sign_outs_but_not_of_its_suspension(heard: App, user: User) -> None:
    browser = signed_in()
    sid = sid_of(heard.sign_in(browser, SCOPE))
    applications.suspend(application=heard.application, by=None, reason="Abuse")
    assert logouts(heard.application) == []
    browser.post("/accounts/logout/")
    assert logouts(heard.application) == [sid]


def test_the_end_of_all_tokens_of_an_app_ends_no_session(heard: App, browser: Client) -> None:
    heard.sign_in(browser, SCOPE)
    applications.revoke_tokens(application=heard.application, by=None)
    assert logouts(heard.application) == []
    assert ClientSession.objects.count() == 1


def test_a_logout_and_the_end_of_the_session_are_written_together(heard: App, user: User) -> None:
    heard.sign_in(signed_in(), SCOPE)
    with pytest.raises(RuntimeError), transaction.atomic():
        users.end_sessions(user)
        raise RuntimeError
    assert logouts(heard.application) == []
    assert ClientSession.objects.count() == UserSession.objects.count() == 1


def test_while_redis_is_away_neither_the_session_nor_those_at_apps_end(
    heard: App, user: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = signed_in()
    heard.sign_in(browser, SCOPE)

    def refuse(self: object, session_key: str | None = None) -> None:
        raise ConnectionError

    monkeypatch.setattr(type(browser.session), "delete", refuse)
    with pytest.raises(ConnectionError):
        browser.post("/accounts/logout/")
    assert logouts(heard.application) == []


DAY = timedelta(days=1)


def test_a_session_at_an_app_is_forgotten_with_its_last_refresh_token(
    clock: time_machine.Traveller, heard: App, browser: Client
) -> None:
    token = heard.sign_in(browser, SCOPE)["refresh_token"]
    for _ in range(2):
        clock.shift(29 * DAY)
        token = heard.refresh(token).json()["refresh_token"]
        revocation.delete_past_use(timezone.now())
        assert ClientSession.objects.count() == 1
    clock.shift(30 * DAY)
    revocation.delete_past_use(timezone.now())
    assert not ClientSession.objects.exists()


def test_a_session_without_a_refresh_token_is_kept_as_long_as_one_could_live(
    clock: time_machine.Traveller, heard: App, browser: Client
) -> None:
    heard.sign_in(browser, "openid")
    clock.shift(30 * DAY - timedelta(seconds=1))
    revocation.delete_past_use(timezone.now())
    assert ClientSession.objects.count() == 1
    clock.shift(timedelta(seconds=1))
    revocation.delete_past_use(timezone.now())
    assert not ClientSession.objects.exists()


def statements(act: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        act()
    return len(captured)


@pytest.mark.embedded
def test_a_logout_url_costs_one_statement_at_the_code_and_none_at_the_tokens(
    heard: App, other_app: App, browser: Client
) -> None:
    def counts_of(app: App) -> list[int]:
        token = app.sign_in(browser, SCOPE)["refresh_token"]
        code = code_for(browser, app.application, scope=SCOPE)
        return [
            statements(lambda: code_for(browser, app.application, scope=SCOPE)),
            statements(lambda: app.exchange(code)),
            statements(lambda: app.refresh(token)),
        ]

    at_code, at_exchange, at_refresh = counts_of(other_app)
    assert counts_of(heard) == [at_code + 1, at_exchange, at_refresh]


def test_a_sign_out_costs_one_statement_without_sessions_at_apps(user: User, app: App) -> None:
    browser, named = signed_in(), signed_in()
    session = browser.session
    del session["browser_session"]
    session.save()
    less = statements(lambda: browser.post("/accounts/logout/"))
    with CaptureQueriesContext(connection) as captured:
        named.post("/accounts/logout/")
    assert len([query for query in captured.captured_queries if "clientsession" in query["sql"]]) == 1
    assert len(captured) == less + 3  # with a savepoint


def test_codes_and_refresh_tokens_have_no_sid_unless_the_app_has_a_logout_url(app: App, browser: Client) -> None:
    app.sign_in(browser, SCOPE)
    assert set(Grant.objects.values_list("sid", flat=True)) == {""}
    assert set(RefreshToken.objects.values_list("sid", flat=True)) == {""}
