"""The project: settings, URLs, the door that every request passes, and what operators run."""

import functools
import tomllib
from pathlib import Path


@functools.cache
def version() -> str:
    """Return the version of this release, which `pyproject.toml` names."""
    project: dict[str, str] = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    return project["version"]
