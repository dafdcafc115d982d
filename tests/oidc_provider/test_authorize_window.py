"""Login and consent end within ten minutes of the authorization request, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import lxml.html
import pytest
import time_machine
from django.conf import settings
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone

from accounts.models import User
from oidc_provider.models import Approval, Grant
from tests.accounts.test_sign_up import code_in
from tests.factories.accounts import PASSWORD
from tests.factories.oidc_provider import REDIRECT_URL
from tests.oidc_provider.protocol import App, authorize, sent_back, waiting_at
from tests.support.browser import Browser

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
    visitor.post("/accounts/login/", {"login": "ada", "password": PASSWORD, "next": waiting})
    clock.shift(timedelta(seconds=1))
    assert visitor.get(waiting).status_code == 400
    assert visitor.post(waiting, {"decision": "allow"}).status_code == 400
    assert not Grant.objects.exists()


def test_switching_the_account_too_late_signs_nobody_out(
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


def _seconds_kept(browser: Client) -> int:
    """What is left of the browser's session, in the database and as its cookie says."""
    expires = datetime.fromtimestamp(browser.session.get_expiry_date().timestamp(), UTC)
    left = expires - timezone.now()
    assert browser.cookies["sessionid"]["max-age"] == left.total_seconds()
    return int(left.total_seconds())


def test_the_session_of_a_visitor_is_short_until_they_sign_in(
    clock: time_machine.Traveller, user: User, app: App
) -> None:
    visitor = Client()
    visitor.cookies["sessionid"] = "a" * 32  # of no session
    waiting = waiting_at(authorize(visitor, app.application))
    assert _seconds_kept(visitor) == 20 * 60
    visitor.post("/accounts/login/", {"login": "ada", "password": PASSWORD, "next": waiting})
    assert _seconds_kept(visitor) == settings.SESSION_COOKIE_AGE
    authorize(visitor, app.application)
    assert _seconds_kept(visitor) == settings.SESSION_COOKIE_AGE
    visitor.post(f"{waiting}/switch-account")
    assert _seconds_kept(visitor) == 20 * 60


def test_the_session_of_who_signs_up_on_the_way_has_the_usual_lifetime(
    clock: time_machine.Traveller, app: App, mailoutbox: list[EmailMessage]
) -> None:
    browser = Browser()
    authorize(browser.client, app.application)
    clock.shift(timedelta(minutes=19))
    browser.open("/accounts/signup/").submit(username="Cyd", email="cyd@example.org", password1=PASSWORD)
    clock.shift(timedelta(minutes=14))
    browser.submit(code=code_in(mailoutbox[0]))
    assert browser.user() is not None
    assert browser.client.session.get_expiry_age() == settings.SESSION_COOKIE_AGE
