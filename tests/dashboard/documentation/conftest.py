"""The reader of the documentation, who is signed in.

Models are imported inside the fixtures: pytest reads this file before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from accounts.models import User


@pytest.fixture
def reader(user: User) -> User:
    return user
