"""The account page, and the list of connected apps."""

from __future__ import annotations

from datetime import timedelta

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from accounts.plans import Plan
from oidc_provider.models import LastUse
from tests.support.browser import Browser
from tests.factories.accounts import LinkedAccountFactory
from tests.factories.oidc_provider import ApprovalFactory
from tests.pages.markup import problems_of

ACCOUNT = "/dashboard/account/"
APPS = "/accounts/connected-apps/"


def test_the_page_says_how_the_account_stands(browser: Browser, user: User) -> None:
    text = browser.open(ACCOUNT).text
    assert problems_of(browser.response) == []
    assert "ada@example.org Confirmed" in text
    assert "Second factors None" in text
    assert "1 browser signed in" in text
    assert "Plan Free" in text


def test_the_page_follows_what_changes(browser: Browser, user: User) -> None:
    ends = timezone.now() + timedelta(days=40)
    User.objects.update(plan=Plan.PREMIUM, plan_expires_at=ends, display_name="Countess")
    EmailAddress.objects.update(verified=False)
    Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data={})
    Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={})
    LinkedAccountFactory(user=user, name="lovelace")
    ApprovalFactory(user=user)
    text = browser.open(ACCOUNT).text
    for words in (
        f"Premium, until {ends:%-d %B %Y}",
        "Countess",
        "Not confirmed",
        "1 passkey, authenticator app",
        "Recovery codes none left",
        "Chat platform: lovelace",
        "Connected apps 1",
    ):
        assert words in text
    User.objects.update(plan_expires_at=timezone.now())
    assert "Plan Free" in browser.open(ACCOUNT).text


def test_the_page_is_for_those_who_signed_in() -> None:
    answer = Client().get(ACCOUNT)
    assert answer.headers["Location"] == f"/accounts/login/?next={ACCOUNT}"


def test_connected_apps_say_when_they_were_used_last_and_cost_the_same_for_ten(browser: Browser, user: User) -> None:
    counts = []
    for amount in (1, 9):
        for _ in range(amount):
            approval = ApprovalFactory(user=user)
        used = timezone.now() - timedelta(days=3)
        LastUse.objects.create(application=approval.application, user=user, used_at=used)
        browser.open(APPS)
        with CaptureQueriesContext(connection) as captured:
            browser.open(APPS)
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert f"Last used on {used:%-d %B %Y}." in browser.text
    assert problems_of(browser.response) == []
