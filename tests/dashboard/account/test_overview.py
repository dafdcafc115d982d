"""The account page, and the list of connected apps."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.utils import timezone

from accounts.models import User
from accounts.plans import Plan
from dashboard.account import queries as account_queries
from dashboard.account.queries import Mail, Security
from oidc_provider.models import LastUse
from tests.factories.accounts import LinkedAccountFactory
from tests.factories.oidc_provider import ApprovalFactory
from tests.lookup import statements
from tests.pages.markup import problems_of
from tests.support.browser import Browser

ACCOUNT = "/dashboard/account/"
APPS = "/accounts/connected-apps/"


def test_the_page_shows_the_state_of_the_account(browser: Browser, user: User) -> None:
    text = browser.open(ACCOUNT).text
    assert problems_of(browser.response) == []
    for words in ("ada@example.org Confirmed", "Second factors None", "1 browser signed in", "Plan Free"):
        assert words in text
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


@pytest.mark.parametrize(
    ("security", "has_few"),
    [
        (Security(passkeys=0, has_app=True, codes=2), True),
        (Security(passkeys=0, has_app=True, codes=3), False),
        (Security(passkeys=1, has_app=False, codes=None), True),
        (Security(passkeys=0, has_app=False, codes=None), False),
    ],
)
def test_fewer_than_three_recovery_codes_beside_a_second_factor_are_few(security: Security, has_few: bool) -> None:
    assert security.has_few_codes == has_few


def test_the_primary_address_is_the_one_that_counts(user: User) -> None:
    EmailAddress.objects.filter(user=user).update(primary=False)
    EmailAddress.objects.create(user=user, email="later@example.org", verified=False, primary=True)
    assert account_queries.mail_of(user) == Mail("later@example.org", is_verified=False)


@pytest.mark.embedded
def test_connected_apps_show_their_last_use_and_ten_cost_as_much_as_one(browser: Browser, user: User) -> None:
    counts = []
    for amount in (1, 9):
        for _ in range(amount):
            approval = ApprovalFactory(user=user)
        used = timezone.now() - timedelta(days=3)
        LastUse.objects.create(application=approval.application, user=user, used_at=used)
        browser.open(APPS)
        counts.append(statements.names(lambda: browser.open(APPS)))
    assert counts[0] == counts[1]
    assert f"Last used on {used:%-d %B %Y}." in browser.text
    assert problems_of(browser.response) == []
