"""Accounts whose owners asked to delete them: the grace period, in the list of the job and before each deletion."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine

from accounts import deletions
from accounts.models import User
from tests.accounts.moments import NOON
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db
END = NOON + timedelta(days=7)


def test_an_account_is_deleted_at_the_end_of_the_first_grace_period_and_no_sooner() -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        user = UserFactory()
        deletions.ask(user=user, by=user)
        clock.shift(timedelta(days=3))
        assert deletions.ask(user=user, by=user).due_at == END
    early = END - timedelta.resolution
    assert (deletions.due(early), deletions.carry_out(user.pk, now=early)) == ([], False)
    assert (deletions.due(END), deletions.carry_out(user.pk, now=END)) == ([user.pk], True)
    assert not User.objects.exists()
    assert deletions.carry_out(user.pk, now=END) is False


@pytest.mark.parametrize("columns", [{"is_active": False}, {"is_staff": True}])
def test_accounts_of_banned_users_and_of_staff_stay(columns: dict[str, bool]) -> None:
    with time_machine.travel(NOON, tick=False):
        user = UserFactory()
        deletions.ask(user=user, by=user)
    User.objects.update(**columns)
    assert (deletions.due(END), deletions.carry_out(user.pk, now=END)) == ([], False)
    assert User.objects.exists()
