"""Staff must have a second factor, and use it: on their own pages and in the admin, after a grace period."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from pytest_django import Settings

from accounts import second_factor, users
from accounts.models import User
from tests.dashboard.signing_in import browser_of, client_of
from tests.factories.accounts import PASSWORD, StaffFactory, UserFactory
from tests.pages.markup import problems_of
from tests.support import second_factors
from tests.support.browser import Browser
from tests.support.threads import together

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WALL = "/dashboard/staff/second-factor/"
STAFF_PAGES = ["/dashboard/staff/", "/dashboard/staff/apps/", "/dashboard/staff/people/", "/admin/"]
STAFF_PAGES += ["/admin/accounts/user/", "/admin/accounts/auditevent/", "/admin/accounts/user/act/ban/?id=x"]


@pytest.fixture(autouse=True)
def clock(settings: Settings) -> Iterator[time_machine.Traveller]:
    settings.STAFF_SECOND_FACTOR, settings.STAFF_SECOND_FACTOR_GRACE = True, timedelta(days=7)
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


def signed_in(user: User, secret: str = "") -> Browser:
    """Through the login page, with the code of the app where there is one."""
    browser = Browser()
    browser.open("/accounts/login/").submit(login=user.username, password=PASSWORD)
    if secret:
        browser.submit(code=second_factors.code_of(secret))
    assert browser.user() == user
    return browser


def where(browser: Browser, path: str) -> str:
    """The address at which the browser ends."""
    return str(browser.open(path).response.request["PATH_INFO"])


@pytest.fixture
def operator() -> User:
    """Without a grace period."""
    return StaffFactory(username="Boss")


def set_up_app(browser: Browser) -> str:
    browser.open("/accounts/2fa/totp/activate/")
    secret = browser.page.get_element_by_id("authenticator_secret").value
    browser.submit(code=second_factors.code_of(secret))
    return str(secret)


def test_without_a_second_factor_pages_of_staff_lead_to_its_set_up(operator: User) -> None:
    browser = signed_in(operator)
    for path in STAFF_PAGES:
        assert where(browser, path) == WALL
        assert "Set up a second factor" in browser.text
        assert "open as soon as you have one" in browser.text
    assert problems_of(browser.response) == []
    for link in ("/accounts/2fa/totp/activate/", "/accounts/2fa/webauthn/add/"):
        assert browser.page.xpath(f'//a[@href="{link}"]')
    for path in ("/dashboard/", "/dashboard/account/", "/accounts/2fa/", "/accounts/sessions/"):
        assert where(browser, path) == path, "one's own pages stay open"


def test_an_act_of_staff_is_not_done_without_one(operator: User) -> None:
    ada, browser = UserFactory(username="Ada"), Browser()
    browser.client.handler.enforce_csrf_checks = False
    browser.client.force_login(operator)
    for path, data in (
        (f"/dashboard/staff/people/{ada.pk}/ban/", {"reason": "Spam"}),
        ("/admin/accounts/user/act/ban/", {"reason": "Spam", "_selected_action": ada.pk}),
    ):
        answer = browser.client.post(path, data)
        assert (answer.status_code, answer["Location"]) == (302, WALL)
    ada.refresh_from_db()
    assert not ada.is_banned


@pytest.mark.django_db(transaction=True)  # allauth tells of it after the commit
def test_setting_one_up_opens_the_pages_in_that_session_and_in_no_other(operator: User) -> None:
    browser, other = signed_in(operator), signed_in(operator)
    set_up_app(browser)
    assert {path: where(browser, path) for path in STAFF_PAGES[:-1]} == {path: path for path in STAFF_PAGES[:-1]}
    assert where(other, "/admin/") == WALL
    assert "Confirm your second factor" in other.text


def test_a_login_with_the_second_factor_opens_them(operator: User) -> None:
    browser = signed_in(operator, second_factors.with_app(operator))
    assert where(browser, "/dashboard/staff/") == "/dashboard/staff/"
    assert "second factor" not in browser.text
    assert where(browser, WALL) == "/admin/"


def test_a_proof_counts_as_long_as_there_is_a_second_factor(operator: User) -> None:
    browser = signed_in(operator, second_factors.with_app(operator))
    assert where(browser, "/admin/") == "/admin/"
    Authenticator.objects.all().delete()
    assert where(browser, "/admin/") == WALL


def test_a_session_from_before_confirms_it_and_goes_on_where_it_wanted(operator: User) -> None:
    browser = signed_in(operator)
    secret = second_factors.with_app(operator)
    assert where(browser, "/dashboard/staff/people/?q=ada") == WALL
    assert problems_of(browser.response) == []
    (link,) = browser.page.xpath('//a[text()="Enter a code"]/@href')
    browser.open(link).submit(code=second_factors.code_of(secret))
    asked = browser.response.request
    assert (asked["PATH_INFO"], asked["QUERY_STRING"]) == ("/dashboard/staff/people/", "q=ada")


def test_the_page_leads_nowhere_outside(operator: User) -> None:
    second_factors.with_key(operator)
    browser = Browser()
    browser.client.force_login(operator)
    browser.open(f"{WALL}?next=https://evil.example/")
    assert "evil" not in browser.response.content.decode()
    assert [link.text for link in browser.page.xpath('//section//a[contains(@class, "button")]')] == [
        "Use your key",
        "Enter a recovery code",
    ]


def test_who_is_not_staff_has_no_such_page() -> None:
    browser = signed_in(UserFactory())
    assert browser.open(WALL).response.status_code == 403
    assert browser.open("/admin/").response.status_code == 403


class TestGrace:
    @pytest.fixture
    def helper(self, operator: User) -> User:
        """Made staff at NOON."""
        return users.change(user=UserFactory(username="Helper"), values={"is_staff": True}, by=operator)

    def test_it_runs_from_the_day_on_which_the_account_became_staff(
        self, helper: User, clock: time_machine.Traveller
    ) -> None:
        browser = signed_in(helper)
        clock.shift(timedelta(days=7, seconds=-1))
        assert where(browser, "/admin/") == "/admin/"
        assert "without one until 8 March 2026, 12:00 UTC" in browser.text
        assert problems_of(browser.response) == []
        clock.shift(1)
        assert where(browser, "/admin/") == WALL

    def test_pages_of_staff_say_when_it_ends_and_where_to_set_one_up(self) -> None:
        made = users.create_operator(username="Chief", email="chief@example.org", password=PASSWORD)
        browser = signed_in(made).open("/dashboard/staff/")
        assert "until 8 March 2026, 12:00 UTC" in browser.text
        assert browser.page.xpath(f'//p[contains(@class, "notice")]/a[@href="{WALL}"]')
        assert "stay open to you without one until 8 March 2026" in browser.open(WALL).text

    def test_no_days_are_at_once(self, helper: User, settings: Settings) -> None:
        settings.STAFF_SECOND_FACTOR_GRACE = timedelta(0)
        assert where(signed_in(helper), "/admin/") == WALL

    @pytest.mark.django_db(transaction=True)
    def test_setting_one_up_ends_it_for_good(self, helper: User) -> None:
        set_up_app(signed_in(helper))
        Authenticator.objects.all().delete()
        assert where(signed_in(helper), "/admin/") == WALL

    def test_it_opens_nothing_to_who_has_a_second_factor_and_has_not_used_it(self, operator: User) -> None:
        ada = UserFactory(username="Ada")
        secret, browser = second_factors.with_app(ada), Browser()
        users.change(user=ada, values={"is_staff": True}, by=operator)
        browser.client.force_login(ada)
        assert where(browser, "/admin/") == WALL
        assert "Confirm your second factor" in browser.text
        assert where(signed_in(ada, secret), "/admin/") == "/admin/"

    def test_who_is_no_longer_staff_has_none(self, helper: User, operator: User) -> None:
        users.change(user=helper, values={"is_staff": False}, by=operator)
        helper.refresh_from_db()
        assert helper.second_factor_grace_from is None

    def test_another_change_does_not_begin_it_again(
        self, helper: User, operator: User, clock: time_machine.Traveller
    ) -> None:
        clock.shift(timedelta(days=3))
        users.change(user=helper, values={"is_staff": True, "plan": "PREMIUM"}, by=operator)
        helper.refresh_from_db()
        assert helper.second_factor_grace_from == NOON


def test_where_none_is_demanded_pages_are_open(operator: User, settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = False
    browser = signed_in(operator)
    for path in ("/dashboard/staff/", "/admin/"):
        assert where(browser, path) == path
        assert "a stolen password is enough" in browser.text


class TestRemoval:
    REFUSED = "Staff need a second factor. Add another one before you remove this one."

    def test_the_last_app_of_staff_stays(self, operator: User) -> None:
        browser = signed_in(operator, second_factors.with_app(operator))
        browser.open("/accounts/2fa/totp/deactivate/")
        assert self.REFUSED in browser.text
        browser.client.handler.enforce_csrf_checks = False
        browser.client.post("/accounts/2fa/totp/deactivate/")
        assert Authenticator.objects.filter(type=Authenticator.Type.TOTP).exists()

    def test_the_last_key_of_staff_stays(self, operator: User) -> None:
        key = second_factors.with_key(operator)
        browser = Browser()
        browser.client.handler.enforce_csrf_checks = False
        browser.client.force_login(operator)
        path = f"/accounts/2fa/webauthn/keys/{key.pk}/remove/"
        assert self.REFUSED in browser.open(path).text
        browser.client.post(path)
        assert Authenticator.objects.filter(pk=key.pk).exists()

    def test_one_of_two_goes(self, operator: User) -> None:
        browser = signed_in(operator, second_factors.with_app(operator))
        key = second_factors.with_key(operator)
        browser.open(f"/accounts/2fa/webauthn/keys/{key.pk}/remove/")
        (form,) = (form for form in browser.page.forms if form.action is None or "remove" in str(form.action))
        browser.client.post(f"/accounts/2fa/webauthn/keys/{key.pk}/remove/", dict(form.form_values()))
        assert list(Authenticator.objects.values_list("type", flat=True)) == ["totp"]

    @pytest.mark.django_db(transaction=True)
    def test_of_two_that_are_removed_at_the_same_time_one_stays(
        self, operator: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        second_factors.with_app(operator)
        keys = f"/accounts/2fa/webauthn/keys/{second_factors.with_key(operator).pk}/remove/"
        clients = [client_of(browser_of(operator)) for _ in range(2)]
        ask, asked, both = second_factor.reason_to_keep, [], threading.Event()

        def ask_and_wait(authenticator: Authenticator) -> str:
            reason = ask(authenticator)
            asked.append(reason)
            if len(asked) == 2:
                both.set()
            both.wait(1)  # the other request asks now, unless it is kept waiting
            return reason

        monkeypatch.setattr(second_factor, "reason_to_keep", ask_and_wait)
        paths = ("/accounts/2fa/totp/deactivate/", keys)
        together(2, lambda number: clients[number].post(paths[number]))
        assert (asked, Authenticator.objects.filter(type__in=second_factor.FACTORS).count()) == (["", self.REFUSED], 1)

    def test_others_remove_their_last_one(self) -> None:
        ada = UserFactory(username="Ada")
        browser = signed_in(ada, second_factors.with_app(ada))
        browser.open("/accounts/2fa/totp/deactivate/")
        assert self.REFUSED not in browser.text
        browser.client.handler.enforce_csrf_checks = False
        browser.client.post("/accounts/2fa/totp/deactivate/")
        assert not Authenticator.objects.exists()
