"""Sign-ups whose address is never confirmed are deleted after three days, with their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.utils import timezone

from accounts import deletions
from accounts.models import AuditEvent, Name, User
from accounts.plans import Plan
from tests.accounts.test_sign_up import code_in
from tests.factories.accounts import PASSWORD, AliasFactory, ApiKeyFactory, LinkedAccountFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

START = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = timedelta(days=3)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


def signs_up() -> Browser:
    browser = Browser().open("/accounts/signup/")
    return browser.submit(username="Ada", email="ada@example.org", password1=PASSWORD)


def test_a_sign_up_goes_after_three_days_and_its_name_and_address_are_free(
    clock: time_machine.Traveller, mailoutbox: list[EmailMessage]
) -> None:
    browser = signs_up()
    clock.move_to(START + DAYS - timedelta(seconds=1))
    assert call_command("delete_accounts") == "Deleted 0 accounts."
    clock.move_to(START + DAYS)
    assert call_command("delete_accounts") == "Deleted 1 accounts."
    assert not User.objects.exists()
    assert not EmailAddress.objects.exists()
    assert not Name.objects.filter(key="ADA").exists()
    event = AuditEvent.objects.get(verb="user:deleted")
    assert (event.actor_kind, event.reason) == ("SYSTEM", "The address was never confirmed.")
    assert browser.open("/accounts/confirm-email/").response.status_code == 200  # the page that waited for the code
    again = signs_up()
    again.submit(code=code_in(mailoutbox[-1]))
    assert str(again.user()) == "Ada"


def test_one_that_is_confirmed_at_the_last_moment_stays(
    clock: time_machine.Traveller, mailoutbox: list[EmailMessage]
) -> None:
    signs_up()
    clock.move_to(START + DAYS - timedelta(minutes=1))
    browser = Browser().open("/accounts/login/").submit(login="Ada", password=PASSWORD)
    browser.submit(code=code_in(mailoutbox[-1]))
    clock.move_to(START + DAYS)
    assert call_command("delete_accounts") == "Deleted 0 accounts."
    assert browser.user() == User.objects.get()


def test_one_that_is_confirmed_while_the_job_runs_stays(clock: time_machine.Traveller) -> None:
    user = UserFactory(email_verified=False)
    now = START + DAYS
    assert list(deletions.unconfirmed(now)) == [user]
    EmailAddress.objects.update(verified=True)
    assert not deletions.delete_unconfirmed(user.pk, now=now)
    assert User.objects.get() == user
    assert not deletions.delete_unconfirmed("0" * 32, now=now)


def old(**columns: object) -> User:
    return UserFactory(email_verified=False, created_at=timezone.now() - timedelta(days=30), **columns)


def with_another_address() -> User:
    user = old()
    EmailAddress.objects.create(user=user, email="other@example.org", verified=True)
    return user


def in_a_group() -> User:
    user = old()
    user.groups.add(Group.objects.create(name="Testers"))
    return user


KEPT: dict[str, Callable[[], User]] = {
    "staff": lambda: old(is_staff=True),
    "a superuser": lambda: old(is_superuser=True),
    "banned": lambda: old(is_active=False, banned_at=timezone.now()),
    "has signed in": lambda: old(last_login=timezone.now() - timedelta(days=20)),
    "has a plan": lambda: old(plan=Plan.PREMIUM),
    "is verified": lambda: old(is_verified=True),
    "has another, confirmed address": with_another_address,
    "has a key": lambda: ApiKeyFactory(owner=old()).owner,
    "has an app": lambda: ApplicationFactory(user=old()).user,
    "has a linked account": lambda: LinkedAccountFactory(user=old()).user,
    "has unlocked scopes": lambda: old(unlocked_scopes=["email"]),
    "is in a group": in_a_group,
    "has an alias": lambda: AliasFactory(user=old()).user,
    "is imported and has no address": lambda: UserFactory(email="", created_at=START),
}


@pytest.mark.parametrize("kind", KEPT)
def test_who_is_or_has_something_else_stays(kind: str) -> None:
    user = KEPT[kind]()
    old()
    assert call_command("delete_accounts") == "Deleted 1 accounts."
    assert User.objects.filter(pk=user.pk).exists()
