"""A desktop: the programs that a script finds, and what it leaves behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.processes import kill_group

NEEDED = ("sh", "mktemp", "rm", "date", "head", "tail", "cat", "sed", "curl", "cp")


_JQ = """
import json, sys
flags, arg, name, value, query, path = sys.argv[1:]
assert [flags, arg, name, query] == ["-er", "--arg", "name", ".[$name]"]
found = json.load(open(path)).get(value)
print(found or "null")
sys.exit(0 if found else 1)
"""


class Machine:
    """`home` is where commands run; a folder of programs is the whole PATH."""

    def __init__(self, directory: Path) -> None:
        self.home, self._programs, self.temporary = directory / "home", directory / "bin", directory / "tmp"
        for made in (self.home, self._programs, self.temporary):
            made.mkdir(parents=True)
        for name in NEEDED:
            self.has(name)

    def has(self, name: str, script: str = "") -> None:
        """A program of this one's own, or the one that the tests' machine has."""
        place = self._programs / name
        if script:
            place.write_text(f"#!/bin/sh\n{script}\n")
            place.chmod(0o755)
        else:
            place.symlink_to(str(shutil.which(name)))

    def lacks(self, name: str) -> None:
        (self._programs / name).unlink()

    def has_jq(self) -> None:
        """As far as it is asked, and not a letter further: it prints one string of an object, or fails."""
        self.has("jq", f'echo asked >"$HOME/asked-jq"\nexec {sys.executable} -c \'{_JQ}\' "$@"')

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        named = {
            "PATH": str(self._programs),
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "LC_ALL": "C.UTF-8",
        }
        with subprocess.Popen(
            command,
            env={**named, **environment},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, errors = process.communicate(timeout=60)
            finally:
                kill_group(process)
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    @property
    def clipboard(self) -> str | None:
        place = self.home / "clipboard"
        return place.read_text() if place.exists() else None
