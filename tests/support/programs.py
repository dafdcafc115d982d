"""Finds PostgreSQL, Redis and Chromium on this machine, or installs them from the distribution."""

import os
import shutil
import subprocess
from pathlib import Path

# By the package that brings it.
PROGRAMS = {
    "initdb": "postgresql",
    "postgres": "postgresql",
    "redis-server": "redis-server",
    "chromium": "chromium",
}


class MissingProgramError(Exception):
    """A program that the tests need is neither here nor installable."""


def found() -> dict[str, Path]:
    """Where each program is; what is missing is installed where that is possible."""
    missing = [name for name in PROGRAMS if _find(name) is None]
    if missing and _can_install():
        _install(sorted({PROGRAMS[name] for name in missing}))
    places = {name: _find(name) for name in PROGRAMS}
    lost = [name for name, place in places.items() if place is None]
    if lost:
        packages = " and ".join(sorted({PROGRAMS[name] for name in lost}))
        raise MissingProgramError(
            f"Not found: {', '.join(lost)}. Install {packages}; the tests start servers of their own."
        )
    return {name: place for name, place in places.items() if place is not None}


def _find(name: str) -> Path | None:
    """On PATH, or where Debian keeps PostgreSQL, the newest version first."""
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path)
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=_version, reverse=True)
    return versions[0] if versions else None


def _version(path: Path) -> float:
    return float(path.parent.parent.name)


def _can_install() -> bool:
    return os.geteuid() == 0 and Path("/usr/bin/apt-get").exists()


def _install(packages: list[str]) -> None:
    """RUNLEVEL=1 keeps the packages from starting servers for the whole machine."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    print(f"Installing {' and '.join(packages)} for the tests", flush=True)
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        subprocess.run(["/usr/bin/apt-get", "-qq", *command], env=environment, check=True)
