"""The dashboard's first page: what a person reads there, and what it costs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from dashboard import access_requests
from imagehost.models import Usage
from lookup.models import Profile
from oidc_provider.models import UsageCount
from tests.support.browser import Browser
from tests.factories.accounts import PASSWORD, ApiKeyFactory, LinkedAccountFactory, StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.pages.markup import problems_of

HOME = "/dashboard/"
DAY = timedelta(days=1)


@pytest.fixture
def user(db: None) -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def browser(user: User) -> Browser:
    return Browser().open("/accounts/login/").submit(login=user.username, password=PASSWORD)


def test_a_new_person_lands_here_and_reads_what_to_do(browser: Browser) -> None:
    assert browser.response.request["PATH_INFO"] == HOME
    assert problems_of(browser.response) == []
    for words in (
        "Hello, Ada",
        "A password alone protects your account.",
        "0 of 4 done",
        "Add a picture",
        "Register an app",
        "Make a key",
        "of 1.0 GB",
    ):
        assert words in browser.text
    assert "not confirmed" not in browser.text


def test_steps_that_are_done_are_no_longer_named(browser: Browser, user: User) -> None:
    Profile.objects.filter(user=user).update(description="I count")
    LinkedAccountFactory(user=user)
    assert "2 of 4 done" in browser.open(HOME).text
    assert "Say something about yourself" not in browser.text
    assert "Link your chat account" not in browser.text


def test_weak_spots_are_named(browser: Browser, user: User) -> None:
    EmailAddress.objects.update(verified=False)
    assert "Your email address is not confirmed." in browser.open(HOME).text
    EmailAddress.objects.all().delete()
    User.objects.update(email="")
    assert "Your account has no email address." in browser.open(HOME).text
    Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={})
    assert "You have no recovery codes left." in browser.open(HOME).text
    assert "A password alone" not in browser.text


def test_keys_that_end_soon_are_named(browser: Browser, user: User) -> None:
    now = timezone.now()
    ApiKeyFactory(owner=user, name="Soon", expires_at=now + 6 * DAY)
    ApiKeyFactory(owner=user, name="Later", expires_at=now + 8 * DAY)
    ApiKeyFactory(owner=user, name="Gone", expires_at=now - DAY)
    ApiKeyFactory(name="Foreign", expires_at=now + DAY)
    text = browser.open(HOME).text
    assert "Soon ends on" in text
    assert "2 keys of yours work." in text
    for name in ("Later", "Gone", "Foreign"):
        assert name not in text


def test_requests_and_their_answers_are_told(browser: Browser, user: User) -> None:
    key = ApiKeyFactory(owner=user, permissions=[])
    asked = access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
    access_requests.ask_for_scope(user=user, scope="email", reason="A shop")
    assert browser.open(HOME).text.count("Waits for staff") == 2
    access_requests.deny(request=asked, by=StaffFactory(), reason="Say more, please")
    text = browser.open(HOME).text
    assert "lookup:user Denied" in text
    assert "Say more, please" in text


def test_apps_with_errors_lately_are_named(browser: Browser, user: User) -> None:
    now = timezone.now()
    failing, old, fine = (ApplicationFactory(user=user, name=name) for name in ("Failing", "Old", "Fine"))
    for application, age, outcome in (
        (failing, 1, "invalid_grant"),
        (failing, 2, "invalid_client"),
        (failing, 1, "ok"),
        (old, 25, "invalid_grant"),
        (fine, 1, "ok"),
    ):
        hour = now - timedelta(hours=age)
        UsageCount.objects.create(application=application, hour=hour, kind="CODE", outcome=outcome, count=3)
    text = browser.open(HOME).text
    assert "Failing: 6 requests failed" in text
    assert "Old:" not in text
    assert "Fine:" not in text
    assert "3 apps of yours" in text


def test_storage_is_told_in_words(browser: Browser, user: User) -> None:
    Usage.objects.create(owner=user, used_bytes=512 * 1024 * 1024)
    assert "512.0" in browser.open(HOME).text.replace("\xa0", " ")
    (bar,) = browser.page.xpath("//progress[@aria-label='Storage']")
    assert int(bar.get("value")) * 2 == int(bar.get("max"))


def test_the_page_costs_the_same_however_much_there_is(browser: Browser, user: User) -> None:
    counts, now = [], timezone.now()
    for amount in (1, 9):
        for _ in range(amount):
            key = ApiKeyFactory(owner=user, permissions=[], expires_at=now + DAY)
            access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
            application = ApplicationFactory(user=user)
            UsageCount.objects.create(application=application, hour=now, kind="CODE", outcome="invalid_grant", count=1)
        browser.open(HOME)
        with CaptureQueriesContext(connection) as captured:
            browser.open(HOME)
        counts.append(len([query for query in captured if "django_session" not in query["sql"]]))
    assert counts == [11, 11]  # user, deletion of the account, and the 9 of `home_facts.of`


def test_the_page_is_for_those_who_signed_in() -> None:
    assert Client().get(HOME).headers["Location"] == f"/accounts/login/?next={HOME}"
