"""Ada, signed in, with a bucket of the test's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client

from tests.imagehost.conftest import bucket_directory

if TYPE_CHECKING:
    from accounts.models import User

__all__ = ["bucket_directory"]


@pytest.fixture
def browser(client: Client, user: User) -> Client:
    client.force_login(user)
    return client
