"""Each test has a bucket of its own: a folder, and the directory where uploads come in, on the same file system."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def bucket_directory(settings: Settings, tmp_path: Path) -> Path:
    """Where the objects lie; a key is a path in it."""
    directory = tmp_path / "bucket"
    settings.STORAGES = {
        **settings.STORAGES,
        "imagehost": {"BACKEND": "imagehost.storage.FolderStorage", "OPTIONS": {"location": directory}},
    }
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    return directory


@pytest.fixture(autouse=True)
def _archives_that_nobody_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unlike a server, the test client closes no answer that a test leaves alone."""
    from imagehost import archives  # Django is ready by now

    monkeypatch.setattr(archives, "_places", threading.BoundedSemaphore(archives.AT_ONCE))
