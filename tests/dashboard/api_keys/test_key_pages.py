"""The list of keys and the page of one: what they say, to whom, and at what cost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts import rate_limits
from accounts.api_keys import keys
from accounts.models import ApiKey, KeyDay, User
from accounts.plans import Plan
from dashboard import access_requests
from dashboard.api_keys import queries as keys_queries
from tests.factories.accounts import ApiKeyFactory, StaffFactory
from tests.lookup import statements
from tests.pages.markup import problems_of
from tests.support.browser import Browser

LIST = "/dashboard/api-keys/"
DAY = timedelta(days=1)


def page_of(key: ApiKey) -> str:
    return f"{LIST}{key.prefix}/"


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({}, "Live"),
        ({"expires_at": 7 * DAY + timedelta.resolution}, "Live"),
        ({"expires_at": 7 * DAY}, "Expires soon"),
        ({"expires_at": timedelta()}, "Expired"),
        ({"is_enabled": False}, "Disabled"),
        ({"revoked_at": -DAY, "is_enabled": False, "expires_at": -DAY}, "Revoked"),
        ({"is_enabled": False, "expires_at": -DAY}, "Disabled"),
        ({"permissions": []}, "No permission"),
        ({"remaining_uses": 0}, "Used up"),
        ({"remaining_uses": 0, "refill_amount": 5, "refill_interval": DAY, "refilled_at": -2 * DAY}, "Live"),
        ({"remaining_uses": 0, "refill_amount": 5, "refill_interval": DAY, "refilled_at": timedelta()}, "Used up"),
    ],
)
def test_each_state_has_its_word(columns: dict[str, Any], word: str) -> None:
    now = timezone.now()
    moments = {name: now + value for name, value in columns.items() if name.endswith("_at")}
    key = ApiKey(**{"permissions": ["account"], **columns, **moments})
    assert keys_queries.state_of(key, now).word == word


def test_the_list_and_the_page_tell_the_state(browser: Browser, user: User) -> None:
    key = ApiKeyFactory(owner=user, is_enabled=False)
    for path in (LIST, page_of(key)):
        browser.open(path)
        assert browser.page.xpath("//main//span[contains(@class, 'badge')]")[0].text_content() == "Disabled"
        assert problems_of(browser.response) == []


def test_an_expired_key_says_what_else_keeps_it_from_working(browser: Browser, user: User) -> None:
    key = ApiKeyFactory(owner=user, expires_at=timezone.now() - DAY)
    later, enable = "Set a later expiry date to use it again.", "Then enable it."
    by_staff = "Staff have disabled it, too, and only they can enable it."

    def said() -> list[bool]:
        return [words in browser.open(page_of(key)).text for words in (later, enable, by_staff)]

    assert said() == [True, False, False]
    keys.disable(key=key, by=user)
    assert said() == [True, True, False]
    keys.disable(key=key, by=StaffFactory(is_superuser=True))
    assert said() == [True, False, True]


def test_a_replaced_key_says_by_which(browser: Browser, user: User) -> None:
    old = ApiKeyFactory(owner=user)
    new = keys.rotate(key=old, overlap=DAY, by=user).key
    assert "Replaced by" in browser.open(page_of(old)).text
    assert browser.page.xpath(f"//a[@href='{page_of(new)}']")


@pytest.mark.embedded
def test_the_list_costs_the_same_for_one_and_for_ten_keys(browser: Browser, user: User) -> None:
    def add() -> None:
        key = ApiKeyFactory(owner=user, permissions=["imagehost:upload"])
        KeyDay.objects.create(key=key, day=timezone.now().date(), count=3)
        access_requests.ask_for_permission(key=key, permission="lookup:user", reason="Why not")

    counts = []
    for amount in (1, 9):
        for _ in range(amount):
            add()
        browser.open(LIST)
        asked = statements.names(lambda: browser.open(LIST))
        counts.append(len([name for name in asked if "django_session" not in name]))
    assert counts == [6, 6]  # user, how many keys, keys, days, requests to staff, deletion of the account


def test_the_page_of_a_key_costs_the_same_however_much_there_is(browser: Browser, user: User) -> None:
    key = ApiKeyFactory(owner=user, permissions=[])
    counts = []
    for age in range(2):
        KeyDay.objects.create(key=key, day=(timezone.now() - age * DAY).date(), count=3)
        keys.rename(key=key, name=f"Name {age}", by=user)
        access_requests.ask_for_permission(key=key, permission=("lookup:user", "account")[age], reason="Why not")
        browser.open(page_of(key))
        counts.append(statements.names(lambda: browser.open(page_of(key))))
    assert counts[0] == counts[1]


def test_requests_of_30_days_are_shown_in_numbers_and_as_a_picture(browser: Browser, user: User) -> None:
    key, today = ApiKeyFactory(owner=user), timezone.now().date()
    for age, count in ((0, 4), (29, 8), (30, 100)):
        KeyDay.objects.create(key=key, day=today - age * DAY, count=count)
    assert "4 today, 12 in 30 days" in browser.open(LIST).text
    assert "4 today, 12 in 30 days" in browser.open(page_of(key)).text
    page = browser.page
    bars = page.xpath("//rect[@class='bars__bar']")
    assert [(bar.get("x"), bar.get("height")) for bar in bars] == [("1", "60.0"), ("291", "30.0")]
    assert [row.text_content() for row in page.xpath("//table")[0].xpath(".//td")][:1] == ["4"]
    assert len(page.xpath("//table")[0].xpath(".//tbody/tr")) == 30


def test_limits_follow_the_plan(browser: Browser, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits.API_PREMIUM_KEY, "amount", 90)
    key = ApiKeyFactory(owner=user)
    assert "30 requests a minute with this key (90 with Premium)" in browser.open(page_of(key)).text
    User.objects.filter(pk=user.pk).update(plan=Plan.PREMIUM)
    assert "90 requests a minute with this key, with your plan" in browser.open(page_of(key)).text
    assert "60 a minute from one address" in browser.text


def test_a_quota_shows_what_is_left_and_when_it_is_filled_up(browser: Browser, user: User) -> None:
    at = timezone.now()
    key = ApiKeyFactory(owner=user, remaining_uses=7, refill_amount=10, refill_interval=DAY, refilled_at=at)
    browser.open(page_of(key))
    (bar,) = browser.page.xpath("//progress")
    assert (bar.get("value"), bar.get("max"), bar.text_content()) == ("7", "10", "7 of 10")
    assert f"{at + DAY:%H:%M} UTC, the next request resets the quota to 10 uses" in browser.text
    once = ApiKeyFactory(owner=user, remaining_uses=7)
    assert "Uses left: 7. They are not refilled." in browser.open(page_of(once)).text


def test_the_trail_tells_who_did_what(browser: Browser, user: User) -> None:
    staff = StaffFactory()
    key = keys.issue(owner=user, permissions=["imagehost:upload"], name="Old", by=user).key
    keys.rename(key=key, name="New", by=user)
    keys.change_end(key=key, expires_at=timezone.now() + DAY, by=user)
    keys.change_end(key=key, expires_at=None, by=user)
    keys.grant_permission(key=key, permission="lookup:user", by=staff, reason="A fine bot")
    keys.disable(key=key, by=staff)
    keys.enable(key=key, by=staff)
    keys.rotate(key=key, overlap=timedelta(hours=1), by=user)
    rows = [
        " ".join(row.text_content().split())
        for row in browser.open(page_of(key)).page.xpath("//section[@aria-labelledby='activity']//tbody/tr/td[2]")
    ]
    assert [row.split(" By ik_")[0] for row in rows[:1]] == ["Replaced by a new key"]
    assert rows[0].endswith("with 1 h to change over.")
    assert rows[1:3] == ["Enabled", "Disabled"]
    assert rows[3] == "Permission granted Look up users and their profiles A fine bot"
    assert rows[4] == "Expiry changed It does not expire."
    assert rows[5].startswith("Expiry changed It expires on ")
    assert rows[6:] == ["Renamed The old name was “Old”.", "Created"]
    assert staff.username not in browser.text


ACTS = ("edit", "replace", "ask", "enable", "disable", "revoke", "delete", "take/account", "give/imagehost:upload")


def test_a_key_of_somebody_else_is_not_found(client: Client) -> None:
    key = ApiKeyFactory()
    for path in (page_of(key), *(f"{page_of(key)}{act}/" for act in (*ACTS, "requests/1/withdraw"))):
        statuses = {client.get(path).status_code, client.post(path, {}).status_code}
        assert 404 in statuses, path
        assert statuses <= {404, 405}, path
    assert ApiKey.objects.get().is_live(timezone.now())


def test_opening_a_page_changes_nothing(browser: Browser, user: User) -> None:
    key = ApiKeyFactory(owner=user)
    before = ApiKey.objects.values().get()
    for act in ACTS:
        answer = browser.client.get(f"{page_of(key)}{act}/")
        assert answer.status_code in {200, 405}
        assert answer.status_code == 405 or problems_of(answer) == []
        assert ApiKey.objects.values().get() == before


def test_the_list_has_pages_and_keys_that_are_over_come_last(browser: Browser, user: User) -> None:
    now = timezone.now()
    for over in ({"revoked_at": now}, {"expires_at": now}):
        ApiKeyFactory(owner=user, name="Finished", **over)
    ApiKey.objects.bulk_create(ApiKeyFactory.build_batch(25, owner=user, name="Live", created_at=now - DAY))
    assert "Finished" not in browser.open(LIST).text
    assert browser.open(f"{LIST}?page=2").text.count("Finished") == 2
    assert len(browser.page.xpath(f"//a[starts-with(@href, '{LIST}pre')]")) == 2
