"""Ada, who is signed in, a store for her uploads, and a key that looks her up.

Models are imported inside the fixtures: pytest reads this file before Django is set up.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pytest_django import Settings

if TYPE_CHECKING:
    from accounts.models import User
    from lookup.models import Profile
    from tests.dashboard.profile_content.editor import Editor


@pytest.fixture(autouse=True)
def _own_store(settings: Settings, tmp_path: Path) -> None:
    options = {"location": tmp_path / "store"}
    uploads = {"BACKEND": "imagehost.storage.FolderStorage", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "uploads": uploads}
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    settings.RATE_LIMITS_ENABLED = False


@pytest.fixture
def user(db: None) -> User:
    from accounts.models import Permission
    from tests.factories.accounts import ApiKeyFactory, UserFactory
    from tests.lookup.answers import LOOKUP_SECRET

    user = UserFactory.create(username="Ada")
    ApiKeyFactory(owner=user, secret=LOOKUP_SECRET, permissions=[Permission.LOOKUP_USER.value])
    return user


@pytest.fixture
def profile(user: User) -> Profile:
    from tests.factories.lookup import main_profile

    return main_profile(user)


@pytest.fixture
def editor(user: User) -> Editor:
    """Signed in as `user`."""
    from tests.dashboard.profile_content.editor import Editor

    return Editor(user)
