"""The supervisor, with small programs: what it passes on, what it starts again, and that nothing outlives it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.operations.supervisor import Program, command_of
from tests.config import process_table
from tests.support import processes

ROOT = Path(__file__).parents[2]
# What the small programs do. Each writes its process id, and its orders, a line each.
WAITS = """
import os, signal, sys, time
def leave(number, frame):
    note(signal.Signals(number).name)
    sys.exit(0)
def note(text):
    with open(sys.argv[1], "a") as file:
        file.write(f"{text}\\n")
signal.signal(signal.SIGTERM, leave)
signal.signal(signal.SIGINT, leave)
note(os.getpid())
"""
FOR_EVER = f"{WAITS}time.sleep(600)"
DEAF = f"{WAITS}signal.signal(signal.SIGTERM, signal.SIG_IGN); note('deaf'); time.sleep(600)"
ENDS = f"{WAITS}sys.exit(int(sys.argv[2]))"
ENDS_LATER = f"{WAITS}time.sleep(0.25); sys.exit(int(sys.argv[2]))"
LEAVES_A_CHILD = f"""{WAITS}
import subprocess
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
note(child.pid)
time.sleep(600)
"""
QUICK = "from config.operations import supervisor; supervisor.FIRST_PAUSE, supervisor.LONGEST_PAUSE = 0.05, 0.2; "
IMPATIENT = "from config.operations import supervisor; supervisor.STOP_SECONDS = 0.5; "


class SmallPrograms:
    """Small programs and their supervisor."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.process: subprocess.Popen[bytes] | None = None

    def program(self, name: str, script: str, *arguments: str) -> Program:
        return Program(name, (sys.executable, "-c", script, str(self._file(name)), *arguments))

    def start(self, *programs: Program, patch: str = "") -> subprocess.Popen[bytes]:
        """`patch`: Python that is run before."""
        command = command_of(programs)
        if patch:
            script = f"{patch}import json, sys; supervisor.logging.config.dictConfig(supervisor.options()); "
            script += "supervisor.supervise([supervisor.Program(**p) for p in json.loads(sys.argv[1])])"
            command = [sys.executable, "-c", script, command[-1]]
        return self._run(command)

    def start_script(self, script: str, *programs: Program) -> subprocess.Popen[bytes]:
        """`script`: Python that gets the programs, and becomes their supervisor."""
        return self._run([sys.executable, "-c", script, json.dumps([(each.name, each.argv) for each in programs])])

    def lines(self, name: str, count: int) -> list[str]:
        """What the program has written, once there are that many lines."""
        give_up_at = time.monotonic() + 20
        while len(lines := self._written(name)) < count:
            assert time.monotonic() < give_up_at, (lines, self.logged())
            time.sleep(0.02)
        return lines

    def pid(self, name: str) -> int:
        return int(self.lines(name, 1)[0])

    def logged(self) -> list[str]:
        """The messages of the log."""
        return [json.loads(line)["message"] for line in (self.directory / "log").read_text().splitlines()]

    def end(self) -> None:
        assert self.process is not None
        self.process.terminate()
        assert self.process.wait(20) == 0

    def close(self) -> None:
        """Kill the supervisor and each program, which leads a group of its own."""
        if self.process is not None:
            processes.kill_group(self.process)
        for path in self.directory.glob("*.txt"):
            for line in filter(str.isdigit, path.read_text().splitlines()):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(int(line), signal.SIGKILL)

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self.directory / "log").open("wb") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
        return self.process

    def _file(self, name: str) -> Path:
        return self.directory / f"{name}.txt"

    def _written(self, name: str) -> list[str]:
        return self._file(name).read_text().splitlines() if self._file(name).exists() else []


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SmallPrograms]:
    small = SmallPrograms(tmp_path)
    yield small
    small.close()


@pytest.mark.parametrize(
    ("number", "is_for_all"), [(signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGHUP, True)]
)
def test_the_signal_to_end_reaches_every_program_once(small: SmallPrograms, number: int, is_for_all: bool) -> None:
    """Ctrl-C goes to the terminal's whole group, an init system's SIGTERM to the first process alone."""
    supervisor = small.start(small.program("web", FOR_EVER), small.program("jobs", FOR_EVER))
    pids = [small.pid("web"), small.pid("jobs")]
    (os.killpg if is_for_all else os.kill)(supervisor.pid, number)
    assert supervisor.wait(20) == 0
    assert [small.lines(name, 2)[1:] for name in ("web", "jobs")] == [["SIGTERM"], ["SIGTERM"]]
    process_table.wait_until_gone(*pids)
    assert small.logged() == []


def test_a_program_that_ends_starts_again(small: SmallPrograms) -> None:
    small.start(small.program("web", FOR_EVER), small.program("jobs", FOR_EVER))
    web, jobs = small.pid("web"), small.pid("jobs")
    os.kill(jobs, signal.SIGKILL)
    again = int(small.lines("jobs", 2)[1])
    assert process_table.running().keys() & {web, jobs, again} == {web, again}
    assert small.logged() == ["jobs ended (exit code -9); it starts again in 1 s."]
    small.end()
    process_table.wait_until_gone(web, again)
    assert small.lines("web", 2) == [str(web), "SIGTERM"]


def test_the_pause_before_another_start_grows(small: SmallPrograms) -> None:
    programs = small.program("web", FOR_EVER), small.program("jobs", ENDS, "1")
    small.start(*programs, patch=QUICK)
    small.lines("jobs", 5)
    small.end()
    pauses = [message.rpartition("again in ")[2] for message in small.logged()]
    assert pauses[:4] == ["0.05 s.", "0.1 s.", "0.2 s.", "0.2 s."]


def test_a_program_that_lasted_starts_again_after_the_first_pause(small: SmallPrograms) -> None:
    programs = small.program("web", FOR_EVER), small.program("jobs", ENDS_LATER, "1")
    small.start(*programs, patch=QUICK)
    small.lines("jobs", 4)
    small.end()
    assert set(small.logged()) == {"jobs ended (exit code 1); it starts again in 0.05 s."}


def test_a_program_that_cannot_work_as_things_are_set_stays_stopped(small: SmallPrograms) -> None:
    """Another start would fail the same way; the others go on."""
    programs = small.program("web", FOR_EVER), small.program("gateway", ENDS, "78")
    small.start(*programs, small.program("jobs", ENDS, "1"), patch=QUICK)
    small.lines("jobs", 4)
    small.end()
    assert len(small.lines("gateway", 1)) == 1
    logged = [message for message in small.logged() if message.startswith("gateway")]
    assert logged == ["gateway cannot work as things are set (exit code 78) and stays stopped."]


def test_a_program_that_does_not_listen_is_killed(small: SmallPrograms) -> None:
    small.start(small.program("web", DEAF), patch=IMPATIENT)
    web = int(small.lines("web", 2)[0])
    small.end()
    process_table.wait_until_gone(web)


@pytest.mark.parametrize(
    ("number", "is_for_all"),
    [(signal.SIGTERM, False), (signal.SIGKILL, False), (signal.SIGTERM, True)],
    ids=["the program ends", "the program is killed", "the supervisor ends"],
)
def test_what_a_program_leaves_behind_is_killed(small: SmallPrograms, number: int, is_for_all: bool) -> None:
    supervisor = small.start(small.program("web", LEAVES_A_CHILD))
    web, left = (int(line) for line in small.lines("web", 2))
    os.kill(supervisor.pid if is_for_all else web, number)
    process_table.wait_until_gone(web, left)


def test_the_programs_of_a_killed_supervisor_end(small: SmallPrograms) -> None:
    supervisor = small.start(small.program("web", FOR_EVER), small.program("jobs", FOR_EVER))
    pids = [small.pid("web"), small.pid("jobs")]
    supervisor.kill()
    process_table.wait_until_gone(*pids)
    assert [small.lines(name, 2)[1:] for name in ("web", "jobs")] == [["SIGTERM"], ["SIGTERM"]]


BECOMES_ONE_AT_A_SIGNAL = """
import json, os, signal, sys
from config.operations import supervisor
signal.pthread_sigmask(signal.SIG_BLOCK, supervisor.ENDS)
os.kill(os.getpid(), signal.SIGINT)
command = supervisor.command_of([supervisor.Program(name, argv) for name, argv in json.loads(sys.argv[1])])
os.execv(command[0], command)
"""


def test_a_signal_that_comes_before_the_supervisor_listens_is_not_lost(small: SmallPrograms) -> None:
    supervisor = small.start_script(BECOMES_ONE_AT_A_SIGNAL, small.program("web", FOR_EVER))
    assert supervisor.wait(20) == 0
    assert small.logged() == []


ADOPTS = """
import json, os, sys
from dataclasses import replace
from config.operations import supervisor
first, second = (supervisor.Program(name, argv) for name, argv in json.loads(sys.argv[1]))
parent = os.getpid()
pid = os.fork()
if pid == 0:
    supervisor.lead_session(parent)
    os.execv(first.argv[0], first.argv)
command = supervisor.command_of([replace(first, pid=pid), second])
os.execv(command[0], command)
"""


def test_a_program_that_runs_already_is_adopted(small: SmallPrograms) -> None:
    small.start_script(ADOPTS, small.program("web", FOR_EVER), small.program("jobs", FOR_EVER))
    web, jobs = small.pid("web"), small.pid("jobs")
    os.kill(web, signal.SIGKILL)
    again = int(small.lines("web", 2)[1])
    assert process_table.running().keys() & {web, jobs, again} == {jobs, again}
    assert small.logged() == ["web ended (exit code -9); it starts again in 1 s."]
    small.end()
    process_table.wait_until_gone(jobs, again)


def test_an_adopted_program_ends_with_the_supervisor(small: SmallPrograms) -> None:
    small.start_script(ADOPTS, small.program("web", LEAVES_A_CHILD), small.program("jobs", FOR_EVER))
    small.pid("jobs")  # the supervisor has started it, so it listens
    web, left = (int(line) for line in small.lines("web", 2))
    small.end()
    process_table.wait_until_gone(web, left)
    assert small.lines("web", 3)[2] == "SIGTERM"
