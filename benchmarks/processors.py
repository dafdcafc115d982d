"""Processor time of trees of processes, and which core they run on (Linux)."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)


@dataclass(frozen=True)
class Cores:
    """The measured web process has one core for itself, everything else another; None where the machine has one."""

    web: int | None
    others: int | None

    @classmethod
    def of_this_machine(cls) -> Cores:
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        return cls(cores[0], cores[1]) if len(cores) > 1 else cls(None, None)


def on_core(core: int | None) -> Callable[[], None]:
    """For `preexec_fn`: run on this core alone."""

    def choose() -> None:
        if core is not None:
            os.sched_setaffinity(0, {core})

    return choose


def end_with_parent() -> None:
    """For `preexec_fn`, on Linux: a run that is killed takes its programs along. It holds across exec."""
    if _LIBC is not None:
        _LIBC.prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def move(pid: int, core: int | None) -> None:
    """Keep a process, its threads and its descendants on `core`; None: let them run anywhere."""
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = range(os.cpu_count() or 1) if core is None else [core]
    for each in (pid, *descendants(pid)):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for thread in (_PROC / str(each) / "task").iterdir():
                os.sched_setaffinity(int(thread.name), cores)


def seconds(pid: int) -> float:
    """Processor time of a process and its descendants so far, those that have ended included."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        own = sum(int(field) for field in _fields(pid)[11:15])
        return own / _TICKS + sum(_own_seconds(child) for child in descendants(pid))
    return 0.0


def _own_seconds(pid: int) -> float:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return sum(int(field) for field in _fields(pid)[11:15]) / _TICKS
    return 0.0


def descendants(pid: int) -> Iterator[int]:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in (_PROC / str(pid) / "task").iterdir():
            for child in (thread / "children").read_text().split():
                yield int(child)
                yield from descendants(int(child))


def _fields(pid: int) -> list[str]:
    """Of /proc/PID/stat, from the state on."""
    return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
