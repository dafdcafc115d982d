"""The reset of somebody's second factor, with the e-mail about it."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction

from accounts import second_factor
from accounts.models import User
from dashboard import notifications


@transaction.atomic
def reset(*, user: User, by: User | None, reason: str) -> None:
    """As `second_factor.reset`, with an e-mail to the owner of the account."""
    second_factor.reset(user=user, by=by, reason=reason)
    notifications.send_after_commit(
        to=user,
        subject="Your second factor was removed",
        template="dashboard/letters/second_factor_reset.txt",
        context={"is_staff": user.is_staff, "support_email": settings.SUPPORT_EMAIL},
    )
