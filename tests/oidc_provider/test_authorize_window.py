"""Login and consent must end within ten minutes of the authorization request."""

from __future__ import annotations

from datetime import timedelta

import lxml.html
import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.test import Client, RequestFactory

from accounts.models import User
from accounts.sign_up import waiting_apps
from oidc_provider.applications import applications
from oidc_provider.models import Approval, Grant
from tests.factories.oidc_provider import REDIRECT_URL
from tests.oidc_provider.protocol import App, authorize, code_for, log_in, place_of, sent_back, waiting_at

JUST_IN_TIME = timedelta(minutes=9, seconds=59)
TOO_LATE = timedelta(minutes=10)


@pytest.mark.parametrize(("method", "data"), [("get", {}), ("post", {"decision": "allow"})])
def test_later_there_is_a_page_with_a_link_back_to_the_app(
    clock: time_machine.Traveller, browser: Client, app: App, method: str, data: dict[str, str]
) -> None:
    path = authorize(browser, app.application)["Location"]
    clock.shift(TOO_LATE)
    answer = getattr(browser, method)(path, data)
    assert answer.status_code == 400
    assert "within 10 minutes" in answer.content.decode()
    links = lxml.html.fromstring(answer.content).xpath('//main//a[starts-with(@href, "https://app.example.org")]/@href')
    assert [link.partition("?")[0] for link in links] == [REDIRECT_URL]
    assert "error=access_denied" in links[0]
    assert "state=the+state" in links[0]
    assert not Approval.objects.exists()
    assert not Grant.objects.exists()


def test_login_counts_into_the_ten_minutes(clock: time_machine.Traveller, user: User, app: App) -> None:
    visitor = Client()
    waiting = waiting_at(authorize(visitor, app.application))
    clock.shift(JUST_IN_TIME)
    log_in(visitor, waiting)
    clock.shift(timedelta(seconds=1))
    assert visitor.get(waiting).status_code == 400
    assert visitor.post(waiting, {"decision": "allow"}).status_code == 400
    assert not Grant.objects.exists()


def test_switching_the_account_too_late_keeps_the_session(
    clock: time_machine.Traveller, browser: Client, app: App
) -> None:
    path = authorize(browser, app.application)["Location"]
    clock.shift(TOO_LATE)
    assert browser.post(f"{path}/switch-account").status_code == 400
    assert "_auth_user_id" in browser.session


def test_the_code_lives_ten_minutes_from_its_own_issue(
    clock: time_machine.Traveller, browser: Client, app: App
) -> None:
    path = authorize(browser, app.application)["Location"]
    clock.shift(JUST_IN_TIME)
    assert browser.get(path).status_code == 200
    code = sent_back(browser.post(path, {"decision": "allow"}))["code"]
    clock.shift(JUST_IN_TIME)
    assert app.exchange(code).status_code == 200


def test_a_visitor_gets_a_cookie_for_ten_minutes_and_no_session(clock: time_machine.Traveller, app: App) -> None:
    visitor = Client()
    answer = authorize(visitor, app.application, login_hint="ada")
    assert set(answer.cookies) == {"waiting_apps"}
    (cookie,) = answer.cookies.values()
    assert (cookie["max-age"], cookie["httponly"], cookie["samesite"]) == (600, True, "Lax")
    assert not Session.objects.exists()
    assert _hint(visitor) == "ada"
    clock.shift(TOO_LATE + timedelta(seconds=1))
    assert _hint(visitor) == ""


@pytest.mark.parametrize("decision", ["allow", "cancel", ""])
def test_the_answer_to_the_app_drops_the_cookie(browser: Client, app: App, decision: str) -> None:
    """By Allow, by Cancel, and by a kept approval, for which the consent page has nothing to ask."""
    if not decision:
        code_for(browser, app.application)
    visitor = Client()
    consent = waiting_at(authorize(visitor, app.application, login_hint="ada"))
    log_in(visitor, consent)
    answer = visitor.post(consent, {"decision": decision}) if decision else visitor.get(consent)
    assert place_of(answer) == app.application.redirect_urls[0]
    assert (answer.cookies["waiting_apps"].value, answer.cookies["waiting_apps"]["max-age"]) == ("", 0)
    visitor.logout()
    assert _hint(visitor) == ""


@pytest.mark.parametrize("value", ["", "x", "\x00", "x" * 5_000, "W1siaHR0cHM6Il0sIiJd:1:x"])
def test_a_cookie_that_we_did_not_sign_says_nothing(client: Client, db: None, value: str) -> None:
    client.cookies["waiting_apps"] = value
    assert _hint(client) == ""
    assert "form-action 'self';" in client.get("/accounts/login/")["Content-Security-Policy"]


def test_the_five_newest_apps_are_named_each_once(app: App) -> None:
    visitor = Client()
    urls = [f"https://app{number}.example.org/cb" for number in range(6)]
    applications.change_redirect_urls(application=app.application, redirect_urls=urls, by=None)
    for url in (*urls, urls[4]):
        authorize(visitor, app.application, redirect_uri=url)
    request = RequestFactory().get("/")
    request.COOKIES["waiting_apps"] = visitor.cookies["waiting_apps"].value
    named = waiting_apps.of(request).form_actions
    assert named == tuple(f"https://app{number}.example.org https:" for number in (1, 2, 3, 5, 4))
    assert len(visitor.cookies["waiting_apps"].value) < 1_000


def _hint(browser: Client) -> str:
    return str(browser.get("/accounts/login/").context["form"].initial.get("login", ""))
