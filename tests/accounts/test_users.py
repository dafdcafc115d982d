"""Users: their numbers, plans, and deletion after the grace period."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from accounts import bans, deletions, users
from accounts.models import AccountDeletion, AuditEvent, User
from accounts.plans import ALLOWANCES, Allowance, Plan
from tests.accounts.clock import NOON
from tests.factories.accounts import StaffFactory, UserFactory
from tests.support.threads import together

SECOND = timedelta(seconds=1)
END = NOON + timedelta(days=7)


@pytest.mark.django_db
def test_the_first_user_has_uid_0_and_the_next_ones_follow() -> None:
    assert [User.objects.create_user(f"person{number}").uid for number in range(3)] == [0, 1, 2]


@pytest.mark.django_db
def test_saving_a_user_again_keeps_its_uid() -> None:
    user = User.objects.create_user("person")
    user.display_name = "Person"
    user.save()
    assert (user.uid, User.objects.get().uid) == (0, 0)


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_sign_ups_at_once_of_which_every_other_fails_leave_no_gap() -> None:
    def sign_up(number: int) -> None:
        try:
            with transaction.atomic():
                User.objects.create_user(f"person{number}")
                if number % 2:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            pass

    together(8, sign_up)
    assert list(User.objects.order_by("uid").values_list("uid", flat=True)) == list(range(4))


@pytest.mark.parametrize(
    ("plan", "expires_at", "in_force", "is_premium", "is_imagehost"),
    [
        (Plan.FREE, None, Plan.FREE, False, False),
        (Plan.PREMIUM, None, Plan.PREMIUM, True, False),
        (Plan.IMAGEHOST, None, Plan.IMAGEHOST, True, True),
        (Plan.PREMIUM, NOON + SECOND, Plan.PREMIUM, True, False),
        (Plan.PREMIUM, NOON, Plan.FREE, False, False),
        (Plan.IMAGEHOST, NOON + SECOND, Plan.IMAGEHOST, True, True),
    ],
)
def test_a_plan_holds_until_it_expires(
    plan: Plan, expires_at: datetime | None, in_force: Plan, is_premium: bool, is_imagehost: bool
) -> None:
    user = User(plan=plan, plan_expires_at=expires_at)
    assert (user.current_plan(NOON), user.is_premium(NOON), user.is_imagehost(NOON)) == (
        in_force,
        is_premium,
        is_imagehost,
    )


@pytest.mark.parametrize(
    ("plan", "max_file_size", "max_storage"),
    [
        (Plan.FREE, 78_643_200, 1_073_741_824),
        (Plan.PREMIUM, 157_286_400, 10_737_418_240),
        (Plan.IMAGEHOST, 262_144_000, 107_374_182_400),
    ],
)
def test_a_plan_allows_so_many_bytes(plan: Plan, max_file_size: int, max_storage: int) -> None:
    assert ALLOWANCES[plan] == Allowance(max_file_size, max_storage)


@pytest.mark.django_db
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


@pytest.mark.django_db
@pytest.mark.parametrize("columns", [{"is_active": False}, {"is_staff": True}])
def test_accounts_of_banned_users_and_of_staff_stay(columns: dict[str, bool]) -> None:
    with time_machine.travel(NOON, tick=False):
        user = UserFactory()
        deletions.ask(user=user, by=user)
    User.objects.update(**columns)
    assert (deletions.due(END), deletions.carry_out(user.pk, now=END)) == ([], False)
    assert User.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("banned_for", [timedelta(days=1), timedelta(days=30)])
def test_who_is_no_longer_banned_has_7_days_to_stop_the_deletion_of_the_account(banned_for: timedelta) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        user = UserFactory()
        deletions.ask(user=user, by=user)
        bans.ban(user=user, by=None, reason="Spam")
        clock.shift(banned_for)
        for _ in range(2):
            bans.lift(user=user, by=None, reason="Sorry")
        deletion, end = AccountDeletion.objects.get(), END + banned_for
        assert (deletion.asked_at, deletion.due_at) == (NOON, end)
        assert AuditEvent.objects.get(verb="user:ban_lifted").data == {"deletion_due_at": end.isoformat()}
        early = end - timedelta.resolution
        assert (deletions.due(early), deletions.carry_out(user.pk, now=early)) == ([], False)
        assert deletions.stop(user=user, by=user)


@pytest.mark.django_db
def test_who_is_no_longer_staff_has_7_days_to_stop_the_deletion_of_the_account() -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        user, operator = UserFactory(), StaffFactory()
        deletions.ask(user=user, by=user)
        for is_staff in (True, False):
            users.change(user=user, values={"is_staff": is_staff}, by=operator)
            clock.shift(timedelta(days=30))
        end = END + timedelta(days=30)
        assert AccountDeletion.objects.get().due_at == end
        rows = AuditEvent.objects.filter(verb="user:changed").order_by("pk")
        assert [row.data for row in rows] == [
            {"changed": ["is_staff"]},
            {"changed": ["is_staff"], "deletion_due_at": end.isoformat()},
        ]
        early = end - timedelta.resolution
        assert (deletions.due(early), deletions.due(end)) == ([], [user.pk])


@pytest.mark.django_db
def test_the_end_of_a_ban_leaves_a_deletion_that_is_due_later_and_makes_none() -> None:
    user, other = UserFactory(), UserFactory()
    late = timezone.now() + timedelta(days=8)
    AccountDeletion.objects.create(user=user, asked_at=NOON, due_at=late)
    for person in (user, other):
        bans.ban(user=person, by=None, reason="Spam")
        bans.lift(user=person, by=None, reason="Sorry")
    assert AccountDeletion.objects.get().due_at == late
    assert [event.data for event in AuditEvent.objects.filter(verb="user:ban_lifted")] == [{}, {}]
