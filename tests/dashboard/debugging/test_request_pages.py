"""Who may open the pages, and the page of an app's requests: newest first, narrowed down, each error explained."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent, User
from dashboard.client_apps import usage as apps_usage
from oidc_provider import request_log
from oidc_provider.applications import applications
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
        with request_log.Noting(RequestKind.CODE) as note:
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


A_KIND = RequestKind.CODE
BODY = "//div[contains(@class, 'request__body')]"


def add(app: Application, kind: RequestKind = A_KIND, outcome: str = "ok", *, ago: float = 0, **more: object) -> None:
    """`ago` in seconds."""
    moment = timezone.now() - timedelta(seconds=ago)
    fields = {"moment": moment, "request_id": "0123456789abcdef", **more}
    RequestRecord.objects.create(application=app, kind=kind, outcome=outcome, **fields)


def open_log(browser: Browser, app: Application, query: str = "") -> list[tuple[str, str]]:
    """Kind and outcome of each row."""
    browser.open(f"{reverse('application_log', args=[app.client_id])}?{query}")
    rows = browser.page.xpath("//summary[@class='request__head']")
    return [(row[1].text_content(), row[2].text_content()) for row in rows]


def test_requests_stand_there_the_newest_first(app: Application, browser: Browser) -> None:
    add(app, RequestKind.ASKED, ago=3)
    add(app, RequestKind.DENIED, "access_denied", ago=2)
    add(app, RequestKind.REFRESH, "invalid_grant", ago=1)
    assert open_log(browser, app) == [
        ("Tokens refreshed", "invalid_grant"),
        ("Consent refused", "access_denied"),
        ("Sign-in asked for", "ok"),
    ]
    assert problems_of(browser.response) == []


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("endpoint=token", [("Code exchanged", "invalid_grant"), ("Code exchanged", "ok")]),
        ("outcome=ok", [("Code exchanged", "ok")]),
        ("outcome=failed", [("Code exchanged", "invalid_grant"), ("Sign-in asked for", "invalid_scope")]),
        ("endpoint=token&outcome=invalid_grant", [("Code exchanged", "invalid_grant")]),
        ("endpoint=revoke", []),
    ],
)
def test_the_filters_narrow_the_list_down(
    app: Application, browser: Browser, query: str, shown: list[tuple[str, str]]
) -> None:
    add(app, RequestKind.ASKED, "invalid_scope", ago=3)
    add(app, A_KIND, "ok", ago=2)
    add(app, A_KIND, "invalid_grant", ago=1)
    assert open_log(browser, app, query) == shown
    assert ("No such request" in browser.text) == (not shown)


def test_a_query_that_says_nonsense_shows_what_there_is(app: Application, browser: Browser) -> None:
    add(app)
    for query in ("endpoint=nonsense&outcome=nonsense", "page=99", "page=a"):
        assert len(open_log(browser, app, query)) == 1


def test_the_outcomes_to_choose_from_are_those_that_occur(app: Application, browser: Browser) -> None:
    for _ in range(2):
        add(app, A_KIND, "invalid_grant")
    add(app, A_KIND, "long_ago", ago=timedelta(days=8).total_seconds())
    open_log(browser, app)
    options = browser.page.xpath("//select[@name='outcome']/option/@value")
    assert options == ["", "ok", "failed", "invalid_grant"]


def test_an_error_is_explained_by_its_description(app: Application, browser: Browser) -> None:
    add(app, A_KIND, "invalid_grant", description="The code was used before; every token is revoked.")
    open_log(browser, app)
    assert "The code was exchanged before." in browser.text
    assert "look for a callback page that is loaded twice" in browser.text


def test_a_user_is_named_where_the_app_knows_who_it_is_and_by_the_sub_alone(
    app: Application, browser: Browser, user: User
) -> None:
    for kind in RequestKind:
        add(app, kind, user=user)
    shown = apps_usage.requests_of(app, endpoint="", is_ok=None, code="", now=timezone.now())
    not_named = {RequestKind.ASKED, RequestKind.SHOWN, RequestKind.DENIED}
    assert {row.record.kind for row in shown if not row.subject} == not_named
    assert {row.subject for row in shown} == {user.pk, ""}
    open_log(browser, app)
    assert user.pk in browser.text
    assert user.username not in " ".join(body.text_content() for body in browser.page.xpath(BODY))


def test_at_most_500_of_the_last_seven_days_are_shown_in_pages(app: Application, browser: Browser) -> None:
    moment = timezone.now()
    RequestRecord.objects.bulk_create(
        RequestRecord(application=app, moment=moment - timedelta(seconds=number), kind=A_KIND, request_id=str(number))
        for number in range(apps_usage.MOST_REQUESTS + 20)
    )
    assert len(open_log(browser, app)) == 50
    assert "Page 1 of 10" in browser.text
    assert len(open_log(browser, app, "page=10&outcome=ok")) == 50
    assert "outcome=ok" in str(browser.page.xpath("//a[@rel='prev']/@href")[0])


def test_what_is_older_than_seven_days_is_not_shown(app: Application, browser: Browser) -> None:
    add(app, ago=timedelta(days=7, seconds=1).total_seconds())
    add(app, RequestKind.REVOKE, ago=timedelta(days=6, hours=23, minutes=59).total_seconds())
    assert open_log(browser, app) == [("Token revoked", "ok")]


def test_the_log_goes_back_as_far_as_the_operator_says(app: Application, browser: Browser, settings: Settings) -> None:
    settings.REQUEST_LOG_RETENTION = timedelta(days=30)
    add(app, ago=timedelta(days=29).total_seconds())
    add(app, RequestKind.REVOKE, "gone", ago=timedelta(days=31).total_seconds())
    assert len(open_log(browser, app)) == 1
    assert "The newest 500 requests of the last 30 days." in browser.text
    assert request_log.delete_past_use(timezone.now()) == 1
    settings.REQUEST_LOG_RETENTION = timedelta(days=1)
    assert open_log(browser, app) == []
    assert "requests of the last day." in browser.text


def test_the_page_shows_what_has_just_happened(app: Application, browser: Browser) -> None:
    browser.client.get(reverse("authorize"), {"client_id": app.client_id, "redirect_uri": "https://elsewhere.example/"})
    assert open_log(browser, app) == [("Sign-in asked for", "invalid_redirect")]
    assert "redirect_uri is missing or repeated" in browser.text


def test_what_apps_send_is_text(app: Application, browser: Browser) -> None:
    add(app, A_KIND, "invalid_request", description="<script>alert(1)</script>", redirect_uri="<b>")
    open_log(browser, app)
    assert browser.page.xpath(f"{BODY}//script | //dd//b") == []
    assert "<script>alert(1)</script>" in browser.text
