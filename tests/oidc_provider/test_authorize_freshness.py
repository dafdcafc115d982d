"""Reauthentication by `prompt=login` and `max_age`, and the claim `auth_time`."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from accounts.models import User
from tests.accounts.clock import NOON
from tests.factories.accounts import PASSWORD
from tests.oidc_provider.protocol import (
    Answer,
    App,
    authorize,
    claims_of,
    code_for,
    error_sent_back,
    log_in,
    place_of,
    sent_back,
    waiting_at,
)

ONE_HOUR = 3600
LOGIN, AGAIN = "/accounts/login/", "/accounts/reauthenticate/"


@pytest.fixture
def browser(clock: time_machine.Traveller, user: User) -> Client:
    """Ada's browser: signed in through the login page at noon."""
    browser = Client()
    browser.post(LOGIN, {"login": "ada", "password": PASSWORD})
    return browser


def _auth_time(app: App, answer: Answer) -> int:
    claims = claims_of(app.exchange(sent_back(answer)["code"]).json()["id_token"])
    return int(claims["auth_time"]) - int(NOON.timestamp())


def _again(browser: Client, waiting: str, password: str = PASSWORD) -> Answer:
    return browser.post(AGAIN, {"password": password, "next": waiting})


def test_prompt_login_asks_for_the_password_again(clock: time_machine.Traveller, browser: Client, app: App) -> None:
    code_for(browser, app.application)
    clock.shift(timedelta(hours=1))
    answer = authorize(browser, app.application, prompt="login")
    assert place_of(answer) == AGAIN
    waiting = waiting_at(answer)
    clock.shift(timedelta(seconds=5))
    answer = _again(browser, waiting)
    assert answer["Location"] == waiting
    assert _auth_time(app, browser.get(waiting)) == ONE_HOUR + 5


def test_prompt_login_asks_although_max_age_is_met(clock: time_machine.Traveller, browser: Client, app: App) -> None:
    code_for(browser, app.application)
    clock.shift(timedelta(minutes=1))
    assert place_of(authorize(browser, app.application, prompt="login", max_age="3600")) == AGAIN


def test_prompt_login_consent_asks_for_both(clock: time_machine.Traveller, browser: Client, app: App) -> None:
    code_for(browser, app.application)
    clock.shift(timedelta(minutes=1))
    answer = authorize(browser, app.application, prompt="login consent")
    assert place_of(answer) == AGAIN
    clock.shift(timedelta(seconds=5))
    _again(browser, waiting_at(answer))
    assert browser.get(waiting_at(answer)).status_code == 200  # the consent page


def test_prompt_login_cannot_be_bypassed(clock: time_machine.Traveller, browser: Client, app: App) -> None:
    code_for(browser, app.application)
    clock.shift(timedelta(minutes=1))
    waiting = waiting_at(authorize(browser, app.application, prompt="login"))
    assert place_of(browser.get(waiting)) == AGAIN
    assert place_of(browser.post(waiting, {"decision": "allow"})) == AGAIN
    assert _again(browser, waiting, "wrong").status_code == 200
    assert place_of(browser.get(waiting)) == AGAIN


def test_prompt_login_of_a_visitor_asks_once(clock: time_machine.Traveller, user: User, app: App) -> None:
    visitor = Client()
    answer = authorize(visitor, app.application, prompt="login")
    assert place_of(answer) == LOGIN
    waiting = waiting_at(answer)
    clock.shift(timedelta(seconds=5))
    log_in(visitor, waiting)
    assert visitor.get(waiting).status_code == 200  # the consent page


@pytest.mark.parametrize(
    ("max_age", "age", "is_asked"),
    [
        ("3600", 3600, False),
        ("3600", 3601, True),
        ("0", 1, True),
        ("1", 1, False),
    ],
)
def test_max_age_asks_again_when_the_sign_in_is_too_old(
    clock: time_machine.Traveller, browser: Client, app: App, max_age: str, age: int, is_asked: bool
) -> None:
    code_for(browser, app.application)
    clock.shift(timedelta(seconds=age))
    answer = authorize(browser, app.application, max_age=max_age)
    assert (place_of(answer) == AGAIN) is is_asked
    if is_asked:
        clock.shift(timedelta(seconds=2))
        _again(browser, waiting_at(answer))
        assert _auth_time(app, browser.get(waiting_at(answer))) == age + 2
    else:
        assert _auth_time(app, answer) == 0


def test_prompt_none_with_a_stale_sign_in_is_login_required(
    clock: time_machine.Traveller, browser: Client, app: App
) -> None:
    code_for(browser, app.application)
    clock.shift(timedelta(seconds=61))
    assert error_sent_back(authorize(browser, app.application, prompt="none", max_age="60")) == "login_required"
    assert "code" in sent_back(authorize(browser, app.application, prompt="none", max_age="61"))


def test_a_person_without_a_password_signs_in_anew(
    clock: time_machine.Traveller, browser: Client, user: User, app: App
) -> None:
    code_for(browser, app.application)
    user.set_unusable_password()
    user.save()
    browser.force_login(user)
    clock.shift(timedelta(minutes=1))
    answer = authorize(browser, app.application, prompt="login")
    assert place_of(answer) == LOGIN
    assert "_auth_user_id" not in browser.session
