"""A team with one person in each role, its app, and an invitation.

Models are imported inside the fixtures: pytest reads this file before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from accounts.models import User
    from tests.dashboard.teams.people import People


@pytest.fixture
def people(user: User) -> People:
    """The team Harbour, of which Ada is the only owner."""
    from tests.dashboard.teams.people import team_of

    return team_of(user)
