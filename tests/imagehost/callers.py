"""Who calls the gallery and the folder endpoints: two people with an account key each."""

from __future__ import annotations

from accounts.models import Permission, User
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.imagehost.answers import OTHER_SECRET, SECRET


def opal() -> User:
    """The first account of the service, whose uid is 0, with the key SECRET. Her plan allows 60 requests a minute."""
    return _caller("Opal", SECRET)


def ben() -> User:
    """Somebody else, with the key OTHER_SECRET."""
    return _caller("Ben", OTHER_SECRET)


def _caller(username: str, secret: str) -> User:
    user = UserFactory(username=username, plan="PREMIUM")
    ApiKeyFactory(owner=user, secret=secret, permissions=[Permission.ACCOUNT.value])
    return user
