"""Operators: superusers who can sign in at once.

Django's createsuperuser leaves no verified e-mail address, and without one the account is sent to a confirmation page
that never ends.
"""

from __future__ import annotations

from django.db import transaction

from accounts import users
from accounts.models import User


@transaction.atomic
def create(*, username: str, email: str, password: str, by: User | None) -> User:
    """A superuser whose address counts as confirmed. ValidationError, by argument, as `users.create` says."""
    return users.create(
        username=username, email=email, password=password, by=by, has_verified_email=True, is_operator=True
    )
