"""Memory of processes: their proportional share, in which what several have in common is counted once (Linux)."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import processors


def share(pid: int) -> float:
    """Proportional set size in MB; 0 for a process that has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    found = re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def shares(pid: int) -> dict[str, float]:
    """Of a process and its descendants, by process id and command line; the largest first."""
    pids = [pid, *processors.descendants(pid)]
    found = {f"{each} {_command(each)}": share(each) for each in pids}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def listener(pid: int, port: int) -> int:
    """Of a process and its descendants, the one with the most memory of those that have the port open."""
    inodes = _listening(port)
    holders = [each for each in (pid, *processors.descendants(pid)) if inodes & _sockets(each)]
    return max(holders, key=share, default=pid)


def _listening(port: int) -> set[str]:
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {f"socket:[{line[9]}]" for line in lines if line[3] == "0A" and line[1].endswith(f":{port:04X}")}


def _sockets(pid: int) -> set[str]:
    found = set()
    try:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            found.add(str(entry.readlink()))
    except OSError:
        pass
    return found
