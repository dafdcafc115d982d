"""The daily job: owners are notified once of keys that end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta

import pytest
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.utils import timezone

from accounts import bans
from accounts.api_keys import keys
from accounts.models import ApiKey, JobRun, KeyDay, User
from tests.factories.accounts import ApiKeyFactory

Commits = Callable[..., AbstractContextManager[object]]
DAY = timedelta(days=1)


@pytest.fixture
def remind(django_capture_on_commit_callbacks: Commits) -> Callable[[], str]:
    def run() -> str:
        with django_capture_on_commit_callbacks(execute=True):
            output: str = call_command("remind_of_keys")
        return output

    return run


def test_an_owner_is_notified_once_a_week_before_the_end(
    user: User, mailoutbox: list[EmailMessage], remind: Callable[[], str]
) -> None:
    key = ApiKeyFactory(owner=user, expires_at=timezone.now() + 7 * DAY)
    assert [remind(), remind()] == [f"Reminders sent: {count}; days of counts deleted: 0." for count in (1, 0)]
    (letter,) = mailoutbox
    assert letter.to == [user.email]
    assert f"{key.prefix}) expires on" in letter.body
    assert f"/dashboard/api-keys/{key.prefix}/" in letter.body


@pytest.mark.parametrize(
    "columns",
    [
        {"expires_at": 7 * DAY + timedelta(hours=1)},
        {"expires_at": -DAY},
        {"expires_at": DAY, "is_enabled": False},
        {},
    ],
)
def test_no_owner_is_notified_of_other_keys(
    user: User, mailoutbox: list[EmailMessage], remind: Callable[[], str], columns: dict[str, timedelta | bool]
) -> None:
    now = timezone.now()
    ApiKeyFactory(
        owner=user,
        **{name: now + value if isinstance(value, timedelta) else value for name, value in columns.items()},
    )
    remind()
    assert mailoutbox == []


def test_a_banned_owner_gets_no_letter(user: User, mailoutbox: list[EmailMessage], remind: Callable[[], str]) -> None:
    ApiKeyFactory(owner=user, expires_at=timezone.now() + DAY)
    bans.ban(user=user, by=None, reason="Spam")
    assert remind() == "Reminders sent: 0; days of counts deleted: 0."
    assert mailoutbox == []


def test_a_key_with_a_new_end_is_announced_again_and_a_replaced_one_is_not(
    user: User, mailoutbox: list[EmailMessage], remind: Callable[[], str]
) -> None:
    key = ApiKeyFactory(owner=user, expires_at=timezone.now() + DAY)
    remind()
    keys.change_end(key=key, expires_at=timezone.now() + 2 * DAY, by=user)
    remind()
    assert len(mailoutbox) == 2
    keys.change_end(key=key, expires_at=timezone.now() + 3 * DAY, by=user)
    ApiKey.objects.filter(pk=key.pk).update(replaced_by=ApiKeyFactory(owner=user))
    remind()
    assert len(mailoutbox) == 2


def test_an_owner_who_was_reminded_is_not_reminded_of_the_key_in_its_place(
    user: User, mailoutbox: list[EmailMessage], remind: Callable[[], str]
) -> None:
    key = ApiKeyFactory(owner=user, expires_at=timezone.now() + DAY)
    remind()
    keys.rotate(key=key, overlap=timedelta(), by=user)
    remind()
    assert len(mailoutbox) == 1


def test_the_job_forgets_how_often_keys_were_used_long_ago(user: User, remind: Callable[[], str]) -> None:
    KeyDay.objects.create(key=ApiKeyFactory(owner=user), day=timezone.now().date() - 91 * DAY, count=1)
    assert remind() == "Reminders sent: 0; days of counts deleted: 1."
    assert JobRun.objects.get(pk="remind_of_keys").has_succeeded()
