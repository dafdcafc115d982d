"""A person who is signed in, at a browser that has no JavaScript.

Models are imported inside the fixtures: pytest reads this file before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client

if TYPE_CHECKING:
    from accounts.models import User
    from tests.support.browser import Browser


@pytest.fixture
def user(db: None) -> User:
    from tests.factories.accounts import UserFactory

    return UserFactory.create(username="Ada")


@pytest.fixture
def browser(user: User) -> Browser:
    """Signed in as `user`, who typed the password just now."""
    from tests.dashboard.signing_in import browser_of

    return browser_of(user)


@pytest.fixture
def signed_in(client: Client, user: User) -> Client:
    """Signed in as `user`, without CSRF checks."""
    client.force_login(user)
    return client
