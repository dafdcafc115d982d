"""`prompt`, `max_age`, `login_hint` and `id_token_hint`: who is asked again, and for what."""

from __future__ import annotations

import re
from datetime import timedelta

import lxml.html
import pytest
import time_machine
from django.core.mail import EmailMessage
from django.test import Client

from accounts.models import User
from oidc_provider.models import Grant
from tests.accounts.clock import NOON
from tests.factories.accounts import PASSWORD
from tests.oidc_provider.protocol import (
    Answer,
    App,
    authorize,
    claims_of,
    code_for,
    decide,
    error_sent_back,
    log_in,
    place_of,
    sent_back,
    waiting_at,
)
from tests.support.browser import Browser

ONE_HOUR = 3600
LOGIN, AGAIN = "/accounts/login/", "/accounts/reauthenticate/"


@pytest.fixture
def ada(clock: time_machine.Traveller, user: User) -> Client:
    """Ada's browser: signed in through the login page at noon."""
    ada = Client()
    ada.post(LOGIN, {"login": "ada", "password": PASSWORD})
    return ada


def _auth_time(app: App, answer: Answer) -> int:
    claims = claims_of(app.exchange(sent_back(answer)["code"]).json()["id_token"])
    return int(claims["auth_time"]) - int(NOON.timestamp())


def _again(ada: Client, waiting: str, password: str = PASSWORD) -> Answer:
    return ada.post(AGAIN, {"password": password, "next": waiting})


def test_prompt_login_asks_for_the_password_again(clock: time_machine.Traveller, ada: Client, app: App) -> None:
    code_for(ada, app.application)
    clock.shift(timedelta(hours=1))
    answer = authorize(ada, app.application, prompt="login")
    assert place_of(answer) == AGAIN
    waiting = waiting_at(answer)
    clock.shift(timedelta(seconds=5))
    answer = _again(ada, waiting)
    assert answer["Location"] == waiting
    assert _auth_time(app, ada.get(waiting)) == ONE_HOUR + 5


def test_prompt_login_asks_although_max_age_is_met(clock: time_machine.Traveller, ada: Client, app: App) -> None:
    code_for(ada, app.application)
    clock.shift(timedelta(minutes=1))
    assert place_of(authorize(ada, app.application, prompt="login", max_age="3600")) == AGAIN


def test_prompt_login_consent_asks_for_both(clock: time_machine.Traveller, ada: Client, app: App) -> None:
    code_for(ada, app.application)
    clock.shift(timedelta(minutes=1))
    answer = authorize(ada, app.application, prompt="login consent")
    assert place_of(answer) == AGAIN
    clock.shift(timedelta(seconds=5))
    _again(ada, waiting_at(answer))
    assert ada.get(waiting_at(answer)).status_code == 200  # the consent page


def test_prompt_login_cannot_be_bypassed(clock: time_machine.Traveller, ada: Client, app: App) -> None:
    code_for(ada, app.application)
    clock.shift(timedelta(minutes=1))
    waiting = waiting_at(authorize(ada, app.application, prompt="login"))
    assert place_of(ada.get(waiting)) == AGAIN
    assert place_of(ada.post(waiting, {"decision": "allow"})) == AGAIN
    assert _again(ada, waiting, "wrong").status_code == 200
    assert place_of(ada.get(waiting)) == AGAIN


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
    clock: time_machine.Traveller, ada: Client, app: App, max_age: str, age: int, is_asked: bool
) -> None:
    code_for(ada, app.application)
    clock.shift(timedelta(seconds=age))
    answer = authorize(ada, app.application, max_age=max_age)
    assert (place_of(answer) == AGAIN) is is_asked
    if is_asked:
        clock.shift(timedelta(seconds=2))
        _again(ada, waiting_at(answer))
        assert _auth_time(app, ada.get(waiting_at(answer))) == age + 2
    else:
        assert _auth_time(app, answer) == 0


def test_prompt_none_with_a_stale_sign_in_is_login_required(
    clock: time_machine.Traveller, ada: Client, app: App
) -> None:
    code_for(ada, app.application)
    clock.shift(timedelta(seconds=61))
    assert error_sent_back(authorize(ada, app.application, prompt="none", max_age="60")) == "login_required"
    assert "code" in sent_back(authorize(ada, app.application, prompt="none", max_age="61"))


def _signed_up(mails: list[EmailMessage]) -> Client:
    """Return the browser of Grace, who signs up."""
    grace = {"username": "Grace", "email": "grace@example.org", "password1": PASSWORD}
    browser = Browser().open("/accounts/signup/").submit(**grace)
    code = re.search(r"^\s*([A-Z0-9]{4}-[A-Z0-9]{4})\s*$", str(mails[-1].body), re.MULTILINE)
    assert code is not None
    browser.submit(code=code[1])
    signed_up = Client()
    signed_up.cookies = browser.client.cookies
    return signed_up


def test_a_sign_in_elsewhere_does_not_count_for_a_session_that_a_sign_up_opened(
    clock: time_machine.Traveller, app: App, mailoutbox: list[EmailMessage]
) -> None:
    grace = _signed_up(mailoutbox)
    clock.shift(timedelta(seconds=60))
    assert _auth_time(app, decide(grace, authorize(grace, app.application))) == 0
    waiting = waiting_at(authorize(grace, app.application, prompt="login"))
    asked = _asked(grace, app)["Location"]
    clock.shift(timedelta(seconds=1))
    log_in(Client(), "", "grace")
    assert place_of(grace.get(waiting)) == AGAIN
    assert QUESTION in grace.get(asked).content.decode()
    assert place_of(authorize(grace, app.application, max_age="60")) == AGAIN
    assert _auth_time(app, authorize(grace, app.application, max_age="61")) == 0


def test_a_person_without_a_password_signs_in_anew(
    clock: time_machine.Traveller, ada: Client, user: User, app: App
) -> None:
    code_for(ada, app.application)
    user.set_unusable_password()
    user.save()
    ada.force_login(user)
    clock.shift(timedelta(minutes=1))
    answer = authorize(ada, app.application, prompt="login")
    assert place_of(answer) == LOGIN
    assert "_auth_user_id" not in ada.session


def _login_field(browser: Client) -> str:
    page = lxml.html.fromstring(browser.get("/accounts/login/").content)
    return str(page.xpath('//input[@name="login"]/@value')[0]) if page.xpath('//input[@name="login"]/@value') else ""


@pytest.mark.parametrize("hint", ["ada@example.org", '"><script>é'])
def test_a_login_hint_fills_the_login_field(app: App, hint: str) -> None:
    visitor = Client()
    assert _login_field(visitor) == ""
    authorize(visitor, app.application, login_hint=hint)
    assert _login_field(visitor) == hint


def test_the_hint_of_one_app_is_not_shown_for_the_next(app: App, other_app: App) -> None:
    visitor = Client()
    authorize(visitor, app.application, login_hint="ada")
    authorize(visitor, other_app.application)
    assert _login_field(visitor) == ""


def test_an_expired_id_token_is_a_good_hint(clock: time_machine.Traveller, browser: Client, app: App) -> None:
    hint = app.sign_in(browser)["id_token"]
    clock.shift(timedelta(hours=11))
    assert "code" in sent_back(authorize(browser, app.application, id_token_hint=hint, prompt="none"))


@pytest.mark.parametrize("prompt", ["none", "consent"])
def test_another_users_id_token_is_login_required(
    browser: Client, other_browser: Client, app: App, prompt: str
) -> None:
    hint = app.sign_in(browser)["id_token"]
    code_for(other_browser, app.application)
    answer = authorize(other_browser, app.application, id_token_hint=hint, prompt=prompt)
    assert error_sent_back(answer) == "login_required"


def test_a_hint_with_prompt_none_and_no_session_is_login_required(browser: Client, app: App) -> None:
    hint = app.sign_in(browser)["id_token"]
    assert error_sent_back(authorize(Client(), app.application, id_token_hint=hint, prompt="none")) == "login_required"


def test_another_person_than_the_hints_who_signs_in_is_login_required(
    browser: Client, other_user: User, app: App
) -> None:
    hint = app.sign_in(browser)["id_token"]
    visitor = Client()
    waiting = waiting_at(authorize(visitor, app.application, id_token_hint=hint))
    log_in(visitor, waiting, "ben")
    assert error_sent_back(visitor.post(waiting, {"decision": "allow"})) == "login_required"


@pytest.mark.parametrize("part", [1, 2])
def test_an_id_token_that_was_changed_is_no_hint(browser: Client, app: App, part: int) -> None:
    parts = app.sign_in(browser)["id_token"].split(".")
    middle = len(parts[part]) // 2
    letter = "A" if parts[part][middle] != "A" else "B"
    parts[part] = parts[part][:middle] + letter + parts[part][middle + 1 :]
    answer = authorize(browser, app.application, id_token_hint=".".join(parts))
    assert error_sent_back(answer) == "invalid_request"


QUESTION = "Choose an account for Notebook"


def _asked(browser: Client, app: App, prompt: str = "select_account") -> Answer:
    """Return the redirect to the page that asks for the account."""
    answer = authorize(browser, app.application, prompt=prompt)
    page = browser.get(answer["Location"])
    assert page.status_code == 200
    assert QUESTION in page.content.decode()
    return answer


def _signed_in_with(app: App, answer: Answer) -> str:
    return str(claims_of(app.exchange(sent_back(answer)["code"]).json()["id_token"])["sub"])


@pytest.mark.django_db
def test_the_person_goes_on_as_who_they_are_without_a_second_consent(user: User, app: App, browser: Client) -> None:
    code_for(browser, app.application)
    person = Browser()
    person.client.force_login(user)
    answer = authorize(person.client, app.application, prompt="select_account")
    person.response = person.client.get(answer["Location"])
    assert "Signed in as Ada" in person.text
    assert "no-store" in person.response["Cache-Control"]
    assert "form-action 'self' https://app.example.org https:;" in person.response["Content-Security-Policy"]
    form = person.page.forms[0]
    confirmed = person.client.post(answer["Location"], {**dict(form.form_values()), "decision": "continue"})
    assert confirmed["Location"] == answer["Location"]
    assert _signed_in_with(app, person.client.get(answer["Location"])) == user.pk


def test_another_account_is_chosen_by_a_login(app: App, browser: Client, other_user: User) -> None:
    answer = _asked(browser, app)
    switched = browser.post(f"{answer['Location']}/switch-account")
    assert place_of(switched) == "/accounts/login/"
    log_in(browser, answer["Location"], "ben")
    assert QUESTION not in browser.get(answer["Location"]).content.decode()
    assert _signed_in_with(app, decide(browser, answer)) == other_user.pk


def test_who_signed_in_at_the_very_time_of_the_request_is_asked(
    clock: time_machine.Traveller, app: App, user: User
) -> None:
    browser = Client()
    log_in(browser, "/dashboard/")
    _asked(browser, app)


def test_a_visitor_chooses_by_the_login(app: App, user: User) -> None:
    visitor = Client()
    waiting = waiting_at(authorize(visitor, app.application, prompt="select_account"))
    log_in(visitor, waiting)
    assert QUESTION not in visitor.get(waiting).content.decode()


def test_the_question_cannot_be_bypassed_and_can_be_refused(app: App, browser: Client) -> None:
    code_for(browser, app.application)
    Grant.objects.all().delete()
    answer = _asked(browser, app)
    assert QUESTION in decide(browser, answer, "allow").content.decode()
    assert not Grant.objects.exists()
    assert error_sent_back(decide(browser, answer, "cancel")) == "access_denied"


@pytest.mark.parametrize("prompt", ["select_account consent", "login select_account consent"])
def test_it_goes_together_with_other_prompts(
    clock: time_machine.Traveller, app: App, browser: Client, prompt: str
) -> None:
    code_for(browser, app.application)
    clock.shift(timedelta(minutes=1))
    path = _asked(browser, app, prompt)["Location"]
    browser.post(path, {"decision": "continue"})
    page = browser.get(path)
    if "login" in prompt:
        assert place_of(page) == "/accounts/reauthenticate/"
        clock.shift(timedelta(seconds=5))
        browser.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": path})
        page = browser.get(path)
    assert "Notebook wants to use your" in page.content.decode()
    assert "code" in sent_back(browser.post(path, {"decision": "allow"}))
