"""A waiting request is answered once, by the app and the user as they are then; account pages name its app."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import lxml.html
import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from PIL import Image

from accounts.models import User
from oidc_provider import request_log
from oidc_provider.applications import applications, logos
from oidc_provider.authorize import approvals, flows
from oidc_provider.authorize.flows import Visitor
from oidc_provider.models import Approval, Grant, PendingRequest, RequestRecord
from tests.factories.accounts import PASSWORD
from tests.oidc_provider.protocol import (
    INVALID_GRANT,
    Answer,
    App,
    authorization_query,
    authorize,
    code_for,
    decide,
    error_sent_back,
    log_in,
    refused,
    sent_back,
    waiting_at,
)
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db


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


def test_cancel_is_a_refusal_even_when_another_tab_has_allowed(browser: Client, app: App) -> None:
    first, second = authorize(browser, app.application), authorize(browser, app.application)
    assert "code" in sent_back(decide(browser, first, "allow"))
    assert error_sent_back(decide(browser, second, "cancel")) == "access_denied"


def test_a_redirect_url_removed_meanwhile_gets_no_code(browser: Client, app: App) -> None:
    waiting = authorize(browser, app.application)
    applications.change_redirect_urls(
        application=app.application, redirect_urls=["https://elsewhere.example.org/cb"], by=None
    )
    for answer in (browser.get(waiting["Location"]), decide(browser, waiting)):
        assert answer.status_code == 400
        assert "invalid_redirect" in answer.content.decode()
    assert not Approval.objects.exists()


def test_a_scope_removed_meanwhile_is_invalid(browser: Client, app: App) -> None:
    waiting = authorize(browser, app.application, scope="openid identify")
    applications.change_scopes(application=app.application, scopes=["openid"], by=None)
    assert error_sent_back(decide(browser, waiting)) == "invalid_scope"
    assert not Approval.objects.exists()


def test_a_code_made_while_the_user_disconnects_is_dead(browser: Client, app: App, user: User) -> None:
    """The approval exists at `next_step`, and not when the code is issued."""
    sent_back(decide(browser, authorize(browser, app.application)))
    waiting = authorize(browser, app.application, prompt="consent")
    pending = app.application.pending_requests.get(pk=waiting["Location"].rpartition("/")[2])
    now = timezone.now()
    approvals.disconnect(user=user, application=app.application, by=user)
    url = flows.finish(pending, Visitor(user, now, str), now)
    code = url.partition("code=")[2].partition("&")[0]
    assert refused(app.exchange(code)) == INVALID_GRANT
    approvals.approve(user=user, application=app.application, scopes=["openid"], now=now)
    assert app.exchange(code).status_code == 200


def test_a_state_of_unescaped_utf_8_comes_back_as_it_was(browser: Client, app: App) -> None:
    query = authorization_query(app.application, state="STATE").replace("STATE", "né")
    answer = browser.get("/api/auth/oauth2/authorize", QUERY_STRING=query.encode().decode("latin-1"))
    assert sent_back(decide(browser, answer))["state"] == "né"


LOGIN = "/accounts/login/"


def _heading(browser: Client, waiting: str, path: str = LOGIN) -> str:
    answer = browser.get(path, {"next": waiting})
    assert problems_of(answer) == []
    return str(page_of(answer).findtext(".//h1"))


@pytest.fixture
def waiting(app: App) -> str:
    return waiting_at(authorize(Client(), app.application))


def test_the_login_page_names_the_app_that_waits(app: App, waiting: str) -> None:
    assert _heading(Client(), waiting) == "Sign in to continue to Notebook"
    assert _heading(Client(), waiting, "/accounts/signup/") == "Create an account to continue to Notebook"
    assert _heading(Client(), "/dashboard/") == _heading(Client(), "") == "Sign in"


def test_it_shows_the_apps_logo(app: App, waiting: str) -> None:
    upload = io.BytesIO()
    Image.new("RGB", (9, 9)).save(upload, "PNG")
    upload.seek(0)
    logos.change(application=app.application, png=logos.encode(upload), by=None)
    pictures = page_of(Client().get(LOGIN, {"next": waiting})).xpath("//main//img/@src")
    assert pictures == [f"/apps/{app.application.client_id}/logo.png"]


def test_a_wrong_password_keeps_the_app(waiting: str, app: App) -> None:
    answer = Client().post(LOGIN, {"login": "ada", "password": f"{PASSWORD}?", "next": waiting})
    assert page_of(answer).findtext(".//h1") == "Sign in to continue to Notebook"


def test_two_tabs_name_their_own_app(app: App, other_app: App) -> None:
    visitor = Client()
    first, second = (waiting_at(authorize(visitor, each.application)) for each in (app, other_app))
    assert _heading(visitor, first) == "Sign in to continue to Notebook"
    assert _heading(visitor, second) == "Sign in to continue to Other"


def test_the_confirmation_of_a_password_names_the_app(browser: Client, app: App) -> None:
    waiting = waiting_at(authorize(browser, app.application, prompt="login"))
    assert _heading(browser, waiting, "/accounts/reauthenticate/") == "Confirm that it is you to continue to Notebook"


@pytest.mark.parametrize("path", ["/consent/unknown", "/consent/", "https://evil.example/consent/x", "//["])
def test_an_address_that_is_no_waiting_request_names_no_app(path: str, db: None) -> None:
    assert _heading(Client(), path) == "Sign in"


def test_a_request_that_is_over_names_no_app(clock: time_machine.Traveller, app: App) -> None:
    waiting = waiting_at(authorize(Client(), app.application))
    flows.use_up(PendingRequest.objects.get(), timezone.now())
    assert _heading(Client(), waiting) == "Sign in"
    late = waiting_at(authorize(Client(), app.application))
    clock.shift(timedelta(minutes=10))
    assert _heading(Client(), late) == "Sign in"


def test_one_query_reads_the_app(waiting: str, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        Client().get(LOGIN, {"next": waiting})
