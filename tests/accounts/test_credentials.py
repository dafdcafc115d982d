"""Sign-ins and own changes of credentials: what the audit trail holds of them, and the end of access."""

from __future__ import annotations

import smtplib
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.utils import timezone

from accounts.api_keys import keys
from accounts.models import ApiKey, AuditEvent, User
from oidc_provider.models import AccessToken, Approval
from tests.accounts.test_passwords import NEW_PASSWORD, reset_link
from tests.admin.test_pages import access_token
from tests.dashboard.staff.test_second_factor import set_up_app
from tests.factories.accounts import PASSWORD, ApiKeyFactory, StaffFactory, UserFactory
from tests.factories.oidc_provider import ApprovalFactory
from tests.support import second_factors
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    user: User = UserFactory(username="Ada", email="ada@example.org")
    return user


def sign_in(password: str = PASSWORD, login: str = "Ada") -> Browser:
    return Browser().open("/accounts/login/").submit(login=login, password=password)


def events(user: User, verb: str = "") -> list[tuple[str, dict[str, Any], User | None]]:
    """What the trail holds about the user, sign-ins aside unless asked for: verb, data, actor."""
    found = AuditEvent.objects.filter(object_id=user.pk).order_by("pk").select_related("actor")
    found = found.filter(verb=verb) if verb else found.exclude(verb="user:signed_in")
    return [(event.verb, event.data, event.actor) for event in found]


def test_a_sign_in_is_recorded_with_its_method_and_address(ada: User) -> None:
    assert sign_in().user() == ada
    assert events(ada, "user:signed_in") == [("user:signed_in", {"methods": ["password"]}, ada)]
    assert AuditEvent.objects.get().address == "127.0.0.1"


@pytest.mark.parametrize("login", ["ADA", "ada@example.org"])
def test_failed_sign_ins_are_recorded_up_to_5_an_hour_of_an_account(ada: User, login: str, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = False
    for _ in range(7):
        assert sign_in("wrong " + PASSWORD, login).user() is None
    sign_in("wrong " + PASSWORD, "Nobody")
    assert events(ada) == [("user:sign_in_failed", {"method": "password"}, None)] * 5
    assert AuditEvent.objects.count() == 5


def test_failures_of_all_accounts_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.rate_limits.ALL_SIGN_IN_FAILURES.amount", 2)
    for number in range(4):
        sign_in("wrong " + PASSWORD, UserFactory.create(username=f"Person-{number}").username)
    assert AuditEvent.objects.count() == 2


@pytest.mark.django_db(transaction=True)  # allauth sends its signals after the commit
def test_a_second_factor_is_recorded_when_it_is_added_fails_is_used_and_is_removed(ada: User) -> None:
    browser = sign_in()
    secret = set_up_app(browser)
    added = [("user:authenticator_added", {"type": kind}, ada) for kind in ("totp", "recovery_codes")]
    assert sorted(events(ada), key=str) == sorted(added, key=str)
    with time_machine.travel(timezone.now() + timedelta(minutes=2)):
        second = sign_in().submit(code="000000")
        assert events(ada)[-1] == ("user:sign_in_failed", {"method": "mfa"}, None)
        second.submit(code=second_factors.code_of(secret))
        assert second.user() == ada
        assert events(ada, "user:signed_in")[-1][1] == {"methods": ["password", "mfa"]}
        second.open("/accounts/2fa/recovery-codes/generate/")
        client = second.client
        client.handler.enforce_csrf_checks = False
        client.post("/accounts/2fa/recovery-codes/generate/")
        assert events(ada)[-1] == ("user:authenticator_replaced", {"type": "recovery_codes"}, ada)
        client.post("/accounts/2fa/totp/deactivate/")
    removed = events(ada)[-2:]
    assert {event[1]["type"] for event in removed} == {"totp", "recovery_codes"}
    assert {event[0] for event in removed} == {"user:authenticator_removed"}


@pytest.fixture
def mail_server_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise smtplib.SMTPServerDisconnected

    monkeypatch.setattr(EmailBackend, "send_messages", fail)


@pytest.mark.django_db(transaction=True)  # notices are sent after the commit
def test_a_password_is_changed_while_the_mail_server_is_away(
    ada: User, mail_server_away: None, caplog: pytest.LogCaptureFixture
) -> None:
    browser = sign_in().open("/accounts/password/change/")
    browser.submit(oldpassword=PASSWORD, password1=NEW_PASSWORD, password2=NEW_PASSWORD)
    assert [status for _, status in browser.response.redirect_chain] == [302]
    assert browser.user() == ada
    assert events(ada) == [("user:password_changed", {}, ada)]
    assert "An email could not be sent." in caplog.text


@pytest.mark.django_db(transaction=True)  # notices are sent after the commit
def test_recovery_codes_are_shown_while_the_mail_server_is_away(ada: User, mail_server_away: None) -> None:
    browser = sign_in()
    set_up_app(browser)
    assert browser.response.redirect_chain == [("/accounts/2fa/recovery-codes/", 302)]
    assert browser.page.get_element_by_id("recovery-codes").text_content().split()
    assert sorted(event[1]["type"] for event in events(ada)) == ["recovery_codes", "totp"]
    assert browser.user() == ada


def test_addresses_are_recorded_without_naming_them(ada: User) -> None:
    browser = sign_in()
    browser.client.handler.enforce_csrf_checks = False
    browser.client.post("/accounts/email/", {"action_add": "", "email": "new@example.org"})
    EmailAddress.objects.get_or_create(user=ada, email="new@example.org", defaults={"verified": True})
    EmailAddress.objects.filter(email="new@example.org").update(verified=True)
    browser.client.post("/accounts/email/", {"action_primary": "", "email": "new@example.org"})
    browser.client.post("/accounts/email/", {"action_remove": "", "email": "ada@example.org"})
    verbs = [event[0] for event in events(ada)]
    assert verbs[-2:] == ["user:email_changed", "user:email_removed"]
    assert not any("example.org" in str(event.data) for event in AuditEvent.objects.all())


def test_sessions_that_are_ended_together_are_recorded_one_by_one(ada: User) -> None:
    first, second, third = sign_in(), sign_in(), sign_in()
    first.client.handler.enforce_csrf_checks = False
    first.client.post("/accounts/sessions/")
    assert [browser.user() for browser in (first, second, third)] == [ada, None, None]
    assert events(ada) == [("user:session_ended", {}, ada)] * 2


def with_access(user: User) -> None:
    """A key, a key that is disabled, an approved app and its token."""
    ApiKeyFactory(owner=user)
    ApiKeyFactory(owner=user, is_enabled=False)
    token = access_token()
    AccessToken.objects.filter(pk=token.pk).update(user=user)
    ApprovalFactory(user=user, application=token.application)


def has_access(user: User) -> bool:
    """Neither half of it, or both halves."""
    is_token, is_key = AccessToken.objects.filter(user=user).exists(), user.api_keys.filter(revoked_at=None).exists()
    assert is_token == is_key
    return is_token


@pytest.mark.parametrize("ends", [True, False])
def test_a_new_password_ends_access_where_the_owner_says_so(ada: User, ends: bool) -> None:
    with_access(ada)
    other = UserFactory.create()
    with_access(other)
    browser = sign_in().open("/accounts/password/change/")
    chosen = {"ends_access": "on"} if ends else {}
    browser.submit(oldpassword=PASSWORD, password1=NEW_PASSWORD, password2=NEW_PASSWORD, **chosen)
    ada.refresh_from_db()
    assert ada.check_password(NEW_PASSWORD)
    assert has_access(ada) != ends
    assert has_access(other)
    assert Approval.objects.filter(user=ada).exists()
    ended = [("user:access_ended", {"keys": 2}, ada)] if ends else []
    assert events(ada) == [*ended, ("user:password_changed", {}, ada)]


@pytest.mark.parametrize("ends", [True, False])
def test_a_reset_by_mail_ends_access_where_the_owner_says_so(
    ada: User, ends: bool, mailoutbox: list[EmailMessage]
) -> None:
    with_access(ada)
    Browser().open("/accounts/password/reset/").submit(email=ada.email)
    chosen = {"ends_access": "on"} if ends else {}
    Browser().open(reset_link(mailoutbox[0])).submit(password1=NEW_PASSWORD, password2=NEW_PASSWORD, **chosen)
    assert has_access(ada) != ends
    ended = [("user:access_ended", {"keys": 2}, ada)] if ends else []
    assert events(ada) == [*ended, ("user:password_changed", {"by_mail": True}, ada)]


def test_a_wrong_password_ends_nothing(ada: User) -> None:
    with_access(ada)
    browser = sign_in().open("/accounts/password/change/")
    browser.submit(oldpassword="wrong", password1=NEW_PASSWORD, password2=NEW_PASSWORD, ends_access="on")
    assert has_access(ada)


def test_own_api_keys_are_recorded(ada: User) -> None:
    key = keys.issue(owner=ada, permissions=["account"], by=ada).key
    keys.revoke(key=key, by=ada)
    verbs = AuditEvent.objects.filter(object_type=ApiKey._meta.label_lower).order_by("pk").values_list("verb", "actor")
    assert list(verbs) == [("api_key:issued", ada.pk), ("api_key:revoked", ada.pk)]


@pytest.mark.parametrize("path", ["/admin/password_change/", "/admin/password_change/done/"])
def test_the_admin_changes_no_password(path: str) -> None:
    staff, client = StaffFactory.create(), Client()
    client.force_login(staff)
    new = {"old_password": PASSWORD, "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    for answer in (client.get(path), client.post(path, new)):
        assert (answer.status_code, answer["Location"]) == (302, "/accounts/password/change/")
    staff.refresh_from_db()
    assert staff.check_password(PASSWORD)
