"""The queue of requests: who waits, what helps to answer, what was answered."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.staff import queries as staff_queries
from tests.dashboard.staff.pages import QUEUE, cost_of
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.dashboard import AccessRequestFactory, DeniedRequestFactory, PermissionRequestFactory
from tests.factories.oidc_provider import ApplicationFactory
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


def test_a_request_for_a_key_that_is_over_can_only_be_denied(staff: Browser) -> None:
    key = ApiKeyFactory(revoked_at=NOW)
    PermissionRequestFactory(user=key.owner, key=key)
    text = staff.open(QUEUE).text
    assert "Revoked May call" in text
    assert "The key cannot be used again, so the request can only be denied." in text


def test_the_queue_is_filtered_and_decided_requests_are_its_history(staff: Browser) -> None:
    now = timezone.now()
    AccessRequestFactory(user=UserFactory(username="Late"), created_at=now)
    AccessRequestFactory(user=UserFactory(username="Early"), created_at=now - timedelta(days=1))
    PermissionRequestFactory(user=UserFactory(username="Key"), created_at=now - timedelta(hours=1))
    DeniedRequestFactory(user=UserFactory(username="Denied"), decided_by=UserFactory(username="Judge"))
    waiting = [f"{what} Waits for staff" for what in ("email for Early", "lookup:user for Key", "email for Late")]
    assert headings(staff.open(QUEUE)) == waiting
    assert headings(staff.open(f"{QUEUE}?state=nonsense&kind=nonsense")) == waiting
    assert headings(staff.open(f"{QUEUE}?kind=PERMISSION")) == [waiting[1]]
    assert headings(staff.open(f"{QUEUE}?state=DENIED")) == ["email for Denied Denied"]
    assert "by Judge Tell us who you are first." in staff.text
    assert "/requests/" not in staff.response.content.decode()
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
    AccessRequestFactory()
    browser = sign_in("dashboard.view_accessrequest").open(QUEUE)
    assert len(headings(browser)) == 1
    assert "/requests/" not in browser.response.content.decode()
    assert "/staff/people/" not in browser.response.content.decode()


def test_staff_pages_are_closed_to_others(sign_in: SignIn) -> None:
    stranger = sign_in("dashboard.decide_accessrequest", "accounts.ban_user", is_staff=False).client
    without_right, superuser = sign_in().client, sign_in(superuser=True).client
    for path in (QUEUE, f"{QUEUE}apps/", f"{QUEUE}people/"):
        assert stranger.get(path).status_code == 403
        assert without_right.get(path).status_code == 403
        assert superuser.post(path).status_code in {403, 405}


def test_the_menu_shows_staff_what_they_may_open_and_how_many_wait(sign_in: SignIn) -> None:
    AccessRequestFactory()
    PermissionRequestFactory()
    DeniedRequestFactory()
    links = {"Requests 2 waiting": QUEUE, "Find apps": f"{QUEUE}apps/", "Find people": f"{QUEUE}people/"}

    def shown(browser: Browser) -> dict[str, str]:
        found = browser.open("/dashboard/").page.xpath("//a[starts-with(@href, '/dashboard/staff/')]")
        return {" ".join(link.text_content().split()): link.get("href") for link in found}

    assert shown(sign_in(superuser=True)) == links
    assert shown(sign_in("dashboard.decide_accessrequest")) == {"Requests 2 waiting": QUEUE}
    assert shown(sign_in("oidc_provider.suspend_application")) == {"Find apps": f"{QUEUE}apps/"}
    assert shown(sign_in("accounts.ban_user")) == {"Find people": f"{QUEUE}people/"}
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
