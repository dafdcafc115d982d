"""Which processes of this machine run, and whose children they are."""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

STOP_SECONDS = 15
_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """`name`: on Linux, of 15 characters at most; a fork may have given itself another one than its command's."""

    pid: int
    parent: int
    name: str
    command: str


def running() -> dict[int, Process]:
    """By number. Without those that have ended and wait for their parent to notice."""
    rows = _from_proc() if (_PROC / "self" / "stat").exists() else _from_ps()
    return {row.pid: row for state, row in rows if not state.startswith("Z")}


def _from_proc() -> list[tuple[str, Process]]:
    rows = []
    for directory in _PROC.glob("[0-9]*"):
        try:
            name, _, rest = (directory / "stat").read_text().partition(" (")[2].rpartition(")")
            state, parent = rest.split()[:2]
            command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):  # it ended just now
            continue
        rows.append((state, Process(int(directory.name), int(parent), name, command)))
    return rows


def _from_ps() -> list[tuple[str, Process]]:
    command = [shutil.which("ps") or "ps", "-A", "-o", "pid=,ppid=,stat=,args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = (line.split(maxsplit=3) for line in listed.splitlines())
    return [(state, Process(int(pid), int(parent), "", " ".join(rest))) for pid, parent, state, *rest in rows]


def descendants(pid: int) -> list[Process]:
    """Its children, their children, and so on."""
    table = running()
    found = [process for process in table.values() if process.parent == pid]
    for process in found:
        found += [child for child in table.values() if child.parent == process.pid]
    return found


def wait_until_gone(*pids: int) -> None:
    """AssertionError where one of them outlives STOP_SECONDS."""
    give_up_at = time.monotonic() + STOP_SECONDS
    while left := [process for pid, process in running().items() if pid in pids]:
        assert time.monotonic() < give_up_at, f"Still running: {left}"
        time.sleep(0.05)
