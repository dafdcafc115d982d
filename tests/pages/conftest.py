"""A browser that is signed in and has just confirmed its password.

Models are imported inside the fixtures: pytest reads this file before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client

if TYPE_CHECKING:
    from accounts.models import User


@pytest.fixture
def user(db: None) -> User:
    from tests.factories.accounts import UserFactory

    return UserFactory.create(username="Ada")


@pytest.fixture
def signed_in(client: Client, user: User) -> Client:
    """Signed in as `user`, through the pages: the account pages ask for a password that was confirmed not long ago."""
    from tests.factories.accounts import PASSWORD

    client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client
