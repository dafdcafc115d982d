"""A user who is signed in, and a store of uploads for each test.

Models are imported inside the fixtures: pytest reads this file before Django is set up.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pytest_django import Settings

if TYPE_CHECKING:
    from accounts.models import User
    from lookup.models import Profile
    from tests.dashboard.profile.editor import Editor


@pytest.fixture(autouse=True)
def store_directory(settings: Settings, tmp_path: Path) -> Path:
    """Where the objects lie; a key is a path in it."""
    directory = tmp_path / "store"
    settings.STORAGES = {
        **settings.STORAGES,
        "uploads": {"BACKEND": "imagehost.storing.storage.FolderStorage", "OPTIONS": {"location": directory}},
    }
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    return directory


@pytest.fixture
def profile(user: User) -> Profile:
    from tests.factories.lookup import main_profile

    return main_profile(user)


@pytest.fixture
def editor(user: User, settings: Settings) -> Editor:
    """Signed in as `user`, and with a key for lookups without limits."""
    from tests.dashboard.profile.editor import Editor

    settings.RATE_LIMITS_ENABLED = False
    return Editor(user)


@pytest.fixture
def looked_up(editor: Editor) -> Callable[..., dict[str, Any]]:
    """Call it with names of includes: what the lookup answers of `user` to a program with a key."""
    return editor.looked_up


@pytest.fixture(scope="module")
def exported(module_db: None) -> bytes:
    """The export of a user Ada whose profile has something in every list."""
    from lookup.transfer import own
    from tests.dashboard.profile.transfers import fill
    from tests.factories.accounts import UserFactory
    from tests.factories.lookup import main_profile

    user = UserFactory.create(username="Ada")
    fill(main_profile(user))
    return own.exported(user)


@pytest.fixture
def line(exported: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(exported)
    return found
