"""A reader with an app, keys and a linked chat account, and their browser.

Models are imported inside the fixtures: pytest reads this file before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client

if TYPE_CHECKING:
    from accounts.models import User


@pytest.fixture
def reader(user: User) -> User:
    return user


@pytest.fixture
def signed_in(client: Client, reader: User) -> Client:
    client.force_login(reader)
    return client
