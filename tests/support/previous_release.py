"""The code of the previous release, out of the history: `deploy/previous-release` names its commit."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "previous-release"


class NoPreviousRelease(Exception):
    """The history does not have it; the message says what to do."""


def commit() -> tuple[str, str]:
    """The commit, and a sentence where it is not the one that the file names: a shallow clone has only the newest."""
    (named,) = [line for line in FILE.read_text().split("\n") if line and not line.startswith("#")]
    if _git("cat-file", "-e", f"{named}^{{commit}}").returncode == 0:
        return named, ""
    if _output("rev-parse", "--is-shallow-repository") != "true":
        raise NoPreviousRelease(f"This repository has no commit {named}, which {FILE.relative_to(ROOT)} names.")
    oldest = _output("rev-list", "--max-parents=0", "HEAD").split()[-1]
    return oldest, (
        f"This shallow clone has no commit {named}; {oldest}, the oldest that it has, takes its place. "
        "For the real comparison: git fetch --unshallow"
    )


def check_out(commit: str, target: Path) -> None:
    """Write its files into the new folder `target`."""
    archive = target.with_suffix(".tar")
    _output("archive", f"--output={archive}", commit)
    shutil.unpack_archive(archive, target)
    archive.unlink()


def migrations(commit: str) -> set[tuple[str, str]]:
    """Its migrations, by app and name."""
    paths = _output("ls-tree", "-r", "--name-only", commit).splitlines()
    matches = [re.fullmatch(r"(\w+)/migrations/(\d{4}_\w+)\.py", path) for path in paths]
    return {(match[1], match[2]) for match in matches if match}


def packages(lock: Path) -> set[str]:
    """What a lock file names, as `name==version`."""
    return set(re.findall(r"^[\w.\[\]-]+==[^\s;]+", lock.read_text(), flags=re.MULTILINE))


def _output(*arguments: str) -> str:
    done = _git(*arguments)
    if done.returncode:
        raise NoPreviousRelease(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
