"""Who may open the pages, what they are made of, and that reading changes nothing."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, User
from oidc_provider.applications import applications
from oidc_provider.log import request_log
from oidc_provider.models import Application, Grant, PendingRequest, RequestKind, RequestRecord
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

PAGES = ("application_try", "application_code", "application_usage", "application_log")
READ = (*PAGES, "application_try_result", "application_try_callback")
WRITTEN = ("application_try_start", "application_try_callback_url")


def url_of(name: str, application: Application) -> str:
    return reverse(name, args=[application.client_id])


def record(application: Application, number: int, *, user: User | None = None) -> None:
    for place in range(number):
        with request_log.noting(RequestKind.CODE) as note:
            request_log.about(client_id=application.client_id, user_id=user.pk if user else "")
            if place % 2:
                note.fails("invalid_grant", "The code was used before.")
    request_log.buffer.write()


@pytest.mark.parametrize("state", ["new", "used", "suspended"])
def test_every_page_is_well_made(app: Application, browser: Browser, user: User, state: str) -> None:
    if state != "new":
        record(app, 3, user=user)
    if state == "suspended":
        applications.suspend(application=app, by=None, reason="Spam.")
    for name in PAGES:
        response = browser.open(url_of(name, app)).response
        assert response.status_code == 200
        assert problems_of(response) == []


def test_the_app_of_another_user_is_not_found(app: Application) -> None:
    other = Client()
    other.force_login(UserFactory())
    for name in (*READ, *WRITTEN):
        answer = other.post(url_of(name, app)) if name in WRITTEN else other.get(url_of(name, app))
        assert answer.status_code == 404, name
    assert other.get(reverse("application_usage_csv", args=[app.client_id, "24h"])).status_code == 404


def test_reading_changes_nothing(app: Application, browser: Browser) -> None:
    before = (app.redirect_uris, AuditEvent.objects.count())
    for name in READ:
        browser.open(f"{url_of(name, app)}?code=a&state=b&iss=c")
    for name in WRITTEN:
        assert browser.open(url_of(name, app)).response.status_code == 405
    app.refresh_from_db()
    assert (app.redirect_uris, AuditEvent.objects.count()) == before
    assert not PendingRequest.objects.exists()
    assert not Grant.objects.exists()


def test_each_page_shows_its_own_app_alone(app: Application, browser: Browser, user: User) -> None:
    other = ApplicationFactory(user=user, name="Other")
    record(other, 2, user=user)
    assert "No requests yet" in browser.open(url_of("application_log", app)).text
    assert "Nothing in the last 24 hours" in browser.open(url_of("application_usage", app)).text


@pytest.mark.parametrize("name", PAGES)
def test_a_page_costs_the_same_for_one_request_and_for_ten(
    app: Application, browser: Browser, user: User, name: str
) -> None:
    for number in (1, 9):
        record(app, number, user=user)
        for _ in range(number):
            RequestRecord.objects.create(
                application=app, moment=timezone.now(), kind="USERINFO", user=UserFactory(), request_id="0" * 16
            )
        with CaptureQueriesContext(connection) as captured:
            browser.client.get(url_of(name, app))
        tables = [query["sql"].split('FROM "')[-1].split('"')[0] for query in captured.captured_queries]
        assert [table for table in tables if table.startswith("oidc_provider_")] == [
            "oidc_provider_application",
            *OF_THE_PAGE.get(name, []),
        ]
        assert tables.count("accounts_user") == 1  # who reads the page; no person of the log


OF_THE_PAGE = {
    "application_usage": ["oidc_provider_usagecount", "oidc_provider_lastuse"],
    "application_log": ["oidc_provider_requestrecord", "oidc_provider_requestrecord"],  # the errors, the requests
}
