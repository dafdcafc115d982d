"""Each test has a bucket of its own: a folder, and the directory where uploads come in, on the same file system."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.test import Client
from pytest_django import Settings

if TYPE_CHECKING:
    from accounts.models import User
    from tests.imagehost.objects import FaultyStorage


@pytest.fixture(autouse=True)
def bucket_directory(settings: Settings, tmp_path: Path) -> Path:
    """Where the objects lie; a key is a path in it."""
    directory = tmp_path / "bucket"
    settings.STORAGES = {
        **settings.STORAGES,
        "imagehost": {"BACKEND": "imagehost.storing.storage.FolderStorage", "OPTIONS": {"location": directory}},
    }
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    return directory


@pytest.fixture
def bucket(settings: Settings, bucket_directory: Path) -> FaultyStorage:
    from tests.imagehost import objects  # Django is ready by now

    return objects.faulty(settings, bucket_directory)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """It stands still at noon."""
    with time_machine.travel(datetime(2026, 3, 1, 12, 0, tzinfo=UTC), tick=False) as clock:
        yield clock


@pytest.fixture(autouse=True)
def _archives_that_were_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unlike a server, the test client closes no answer that a test leaves alone."""
    from imagehost.folders import archives  # Django is ready by now

    monkeypatch.setattr(archives, "_places", threading.BoundedSemaphore(archives.AT_ONCE))


@pytest.fixture
def user(db: None) -> User:
    from tests.factories.accounts import UserFactory

    return UserFactory(username="Ada")


@pytest.fixture
def opal(db: None) -> User:
    """The caller of the gallery and the folder endpoints."""
    from tests.imagehost import answers  # Django is ready by now

    return answers.opal()


@pytest.fixture
def browser(client: Client, user: User) -> Client:
    """Signed in as `user`."""
    client.force_login(user)
    return client
