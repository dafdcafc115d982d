"""An app of a person who is signed in, and each place that has webhooks: the person's pages and those of the app.

Models are imported inside the fixtures: pytest reads this file before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from accounts.models import User
    from oidc_provider.models import Application
    from tests.dashboard.webhooks.places import Place


@pytest.fixture
def app(user: User) -> Application:
    from tests.factories.oidc_provider import ApplicationFactory

    return ApplicationFactory.create(user=user, name="Ada's app", registered_scopes=["openid", "identify"])


@pytest.fixture(params=["person", "app"])
def place(request: pytest.FixtureRequest, user: User, app: Application) -> Place:
    """The pages of webhooks of the person, and those of their app."""
    from tests.dashboard.webhooks.places import Place

    return Place(user, app if request.param == "app" else None)
