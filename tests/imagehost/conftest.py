"""Each test has a bucket of its own: a folder, and the directory where uploads come in, on the same file system."""

from __future__ import annotations

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
