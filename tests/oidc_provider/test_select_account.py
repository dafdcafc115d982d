"""`prompt=select_account`: the page shows the signed-in account and offers another one."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from accounts.models import User
from oidc_provider.models import Grant
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
