"""A person who is signed in, by test client and by a browser that has no JavaScript.

Models are imported inside the fixtures: pytest reads this file before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client

    from accounts.models import ApiKey, User
    from tests.support.browser import Browser


@pytest.fixture
def client(browser: Browser) -> Client:
    from tests.dashboard.signing_in import client_of

    return client_of(browser)


@pytest.fixture
def key(user: User) -> ApiKey:
    from tests.dashboard.api_keys.pages import SECRET
    from tests.factories.accounts import ApiKeyFactory

    return ApiKeyFactory.create(owner=user, secret=SECRET, permissions=["imagehost:upload"], name="Server")
