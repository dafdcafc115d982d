"""Requests: the queue, the admin, what an act does, and the way from the request to what it opens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ApiKey, AuditEvent, User
from dashboard import access_requests
from dashboard.staff import queries as staff_queries
from lookup.models import Report
from oidc_provider.applications import applications
from oidc_provider.models import Application
from tests.admin.test_pages import access_token
from tests.dashboard.signing_in import browser_of
from tests.dashboard.staff.pages import APPS, DESK, FILES, PEOPLE, QUEUE, REPORTS, app_page, cost_of, person_page
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.dashboard import AccessRequestFactory, DeniedRequestFactory, PermissionRequestFactory
from tests.factories.imagehost import FileFactory
from tests.factories.lookup import ReportFactory
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory
from tests.oidc_provider.protocol import authorize, place_of
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Browser]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def headings(browser: Browser) -> list[str]:
    return [" ".join(heading.text_content().split()) for heading in browser.page.iter("h2")]


def test_a_request_for_a_scope_shows_who_asks_and_why(staff: Browser) -> None:
    asker = UserFactory(username="Ada", created_at=timezone.now() - timedelta(days=3))
    ApplicationFactory(user=asker, name="Notes")
    DeniedRequestFactory(user=asker, subject="connections")
    AccessRequestFactory(user=asker, reason="Receipts for <b>buyers</b>")
    text = staff.open(QUEUE).text
    assert headings(staff) == ["email for Ada Waits for staff"]
    for words in (
        "Receipts for <b>buyers</b>",
        "Requested by Ada uid",
        "The account was created 3\xa0days ago.",
        "Their apps Notes",
        "Earlier requests connections: denied,",
    ):
        assert " ".join(words.split()) in text
    assert problems_of(staff.response) == []


def test_a_request_for_a_permission_shows_the_key(staff: Browser) -> None:
    key = ApiKeyFactory(prefix="ik_one", name="Bot", remaining_uses=7)
    PermissionRequestFactory(user=key.owner, key=key)
    text = staff.open(QUEUE).text
    assert "Key ik_one Bot May call: account. Never used. 7 uses are left." in text
    assert "Their apps None Earlier requests Nothing" in text
    ApiKey.objects.update(revoked_at=NOW)
    text = staff.open(QUEUE).text
    assert "Revoked May call" in text
    assert "The key cannot be used again, so the request can only be denied." in text


@pytest.mark.parametrize(
    ("fields", "state", "is_over", "has_it"),
    [
        ({}, "", False, False),
        ({"permissions": ["account", "lookup:user"]}, "", False, True),
        ({"revoked_at": NOW}, "Revoked", True, False),
        ({"expires_at": NOW}, "Expired", True, False),
        ({"is_enabled": False}, "Disabled", False, False),
    ],
)
def test_a_request_tells_what_has_changed(fields: dict[str, Any], state: str, is_over: bool, has_it: bool) -> None:
    key = ApiKeyFactory(**fields)
    PermissionRequestFactory(user=key.owner, key=key)
    (asked,) = staff_queries.requests(state="PENDING", kind="")
    record = staff_queries.of_request(asked, NOW)
    assert (record.key_state, record.is_key_over, record.has_it_already) == (state, is_over, has_it)


def test_the_queue_is_filtered_and_decided_requests_are_its_history(staff: Browser) -> None:
    now = timezone.now()
    AccessRequestFactory(user=UserFactory(username="Late"), created_at=now)
    AccessRequestFactory(user=UserFactory(username="Early"), created_at=now - timedelta(days=1))
    PermissionRequestFactory(user=UserFactory(username="Key"), created_at=now - timedelta(hours=1))
    request = DeniedRequestFactory(user=UserFactory(username="Denied"), decided_by=UserFactory(username="Judge"))
    waiting = [f"{what} Waits for staff" for what in ("email for Early", "lookup:user for Key", "email for Late")]
    assert headings(staff.open(QUEUE)) == waiting
    assert headings(staff.open(f"{QUEUE}?state=nonsense&kind=nonsense")) == waiting
    assert headings(staff.open(f"{QUEUE}?kind=PERMISSION")) == [waiting[1]]
    assert headings(staff.open(f"{QUEUE}?state=DENIED")) == ["email for Denied Denied"]
    assert "by Judge Tell us who you are first." in staff.text
    assert f"/requests/{request.pk}/" not in staff.response.content.decode()
    assert headings(staff.open(f"{QUEUE}?state=ALL")) == [*waiting, "email for Denied Denied"]
    assert problems_of(staff.response) == []


def test_a_page_of_the_queue_holds_20_requests_and_keeps_the_filter(staff: Browser) -> None:
    DeniedRequestFactory.create_batch(21)
    assert len(headings(staff.open(f"{QUEUE}?state=DENIED"))) == 20
    (older,) = staff.page.xpath("//a[@rel='next']/@href")
    assert len(headings(staff.open(QUEUE + older))) == 1
    assert len(headings(staff.open(f"{QUEUE}?state=DENIED&page=999"))) == 1


@pytest.mark.embedded
def test_the_queue_costs_the_same_for_one_request_and_for_ten(staff: Browser) -> None:
    def ask() -> None:
        asker = UserFactory()
        ApplicationFactory(user=asker)
        DeniedRequestFactory(user=asker)
        AccessRequestFactory(user=asker)
        PermissionRequestFactory(user=asker)

    ask()
    cost_of(staff, QUEUE)  # the first page after a login reads the session's row once more
    one = cost_of(staff, f"{QUEUE}?state=ALL")
    for _ in range(9):
        ask()
    assert cost_of(staff, f"{QUEUE}?state=ALL") == one


def test_who_may_only_look_sees_no_button(sign_in: SignIn) -> None:
    asked = AccessRequestFactory()
    browser = sign_in("dashboard.view_accessrequest").open(QUEUE)
    assert len(headings(browser)) == 1
    assert f"/requests/{asked.pk}/" not in browser.response.content.decode()
    assert "/staff/people/" not in browser.response.content.decode()


def test_staff_pages_are_closed_to_others(sign_in: SignIn) -> None:
    stranger = sign_in("dashboard.decide_accessrequest", "accounts.ban_user", is_staff=False).client
    without_right, superuser = sign_in().client, sign_in(superuser=True).client
    for path in (DESK, QUEUE, REPORTS, f"{DESK}appeals/", APPS, PEOPLE, FILES):
        assert stranger.get(path).status_code == 403
        assert without_right.get(path).status_code == 403
        assert superuser.post(path).status_code in {403, 405}


def test_the_menu_shows_staff_what_they_may_open_and_how_many_wait(sign_in: SignIn) -> None:
    AccessRequestFactory()
    PermissionRequestFactory()
    DeniedRequestFactory()
    ReportFactory.create_batch(2, comment=None, user=(bad := UserFactory()))
    own = {"Desk": DESK}
    reports = {"Reports 1 waiting": REPORTS, "Appeals": f"{DESK}appeals/"}
    finders = {"Find apps": APPS, "Find people": PEOPLE, "Find files": FILES}

    def shown(browser: Browser) -> dict[str, str]:
        found = browser.open("/dashboard/").page.xpath("//a[starts-with(@href, '/dashboard/staff/')]")
        return {" ".join(link.text_content().split()): link.get("href") for link in found}

    assert shown(sign_in(superuser=True)) == {**own, "Requests 2 waiting": QUEUE, **reports, **finders}
    assert shown(sign_in("dashboard.decide_accessrequest")) == {**own, "Requests 2 waiting": QUEUE}
    assert shown(sign_in("oidc_provider.suspend_application")) == {**own, "Find apps": APPS}
    assert shown(sign_in("accounts.ban_user")) == {**own, "Find people": PEOPLE}
    assert shown(sign_in("imagehost.quarantine_file")) == {**own, "Find files": FILES}
    moderator = sign_in("lookup.decide_report")
    assert shown(moderator) == {**own, **reports}
    Report.objects.filter(user=bad).update(user=moderator.user())
    assert shown(moderator) == {**own, "Reports": REPORTS, "Appeals": f"{DESK}appeals/"}  # not one about themselves
    assert shown(sign_in()) == {}
    assert shown(sign_in(is_staff=False)) == {}


def test_the_count_in_the_menu_costs_one_query_and_only_those_who_answer(
    sign_in: SignIn,
) -> None:
    page = "/accounts/connected-apps/"
    for browser, expected in ((sign_in(superuser=True), 1), (sign_in(is_staff=False), 0)):
        browser.open(page)
        with CaptureQueriesContext(connection) as queries:
            browser.open(page)
        assert len([query for query in queries if "dashboard_accessrequest" in query["sql"]]) == expected


def test_the_desk_shows_what_waits_and_what_is_new_to_those_who_may_open_it(sign_in: SignIn) -> None:
    asked = AccessRequestFactory(user=UserFactory(username="Ada"))
    report = ReportFactory(comment=None, user=UserFactory(username="Bob"))
    app = ApplicationFactory(name="Notes")
    everything = sign_in(superuser=True).open(DESK)
    assert problems_of(everything.response) == []
    titles = ["Requests 1 waiting", "Reports 1 waiting", "Appeals", "Newest apps", "Newest people", "Newest files"]
    assert headings(everything) == titles
    page = everything.response.content.decode()
    for words in (f"{asked.subject} for Ada", "Profile of Bob", "Notes", f"{REPORTS}{report.pk}/", app_page(app)):
        assert words in page
    assert headings(sign_in("lookup.decide_report").open(DESK)) == titles[1:3]
    assert headings(sign_in("accounts.ban_user").open(DESK)) == ["Newest people"]
    assert sign_in().client.get(DESK).status_code == 403


@pytest.mark.embedded
def test_the_desk_costs_the_same_for_one_row_of_each_kind_and_for_five(staff: Browser) -> None:
    def add() -> None:
        AccessRequestFactory()
        ReportFactory(comment=None, user=UserFactory())
        ApplicationFactory()
        FileFactory()

    add()
    before = (cost_of(staff, DESK), cost_of(staff, DESK))[1]
    for _ in range(4):
        add()
    assert cost_of(staff, DESK) == before


PAGE = "/admin/dashboard/accessrequest/"


@pytest.mark.parametrize(("act", "state"), [("grant", "GRANTED"), ("deny", "DENIED")])
def test_a_request_is_decided_in_the_admin(staff: Browser, act: str, state: str) -> None:
    asked = AccessRequestFactory()
    url = f"{PAGE}act/{act}/?id={asked.pk}"
    assert url in staff.open(f"{PAGE}{asked.pk}/change/").response.content.decode()
    staff.open(url).submit(reason="Because")
    asked.refresh_from_db()
    assert (asked.state, asked.answer) == (state, "Because")
    assert AuditEvent.objects.filter(verb=f"access_request:{state.lower()}", reason="Because").count() == 1
    assert "/act/" not in staff.open(f"{PAGE}{asked.pk}/change/").response.content.decode()


def test_only_a_grant_needs_no_reason(staff: Browser) -> None:
    for act, state in (("deny", "PENDING"), ("grant", "GRANTED")):
        in_admin, on_page = AccessRequestFactory(), PermissionRequestFactory()
        staff.open(f"{PAGE}act/{act}/?id={in_admin.pk}").submit(reason="")
        staff.open(f"/dashboard/staff/requests/{on_page.pk}/{act}/").submit(reason="")
        for asked in (in_admin, on_page):
            asked.refresh_from_db()
            assert (asked.state, asked.answer) == (state, "")


def test_it_needs_the_right_and_no_request_is_written_by_hand(sign_in: SignIn, staff: Browser) -> None:
    asked = AccessRequestFactory()
    looking = sign_in("dashboard.view_accessrequest")
    assert "/act/" not in looking.open(f"{PAGE}{asked.pk}/change/").response.content.decode()
    assert looking.client.get(f"{PAGE}act/grant/?id={asked.pk}").status_code == 403
    assert sign_in("dashboard.decide_accessrequest").client.get(f"{PAGE}act/grant/?id={asked.pk}").status_code == 200

    assert staff.client.get(f"{PAGE}add/").status_code == 403
    assert staff.client.get(f"{PAGE}{asked.pk}/delete/").status_code == 403
    assert staff.open(f"{PAGE}{asked.pk}/change/").page.xpath("//input[@name='_save']") == []


def test_the_list_costs_the_same_for_one_request_and_for_ten(staff: Browser) -> None:
    def add() -> None:
        PermissionRequestFactory()
        DeniedRequestFactory()

    add()
    before = (cost_of(staff, PAGE), cost_of(staff, PAGE))[1]
    for _ in range(9):
        add()
    assert cost_of(staff, PAGE) == before


def test_a_relock_names_the_apps_that_lose_the_scope(staff: Browser) -> None:
    owner = UserFactory(unlocked_scopes=["email", "connections"])
    ApplicationFactory(user=owner, name="Zebra & <Co>", registered_scopes=["openid", "email"])
    ApplicationFactory(user=owner, name="Apple", registered_scopes=["openid", "email"])
    kept = ApplicationFactory(user=owner, name="Kept", registered_scopes=["openid", "connections"])
    path = f"{person_page(owner)}scopes/email/relock/"
    text = staff.open(path).text
    assert "These apps lose it at once, and a sign-in that asks for it fails as a whole: Apple, Zebra & <Co>." in text
    staff.submit(reason="It sold the addresses")
    assert {app.name: app.registered_scopes for app in Application.objects.all()} == {
        "Zebra & <Co>": ["openid"],
        "Apple": ["openid"],
        "Kept": kept.registered_scopes,
    }


def test_a_suspension_counts_what_ends_and_what_stays(staff: Browser) -> None:
    token = access_token()
    app = token.application
    for _ in range(2):
        ApprovalFactory(application=app)
    text = staff.open(f"{app_page(app)}suspend/").text
    assert "1 active access token among them" in text
    assert "What 2 users allowed is kept" in text
    assert "It broke the rules" in staff.submit(reason="It broke the rules").text
    app.refresh_from_db()
    assert app.suspension_reason == "It broke the rules"
    assert (app.accesstoken_set.count(), app.approvals.count()) == (0, 2)


def test_a_ban_ends_the_sessions_of_the_person(staff: Browser) -> None:
    person = UserFactory()
    browser = browser_of(person)
    assert browser.user() == person
    staff.open(f"{person_page(person)}ban/").submit(reason="Spam")
    assert browser.user() is None
    assert User.objects.get(pk=person.pk).is_banned


@pytest.mark.parametrize("state", ["revoked_at", "expires_at"])
def test_a_key_that_is_over_is_offered_nothing_new(staff: Browser, state: str) -> None:
    key = ApiKeyFactory(**{state: "2026-01-01T00:00:00Z"})
    staff.open(person_page(key.owner))
    assert f"keys/{key.prefix}/lookup:user/grant/" not in staff.response.content.decode()
    assert f"keys/{key.prefix}/account/withdraw/" in staff.response.content.decode()
    path = f"{person_page(key.owner)}keys/{key.prefix}/lookup:user/grant/"
    assert "This key is revoked or has expired" in staff.open(path).text


def press(browser: Browser, button: str, **values: str) -> Browser:
    """Follow the link called `button`, and send the form behind it."""
    (url,) = {link.get("href") for link in browser.page.iter("a") if link.text_content().strip() == button}
    return browser.open(url).submit(**values)


def test_an_owner_asks_for_email_staff_grant_it_and_the_app_registers_it(sign_in: SignIn) -> None:
    app = ApplicationFactory(registered_scopes=["openid"])
    owner, staff = app.user, sign_in("dashboard.decide_accessrequest")
    wanted = ["openid", "email"]
    with pytest.raises(ValidationError):
        applications.change_scopes(application=app, scopes=wanted, by=owner)
    access_requests.ask_for_scope(user=owner, scope="email", reason="Receipts")

    assert "Receipts" in staff.open(QUEUE).text
    assert "granted" in press(staff, "Grant", reason="Known to us").text
    assert "No requests are waiting" in staff.text

    applications.change_scopes(application=app, scopes=wanted, by=owner)
    visitor = Client()
    visitor.force_login(UserFactory())
    app.refresh_from_db()
    assert place_of(authorize(visitor, app, scope="openid email")).startswith("/consent/")


def test_an_owner_asks_for_a_permission_staff_grant_it_and_the_call_answers(
    sign_in: SignIn, django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[object]]
) -> None:
    key = ApiKeyFactory(secret="the-secret", permissions=["imagehost:upload"])
    staff = sign_in("dashboard.decide_accessrequest")

    def call() -> Any:
        """An answer of the test client, which has no public type."""
        return Client().get(f"/api/lookup/user?type=uid&value={key.owner.uid}", headers={"X-API-Key": "the-secret"})

    assert call().json()["code"] == "KEY_NOT_FOUND"
    access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
    with django_capture_on_commit_callbacks(execute=True):  # a cached key is forgotten at the commit
        press(staff.open(QUEUE), "Grant", reason="Known to us")
    assert call().status_code == 200

    keys_page = sign_in("accounts.change_apikey").open(f"{PEOPLE}{key.owner.pk}/")
    url = f"{PEOPLE}{key.owner.pk}/keys/{key.prefix}/lookup:user/withdraw/"
    with django_capture_on_commit_callbacks(execute=True):
        keys_page.open(url).submit(reason="Too many calls")
    assert call().json()["code"] == "KEY_NOT_FOUND"
