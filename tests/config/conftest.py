"""The demo data, made once for a module."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from pytest_django import Settings


@pytest.fixture(scope="module")
def demo_file(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`demo.json` beside its database rows."""
    from demo import seeding

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(configured, "VAR_DIR", tmp_path_factory.mktemp("demo"))
        seeding.seed()
        return seeding.path()


@pytest.fixture
def directory(settings: Settings, tmp_path: Path) -> Path:
    """VAR_DIR."""
    settings.VAR_DIR = tmp_path
    return tmp_path


@pytest.fixture
def entry(demo_file: Path, directory: Path) -> dict[str, Any]:
    """What `demo.json` says; the test has a copy of the file. Any: a JSON value."""
    shutil.copy2(demo_file, directory)
    return dict(json.loads(demo_file.read_text()))
