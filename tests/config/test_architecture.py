"""docs/architecture.md and its picture name modules and folders that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.once

ROOT = Path(settings.BASE_DIR)
APPS = ("accounts", "config", "dashboard", "demo", "imagehost", "lookup", "oidc_provider", "presence")
FILES = {str(path.relative_to(ROOT)) for app in APPS for path in ROOT.joinpath(app).rglob("*") if path.suffix != ".pyc"}


@pytest.mark.parametrize("document", ["architecture.md", "architecture.svg"])
def test_every_module_that_is_named_exists(document: str) -> None:
    named = set(re.findall(r"(?<![\w/;])[a-z][\w/]*\.py\b", ROOT.joinpath("docs", document).read_text()))
    assert len(named) > 15
    assert sorted(name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in FILES)) == []


def test_every_folder_that_is_named_exists() -> None:
    text = ROOT.joinpath("docs", "architecture.md").read_text()
    named = {name for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*)/", text) if name.partition("/")[0] in APPS}
    assert sorted(name for name in named if not ROOT.joinpath(name).is_dir()) == []
