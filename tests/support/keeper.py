"""Cleans up after a run that was killed: `python -m tests.support.keeper DIRECTORY`.

It waits until its standard input ends, which is when the run has ended in whatever way. Then it ends every process that
works in DIRECTORY or whose environment names it, and removes DIRECTORY.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 10.0  # seconds for an orderly end
_PROC = Path("/proc")


@contextlib.contextmanager
def watching(directory: Path) -> Iterator[None]:
    """Have a keeper for `directory`, in a session of its own so that Ctrl-C does not reach it."""
    command = [sys.executable, "-m", "tests.support.keeper", str(directory)]
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT, env=environment, start_new_session=True)
    with process:
        yield


def members(directory: Path) -> Iterator[int]:
    """The processes of the run in `directory`. Found on Linux alone."""
    name = os.fsencode(directory)
    for entry in _PROC.glob("[0-9]*"):
        pid = int(entry.name)
        with contextlib.suppress(OSError):
            works_there = (entry / "cwd").readlink().is_relative_to(directory)
            if pid != os.getpid() and (works_there or name in (entry / "environ").read_bytes()):
                yield pid


def end_members(directory: Path) -> None:
    """End them and wait until they are gone: SIGTERM, and SIGKILL after PATIENCE."""
    gives_up_at = time.monotonic() + PATIENCE
    _signal(members(directory), signal.SIGTERM)
    while left := list(members(directory)):
        if time.monotonic() > gives_up_at:
            _signal(left, signal.SIGKILL)
        time.sleep(0.05)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


if __name__ == "__main__":
    for _ in sys.stdin:
        pass
    end_members(Path(sys.argv[1]))
    shutil.rmtree(sys.argv[1], ignore_errors=True)
