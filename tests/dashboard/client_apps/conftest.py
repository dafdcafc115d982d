"""A person who is signed in, and an app of theirs.

Models are imported inside the fixtures: pytest reads this file before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from accounts.models import User
    from oidc_provider.models import Application


@pytest.fixture
def app(user: User) -> Application:
    from tests.factories.oidc_provider import ApplicationFactory

    return ApplicationFactory.create(user=user, name="Ada's app", registered_scopes=["openid", "identify"])
