"""What a plan gives, and when it ends."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import User
from accounts.plans import ALLOWANCES, Allowance, Plan

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("plan", "expires_at", "in_force", "is_premium", "is_imagehost"),
    [
        (Plan.FREE, None, Plan.FREE, False, False),
        (Plan.PREMIUM, None, Plan.PREMIUM, True, False),
        (Plan.IMAGEHOST, None, Plan.IMAGEHOST, True, True),
        (Plan.PREMIUM, NOW + SECOND, Plan.PREMIUM, True, False),
        (Plan.PREMIUM, NOW, Plan.FREE, False, False),
        (Plan.IMAGEHOST, NOW + SECOND, Plan.IMAGEHOST, True, True),
    ],
)
def test_a_plan_holds_until_it_expires(
    plan: Plan, expires_at: datetime | None, in_force: Plan, is_premium: bool, is_imagehost: bool
) -> None:
    user = User(plan=plan, plan_expires_at=expires_at)
    assert (user.current_plan(NOW), user.is_premium(NOW), user.is_imagehost(NOW)) == (
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
