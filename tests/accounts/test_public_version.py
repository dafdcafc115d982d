"""`User.public_version` is raised by whatever changes what others see of an account, also by statements by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import LinkedAccount, User
from tests.factories.accounts import LinkedAccountFactory, UserFactory
from tests.support.threads import together

pytestmark = [pytest.mark.embedded, pytest.mark.django_db]
RAISING: dict[str, object] = {
    "username": "Renamed",
    "display_name": "Another",
    "plan": "PREMIUM",
    "plan_expires_at": timezone.now(),
    "is_verified": True,
    "is_inactive": True,
    "created_at": timezone.now() - timedelta(days=1),
    "uid": 4711,
}
OTHERS: dict[str, object] = {
    "last_login": timezone.now(),
    "password": "!",
    "email": "another@example.org",
    "is_staff": True,
    "public_api_access": False,  # read live
    "is_active": False,  # the same
}


def _version(user: User) -> int:
    return User.objects.values_list("public_version", flat=True).get(pk=user.pk)


@pytest.fixture
def user() -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def linked(user: User) -> LinkedAccount:
    return LinkedAccountFactory(user=user, external_id="123456789012345678")


@pytest.mark.parametrize("column", RAISING)
def test_what_others_see_raises_it(user: User, column: str) -> None:
    before, other = _version(user), UserFactory()
    User.objects.filter(pk=user.pk).update(**{column: RAISING[column]})
    assert (_version(user), _version(other)) == (before + 1, 0)
    User.objects.filter(pk=user.pk).update(**{column: RAISING[column]})  # no change
    assert _version(user) == before + 1


@pytest.mark.parametrize("column", OTHERS)
def test_nothing_else_raises_it(user: User, column: str) -> None:
    before = _version(user)
    User.objects.filter(pk=user.pk).update(**{column: OTHERS[column]})
    assert _version(user) == before


def test_a_user_that_was_read_before_the_change_does_not_take_it_back(user: User) -> None:
    late = User.objects.get(pk=user.pk)
    User.objects.filter(pk=user.pk).update(display_name="Another")
    before = _version(user)
    late.is_verified = True
    late.save()
    assert _version(user) > before > late.public_version


CHANGES: dict[str, Callable[[LinkedAccount], object]] = {
    "another account": lambda linked: LinkedAccount.objects.filter(pk=linked.pk).update(external_id="9"),
    "another name": lambda linked: LinkedAccount.objects.filter(pk=linked.pk).update(name="another"),
    "another kind": lambda linked: LinkedAccount.objects.filter(pk=linked.pk).update(kind="SCROBBLER"),
    "unlinked": lambda linked: LinkedAccount.objects.filter(pk=linked.pk).delete(),
    "unlinked by hand": lambda linked: _execute("DELETE FROM accounts_linkedaccount WHERE id = %s", linked.pk),
    "a second one": lambda linked: LinkedAccountFactory(user=linked.user, kind="SCROBBLER"),
}


def _execute(sql: str, *values: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


@pytest.mark.parametrize("change", CHANGES)
def test_linked_accounts_raise_it(linked: LinkedAccount, change: str) -> None:
    before = _version(linked.user)
    CHANGES[change](linked)
    assert _version(linked.user) > before


def test_the_picture_of_a_linked_account_does_not_raise_it(linked: LinkedAccount) -> None:
    before = _version(linked.user)
    LinkedAccount.objects.filter(pk=linked.pk).update(avatar_url="https://example.org/a.png", linked_at=timezone.now())
    assert _version(linked.user) == before


def test_an_account_that_goes_over_raises_that_of_both(linked: LinkedAccount) -> None:
    other = UserFactory()
    before = _version(linked.user), _version(other)
    LinkedAccount.objects.filter(pk=linked.pk).update(user=other)
    assert (_version(linked.user), _version(other)) == (before[0] + 1, before[1] + 1)


def test_a_deleted_user_takes_its_linked_accounts_along(linked: LinkedAccount) -> None:
    linked.user.delete()
    assert not LinkedAccount.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_changes_at_once_are_all_counted(user: User) -> None:
    before = _version(user)
    together(8, lambda number: User.objects.filter(pk=user.pk).update(display_name=f"Name {number}"))
    assert _version(user) == before + 8
