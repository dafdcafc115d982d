"""Programs as forks of a process that has loaded Django: they start in a third of the time, and share its memory."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from config.operations import supervisor
from config.operations.supervisor import Program

IS_SAFE = sys.platform == "linux"  # elsewhere system libraries may break in a process that forks without an exec
_LONGEST_NAME = 15  # bytes that Linux keeps of a process's name


def start(program: Program, run: Callable[[], object]) -> Program:
    """Start `program` by calling `run` in a fork of this process, which has one thread and no connection.

    In the fork this raises SystemExit at the end. Once it has ended, the supervisor starts its command line.
    """
    parent = os.getpid()
    if pid := os.fork():
        return replace(program, pid=pid)
    supervisor.lead_session(parent)
    with contextlib.suppress(OSError):  # only for `ps`, which would show the parent's name for all
        Path("/proc/self/comm").write_text(program.name[:_LONGEST_NAME])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    run()
    sys.exit(0)
