"""A waiting request is answered once."""

from __future__ import annotations

from datetime import timedelta

import lxml.html
import pytest
import time_machine
from django.test import Client

from oidc_provider.applications import applications
from oidc_provider.log import request_log
from oidc_provider.models import Approval, Grant, RequestRecord
from tests.oidc_provider.protocol import (
    Answer,
    App,
    authorize,
    code_for,
    decide,
    error_sent_back,
    log_in,
    sent_back,
    waiting_at,
)


def _links(answer: Answer) -> list[str]:
    """Return the links to the app on the page of an ended request."""
    assert answer.status_code == 400
    assert "Location" not in answer
    return list(lxml.html.fromstring(answer.content).xpath('//main//a[contains(@href, "app.example.org")]/@href'))


def _is_answered(answer: Answer) -> bool:
    return bool(_links(answer)) and "<code>answered</code>" in answer.content.decode()


@pytest.mark.parametrize("second", ["allow", "cancel"])
@pytest.mark.parametrize("first", ["allow", "cancel"])
def test_the_second_answer_gets_a_page_and_changes_nothing(browser: Client, app: App, first: str, second: str) -> None:
    page = authorize(browser, app.application)
    assert ("code" in sent_back(decide(browser, page, first))) is (first == "allow")
    count = int(first == "allow")
    answer = decide(browser, page, second)
    assert _is_answered(answer)
    assert "error=access_denied" in _links(answer)[0]
    assert "state=the+state" in _links(answer)[0]
    assert _is_answered(browser.get(page["Location"]))
    assert (Grant.objects.count(), Approval.objects.count()) == (count, count)


def test_a_kept_approval_answers_after_login_once(app: App, browser: Client) -> None:
    code_for(browser, app.application)
    visitor = Client()
    waiting = waiting_at(authorize(visitor, app.application))
    log_in(visitor, waiting)
    assert "code" in sent_back(visitor.get(waiting))
    assert _is_answered(visitor.get(waiting))
    assert Grant.objects.count() == 2


def test_an_error_for_the_app_answers_as_well(app: App, browser: Client) -> None:
    page = authorize(browser, app.application, scope="openid identify")
    applications.change_scopes(application=app.application, scopes=["openid"], by=None)
    assert error_sent_back(browser.get(page["Location"])) == "invalid_scope"
    applications.change_scopes(application=app.application, scopes=["openid", "identify"], by=None)
    assert _is_answered(decide(browser, page))
    assert not Grant.objects.exists()


def test_switching_the_account_of_an_answered_request_keeps_the_session(browser: Client, app: App) -> None:
    page = authorize(browser, app.application)
    decide(browser, page)
    assert _is_answered(browser.post(f"{page['Location']}/switch-account"))
    assert "_auth_user_id" in browser.session


@pytest.mark.parametrize("minutes", [0, 10], ids=["answered", "late"])
@pytest.mark.parametrize("change", ["suspended", "another URL"])
def test_there_is_no_link_to_an_address_that_the_app_may_not_use(
    clock: time_machine.Traveller, browser: Client, app: App, change: str, minutes: int
) -> None:
    page = authorize(browser, app.application)
    if not minutes:
        decide(browser, page)
    if change == "suspended":
        applications.suspend(application=app.application, by=None, reason="Abuse")
    else:
        applications.change_redirect_urls(application=app.application, redirect_urls=["https://b.example/"], by=None)
    clock.shift(timedelta(minutes=minutes))
    answer = browser.get(page["Location"])
    assert _links(answer) == []
    assert "Go back to Notebook and start again" in answer.content.decode()


def test_the_log_names_the_second_answer(browser: Client, app: App) -> None:
    page = authorize(browser, app.application)
    for decision in ("cancel", "allow"):
        decide(browser, page, decision)
    request_log.buffer.write()
    outcomes = RequestRecord.objects.order_by("pk").values_list("kind", "outcome")
    assert list(outcomes) == [("ASKED", "ok"), ("DENIED", "access_denied"), ("ASKED", "answered")]
