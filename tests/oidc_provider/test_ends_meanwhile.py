"""An end of access waits for uncommitted token requests and leaves no code or token.

The waiting is seen in PostgreSQL's list of locks; SQLite has one writer at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts import bans, users
from accounts.models import User, WebhookDelivery
from infrastructure.hashing import digest
from oidc_provider import revocation
from oidc_provider.applications import applications
from oidc_provider.authorize import approvals
from oidc_provider.models import AccessToken, Approval, ClientSession, Grant, RefreshToken
from oidc_provider.token import token_queries
from tests.oidc_provider.protocol import EVERY_SCOPE, App, authorize, code_for
from tests.support.threads import GIVE_UP, together, wait_for_a_blocked_statement

pytestmark = pytest.mark.django_db(transaction=True)

ENDS: dict[str, Callable[[App, User], object]] = {
    "the user disconnects": lambda app, user: approvals.disconnect(user=user, application=app.application, by=user),
    "staff suspend the app": lambda app, user: applications.suspend(application=app.application, by=None, reason="x"),
    "the owner deletes the app": lambda app, user: applications.delete(application=app.application, by=None),
    "staff ban the user": lambda app, user: bans.ban(user=user, by=None, reason="x"),
    "staff delete the user": lambda app, user: users.delete(user=user, by=None),
    "staff delete the app's owner": lambda app, user: users.delete(user=app.application.user, by=None),
}


def _pause_after(module: ModuleType, step: str, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let the function `step` return once another statement waits. Return the event that it has run."""
    is_between = threading.Event()
    carry_out = getattr(module, step)

    def pause_after(*given: object, **options: object) -> object:
        done = carry_out(*given, **options)
        is_between.set()
        wait_for_a_blocked_statement()
        return done

    monkeypatch.setattr(module, step, pause_after)
    return is_between


def _presented(app: App, browser: Client, kind: str) -> Callable[[], object]:
    """Return what uses up a new code or refresh token, and reads it before."""
    now, client_id = timezone.now(), app.application.client_id
    if kind == "code":
        code = token_queries.read_code(client_id, digest(code_for(browser, app.application, scope=EVERY_SCOPE)))
        assert code is not None
        return lambda: token_queries.exchange(code, code.scopes(), now)
    value = app.sign_in(browser, EVERY_SCOPE)["refresh_token"]
    token = token_queries.read_refresh_token(client_id, digest(value))
    assert token is not None
    return lambda: token_queries.rotate(token, token.scopes(), now)


@pytest.mark.parametrize("kind", ["code", "refresh token"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_an_end_in_the_middle_of_a_token_request_leaves_nothing(
    app: App, browser: Client, user: User, end: Callable[[App, User], object], kind: str
) -> None:
    use_up = _presented(app, browser, kind)
    is_between = threading.Event()

    def act(number: int) -> None:
        if number == 0:
            with transaction.atomic():  # which holds the row that is used up, as the statement does until its commit
                assert use_up()
                is_between.set()
                wait_for_a_blocked_statement()
        else:
            assert is_between.wait(GIVE_UP)
            end(app, user)

    together(2, act)
    assert [model.objects.count() for model in (Grant, AccessToken, RefreshToken)] == [0, 0, 0]


@pytest.mark.parametrize("made", ["before", "meanwhile"])
@pytest.mark.parametrize(
    ("end", "step"),
    [
        ("the user disconnects", "disconnect"),
        ("the owner deletes the app", "delete_of_application"),
        ("staff delete the user", "delete_of_user"),
    ],
)
def test_an_exchange_in_the_middle_of_an_end_waits_for_it_and_is_refused(
    app: App, browser: Client, user: User, monkeypatch: pytest.MonkeyPatch, end: str, step: str, made: str
) -> None:
    """The end pauses where it has deleted every code and token."""
    app.sign_in(browser)
    code = code_for(browser, app.application, scope="openid")
    is_between = _pause_after(revocation, step, monkeypatch)

    def act(number: int) -> int:
        if number == 0:
            ENDS[end](app, user)
            return 0
        assert is_between.wait(GIVE_UP)
        answer = app.exchange(code if made == "before" else code_for(browser, app.application, scope="openid"))
        return int(answer.status_code)

    assert together(2, act) == [0, 400]
    assert [model.objects.count() for model in (Approval, AccessToken, RefreshToken)] == [0, 0, 0]


def test_an_exchange_during_an_uncommitted_approval_waits_for_it_and_is_answered(
    app: App, browser: Client, user: User
) -> None:
    code = code_for(browser, app.application, scope="openid")
    is_between = threading.Event()

    def act(number: int) -> int:
        if number == 0:
            with transaction.atomic():
                approvals.approve(user=user, application=app.application, scopes=["email"], now=timezone.now())
                is_between.set()
                wait_for_a_blocked_statement()
            return 0
        assert is_between.wait(GIVE_UP)
        return int(app.exchange(code).status_code)

    assert together(2, act) == [0, 200]


def test_an_end_deletes_the_refresh_tokens_of_two_refreshes_meanwhile(app: App, browser: Client) -> None:
    token = app.sign_in(browser, EVERY_SCOPE)["refresh_token"]
    is_first, is_deleted, is_second = threading.Event(), threading.Event(), threading.Event()

    def rotate(token: str, is_between: threading.Event) -> str:
        found = token_queries.read_refresh_token(app.application.client_id, digest(token))
        assert found is not None
        with transaction.atomic():
            new = token_queries.rotate(found, found.scopes(), timezone.now())
            is_between.set()
            wait_for_a_blocked_statement()
        assert new is not None
        assert new.refresh_token is not None
        return new.refresh_token

    def pause_after_the_first(execute: Callable[..., object], sql: str, *given: object) -> object:
        done = execute(sql, *given)
        if sql.startswith('DELETE FROM "oidc_provider_refreshtoken"') and not is_deleted.is_set():
            is_deleted.set()
            assert is_second.wait(GIVE_UP)
        return done

    def act(number: int) -> None:
        if number == 0:
            second = rotate(token, is_first)
            assert is_deleted.wait(GIVE_UP)
            rotate(second, is_second)
            return
        assert is_first.wait(GIVE_UP)
        with connection.execute_wrapper(pause_after_the_first):
            applications.revoke_tokens(application=app.application, by=None)

    together(2, act)
    assert [model.objects.count() for model in (Grant, AccessToken, RefreshToken)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("end", "has_approved"),
    [
        ("staff delete the user", True),
        ("staff delete the user", False),
        ("the owner deletes the app", True),
    ],
)
def test_a_request_during_an_uncommitted_deletion_is_refused(
    app: App, browser: Client, user: User, end: str, has_approved: bool
) -> None:
    """The request still reads the deleted rows; its own write violates a foreign key."""
    if has_approved:
        app.sign_in(browser)
    waiting = authorize(browser, app.application, prompt="consent")["Location"]
    is_between = threading.Event()

    def act(number: int) -> int:
        if number == 0:
            with transaction.atomic():
                ENDS[end](app, user)
                is_between.set()
                wait_for_a_blocked_statement()
            return 0
        assert is_between.wait(GIVE_UP)
        return browser.post(waiting, {"decision": "allow"}).status_code

    assert together(2, act) == [0, 400]
    assert [model.objects.count() for model in (Grant, Approval)] == [0, 0]


# The end pauses after this step: it has deleted a part of what a disconnect deletes.
STEPS: dict[str, tuple[ModuleType, str]] = {
    "the owner deletes the app": (revocation, "delete_of_application"),
    "staff ban the user": (users, "end_sessions"),
    "staff delete the user": (users, "end_sessions"),
}


@pytest.mark.parametrize("end", STEPS)
def test_a_disconnect_in_the_middle_of_another_end_waits_for_it(
    app: App, browser: Client, user: User, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """Else each would wait for a row of the other, and PostgreSQL would abort one."""
    app.application.backchannel_logout_uri = "https://app.example.org/logout"
    app.application.save()
    app.sign_in(browser, EVERY_SCOPE)
    is_between = _pause_after(*STEPS[end], monkeypatch)

    def act(number: int) -> None:
        assert number == 0 or is_between.wait(GIVE_UP)
        ENDS["the user disconnects" if number else end](app, user)

    together(2, act)
    assert [model.objects.count() for model in (Grant, AccessToken, RefreshToken)] == [0, 0, 0]


def test_of_two_ends_of_a_session_at_once_the_app_hears_once(app: App, browser: Client, user: User) -> None:
    app.application.backchannel_logout_uri = "https://app.example.org/logout"
    app.application.save()
    app.sign_in(browser)
    sid = ClientSession.objects.get().sid
    is_between = threading.Event()

    def act(number: int) -> int:
        if number == 0:
            with transaction.atomic():
                users.end_sessions(user)
                is_between.set()
                wait_for_a_blocked_statement()
            return 0
        assert is_between.wait(GIVE_UP)
        return browser.post("/accounts/logout/").status_code

    assert together(2, act) == [0, 302]
    assert [delivery.data for delivery in WebhookDelivery.objects.all()] == [{"sid": sid}]
