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
    pid: int
    parent: int
    command: str


def running() -> dict[int, Process]:
    """By number. Without those that have ended and wait for their parent to notice."""
    rows = _from_proc() if (_PROC / "self" / "stat").exists() else _from_ps()
    return {pid: Process(pid, parent, command) for pid, parent, state, command in rows if not state.startswith("Z")}


def _from_proc() -> list[tuple[int, int, str, str]]:
    rows = []
    for directory in _PROC.glob("[0-9]*"):
        try:
            state, parent = (directory / "stat").read_text().rpartition(")")[2].split()[:2]
            command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):  # it ended just now
            continue
        rows.append((int(directory.name), int(parent), state, command))
    return rows


def _from_ps() -> list[tuple[int, int, str, str]]:
    command = [shutil.which("ps") or "ps", "-A", "-o", "pid=,ppid=,stat=,args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = (line.split(maxsplit=3) for line in listed.splitlines())
    return [(int(pid), int(parent), state, " ".join(rest)) for pid, parent, state, *rest in rows]


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
