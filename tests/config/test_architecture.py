"""docs/architecture.md and its picture name modules and folders that exist; the checks look at every package."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from tests.support.environment import APPS, ROOT

pytestmark = pytest.mark.once

PLACES = [ROOT / place for place in (*APPS, "clients/python/src")]
FILES = {str(path.relative_to(ROOT)) for place in PLACES for path in place.rglob("*") if path.suffix != ".pyc"}


@pytest.mark.parametrize("document", ["architecture.md", "architecture.svg"])
def test_every_module_that_is_named_exists(document: str) -> None:
    named = set(re.findall(r"(?<![\w/;])[a-z][\w/]*\.py\b", ROOT.joinpath("docs", document).read_text()))
    assert len(named) > 15
    assert sorted(name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in FILES)) == []


def test_every_folder_that_is_named_exists() -> None:
    text = ROOT.joinpath("docs", "architecture.md").read_text()
    named = {name for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*)/", text) if name.partition("/")[0] in APPS}
    assert sorted(name for name in named if not ROOT.joinpath(name).is_dir()) == []


@pytest.fixture
def tools() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"])


def test_every_package_is_type_checked_and_has_its_place_in_the_architecture(tools: dict[str, Any]) -> None:
    packages = {marker.parent.name for marker in ROOT.glob("*/__init__.py")}
    assert set(tools["mypy"]["packages"]) == packages
    assert set(tools["importlinter"]["root_packages"]) == packages
    placed = {
        name.strip("() ") for layer in tools["importlinter"]["contracts"][0]["layers"] for name in layer.split("|")
    }
    assert packages - {"tests", "benchmarks"} <= placed


def test_the_coverage_is_measured_of_every_package_of_the_service(tools: dict[str, Any]) -> None:
    packages = {marker.parent.name for marker in ROOT.glob("*/__init__.py")}
    assert set(tools["coverage"]["run"]["source"]) == packages - {"tests", "benchmarks"}
