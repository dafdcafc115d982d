"""Ada, who is signed in, and an app of hers.

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
    from oidc_provider.token import signing
    from tests.factories.oidc_provider import ApplicationFactory

    signing.ensure_signing_key()
    return ApplicationFactory.create(user=user, name="Notebook")
