"""The checks look at every package there is."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


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
