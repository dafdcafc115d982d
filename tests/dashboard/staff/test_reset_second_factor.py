"""A second factor that is lost is reset by another operator, or by the command where there is no other one."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.core.exceptions import PermissionDenied
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.test import TestCase
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent, User
from dashboard.staff import actions
from tests.factories.accounts import PASSWORD, StaffFactory, UserFactory
from tests.support import second_factors
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Browser]
ACT = "/admin/accounts/user/act/reset_second_factor/"


def protected(user: User) -> User:
    second_factors.with_app(user)
    RecoveryCodes.activate(user)
    return user


def test_another_operator_resets_it_in_the_admin(
    sign_in: SignIn, mailoutbox: list[EmailMessage], settings: Settings
) -> None:
    settings.SUPPORT_EMAIL = "support@example.org"
    ada, at_home = protected(UserFactory(username="Ada")), Browser()
    at_home.open("/accounts/login/").submit(login="Ada", password=PASSWORD)
    at_home.submit(code=second_factors.code_of(Authenticator.objects.get(type="totp").data["secret"]))
    assert at_home.user() == ada
    second_factors.with_key(ada)
    helper = sign_in("accounts.reset_second_factor_user", "accounts.change_user")
    assert f"{ACT}?id={ada.pk}" in helper.open(f"/admin/accounts/user/{ada.pk}/change/").response.content.decode()
    with TestCase.captureOnCommitCallbacks(execute=True):
        helper.open(f"{ACT}?id={ada.pk}").submit(reason="Lost the phone; known by voice")
    assert not Authenticator.objects.exists()
    assert at_home.user() is None
    event = AuditEvent.objects.get(verb="user:second_factor_reset")
    assert (event.actor, event.object_id, event.reason) == (helper.user(), ada.pk, "Lost the phone; known by voice")
    assert event.data == {"removed": ["recovery_codes", "totp", "webauthn"], "sessions_ended": 1}
    (mail,) = mailoutbox
    assert (mail.to, mail.subject) == ([ada.email], "Hearth: Your second factor was removed")
    assert "write to us: support@example.org" in mail.body
    assert "pages of staff" not in mail.body
    assert ACT not in helper.open(f"/admin/accounts/user/{ada.pk}/change/").response.content.decode()


def test_it_needs_the_permission_and_a_reason(sign_in: SignIn) -> None:
    ada = protected(UserFactory())
    assert sign_in("accounts.change_user", "accounts.ban_user").client.get(f"{ACT}?id={ada.pk}").status_code == 403
    sign_in("accounts.reset_second_factor_user").open(f"{ACT}?id={ada.pk}").submit(reason=" ")
    assert Authenticator.objects.filter(user=ada).count() == 2


def test_a_reset_of_ones_own_is_refused_and_only_a_superuser_resets_a_superuser() -> None:
    boss, helper = protected(StaffFactory()), protected(UserFactory(is_staff=True))
    for user, by in ((boss, boss), (helper, helper), (boss, helper)):
        with pytest.raises(PermissionDenied):
            actions.reset_second_factor(user=user, by=by, reason="x")
    assert Authenticator.objects.count() == 4
    actions.reset_second_factor(user=helper, by=UserFactory(is_staff=True), reason="x")
    actions.reset_second_factor(user=boss, by=StaffFactory(), reason="x")
    assert not Authenticator.objects.exists()


def test_staff_whose_factor_was_reset_have_no_grace_period(settings: Settings, mailoutbox: list[EmailMessage]) -> None:
    settings.STAFF_SECOND_FACTOR, settings.STAFF_SECOND_FACTOR_GRACE = True, timedelta(days=7)
    helper = protected(UserFactory(username="Helper", is_staff=True, second_factor_grace_from=timezone.now()))
    with TestCase.captureOnCommitCallbacks(execute=True):
        actions.reset_second_factor(user=helper, by=None, reason="x")
    browser = Browser()
    browser.open("/accounts/login/").submit(login="Helper", password=PASSWORD)
    assert "Set up a second factor" in browser.open("/admin/").text
    assert "once you have set up a new one" in mailoutbox[0].body


@pytest.mark.parametrize(("has_password", "asks"), [(True, "change your password"), (False, "choose a password")])
def test_the_letter_asks_for_another_password_or_for_a_first_one(
    mailoutbox: list[EmailMessage], has_password: bool, asks: str
) -> None:
    ada = protected(UserFactory())
    if not has_password:
        ada.set_unusable_password()
        ada.save()
    with TestCase.captureOnCommitCallbacks(execute=True):
        actions.reset_second_factor(user=ada, by=None, reason="x")
    assert f"If you did not ask for this, {asks} and write to us" in mailoutbox[0].body


class TestCommand:
    def run(self, *arguments: str) -> str:
        out = io.StringIO()
        call_command("reset_second_factor", *arguments, stdout=out)
        return out.getvalue()

    def test_it_resets_that_of_the_last_operator(self) -> None:
        protected(StaffFactory(username="Boss"))
        assert self.run("boss", "--reason", "The phone drowned") == (
            "The second factor of Boss is removed. Their password works as before.\n"
        )
        event = AuditEvent.objects.get()
        assert (event.actor_kind, event.reason) == ("SYSTEM", "The phone drowned")

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (("boss", "--reason", " "), "Give a reason"),
            (("eve", "--reason", "x"), "There is no user named eve"),
            (("ada", "--reason", "x"), "Ada has no second factor"),
            (("boss",), "--reason"),
        ],
    )
    def test_a_mistake_is_a_sentence(self, arguments: tuple[str, ...], sentence: str) -> None:
        protected(StaffFactory(username="Boss"))
        UserFactory(username="Ada")
        with pytest.raises(CommandError, match=sentence):
            self.run(*arguments)
        assert Authenticator.objects.count() == 2
        assert not AuditEvent.objects.exists()
