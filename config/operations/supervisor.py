"""Several programs as one: they start together, and none of them is left when the first process ends, however it ends.

Each program leads a session of its own, so the terminal's Ctrl-C reaches only the supervisor, which sends SIGTERM
to the programs and kills what they leave in their groups. It loads nothing of Django, to stay small.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import logging
import logging.config
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from config.observability.logs import options
from infrastructure import signal_waiter
from infrastructure.signal_waiter import SignalWaiter

STOP_SECONDS = 8.0  # the web server gives its connections 5
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 15.0  # seconds before a program that ended starts again
ENDS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}

logger = logging.getLogger("config.operations.supervisor")
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Program:
    """What to run, and to start again when it ends.

    Exit code 78 (`os.EX_CONFIG`) says that it would only fail again: then it is left stopped. `pid` is its first
    process, a child of this one that called `lead_session`; None: it is still to be started.
    """

    name: str
    argv: Sequence[str]
    pid: int | None = None


def command_of(programs: Sequence[Program]) -> list[str]:
    """Return the command line of a supervisor of these programs; the interpreter comes first."""
    return [sys.executable, "-m", "config.operations.supervisor", json.dumps([asdict(program) for program in programs])]


class _Adopted:
    """A child that this process started before it became the supervisor, with what is used of Popen."""

    returncode: int | None = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None while it runs."""
        return self._reap(os.WNOHANG)

    def wait(self) -> int | None:
        return self._reap(0)

    def terminate(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def _reap(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode


class _Child:
    """One program and its present process."""

    _process: subprocess.Popen[bytes] | _Adopted
    _started_at: float
    _start_again_at: float | None
    _is_cleared_up: bool
    _has_given_up = False

    def __init__(self, program: Program) -> None:
        self.program = program
        self._pause = FIRST_PAUSE
        if program.pid is None:
            self._start()
        else:
            self._follow(_Adopted(program.pid))

    def is_running(self) -> bool:
        return self._process.poll() is None

    def look(self) -> None:
        """Log the end of the process, and start another one once the pause after it is over."""
        if self.is_running() or self._has_given_up:
            return
        if self._start_again_at is None:
            self._clear_up()
        elif self._start_again_at <= time.monotonic():
            self._start()

    def seconds_to_start(self) -> float | None:
        """Return the seconds, or None where it needs no start."""
        return None if self._start_again_at is None else max(self._start_again_at - time.monotonic(), 0)

    def ask_to_stop(self) -> None:
        if self.is_running():
            self._process.terminate()

    def kill_group(self) -> None:
        """Kill what is left of it, once for each process: later its number may be another process's."""
        if self._is_cleared_up:
            return
        self._is_cleared_up = True
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: no permission for a group of zombies
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _start(self) -> None:
        process = subprocess.Popen(  # noqa: S603 - the caller's own programs
            self.program.argv,
            stdin=subprocess.DEVNULL,
            preexec_fn=functools.partial(lead_session, os.getpid()),  # noqa: PLW1509 - this process has one thread
        )
        self._follow(process)

    def _follow(self, process: subprocess.Popen[bytes] | _Adopted) -> None:
        self._started_at = time.monotonic()
        self._start_again_at = None
        self._is_cleared_up = False
        self._process = process

    def _clear_up(self) -> None:
        """Clear up after an end that was not asked for."""
        self.kill_group()
        name, code = self.program.name, self._process.returncode
        if code == os.EX_CONFIG:
            logger.critical("%s cannot work as things are set (exit code %s) and stays stopped.", name, code)
            self._has_given_up = True
            return
        has_lasted = time.monotonic() - self._started_at >= LONGEST_PAUSE
        self._pause = FIRST_PAUSE if has_lasted else self._pause
        logger.error("%s ended (exit code %s); it starts again in %g s.", name, code, self._pause)
        self._start_again_at = time.monotonic() + self._pause
        self._pause = min(self._pause * 2, LONGEST_PAUSE)


def lead_session(parent: int) -> None:
    """Make this new process leave the terminal's group and, on Linux, end with its parent, even by SIGKILL."""
    os.setsid()
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died just before
            os._exit(1)


def supervise(programs: Sequence[Program]) -> None:
    """Run them until SIGTERM, SIGINT or SIGHUP."""
    children: list[_Child] = []
    with signal_waiter.opened(*ENDS, signal.SIGCHLD) as waiter:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)  # a process that becomes the supervisor blocks them before
        try:
            children.extend(_Child(program) for program in programs)
            _watch(children, waiter)
        finally:
            _stop(children, waiter)


def _watch(children: Sequence[_Child], waiter: SignalWaiter) -> None:
    while True:
        for child in children:
            child.look()
        pauses = [seconds for child in children if (seconds := child.seconds_to_start()) is not None]
        if waiter.wait(min(pauses, default=None)) & ENDS:
            return


def _stop(children: Sequence[_Child], waiter: SignalWaiter) -> None:
    give_up_at = time.monotonic() + STOP_SECONDS
    for child in children:
        child.ask_to_stop()
    while any(child.is_running() for child in children) and (seconds := give_up_at - time.monotonic()) > 0:
        waiter.wait(seconds)
    for child in children:
        child.kill_group()


if __name__ == "__main__":
    logging.config.dictConfig(options())
    supervise([Program(**program) for program in json.loads(sys.argv[1])])
