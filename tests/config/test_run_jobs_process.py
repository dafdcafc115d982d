"""`run_jobs` as a process of its own: it goes on after errors and ends at once when asked."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection

from accounts.models import JobRun
from tests.config import process_table
from tests.support import processes

SECOND = timedelta(seconds=1)
ROOT = Path(__file__).parents[2]


class Runner:
    """run_jobs as a process group of its own, on the database of the test."""

    def __init__(self, path: Path, *arguments: str) -> None:
        self.path = path
        with path.open("wb") as log:
            self.process = subprocess.Popen(
                command(*arguments),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit code. subprocess.TimeoutExpired where it goes on with a job that hangs."""
        self.process.send_signal(number)
        return self.process.wait(20)

    def output(self) -> str:
        return self.path.read_text()


Start = Callable[..., Runner]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tests.config.jobs_app", str(connection.settings_dict["NAME"]), *arguments]


def wait_for(**values: object) -> JobRun:
    """The row of a job, once there is one with these values."""
    give_up_at = time.monotonic() + 30
    while (run := JobRun.objects.filter(**values).first()) is None:
        assert time.monotonic() < give_up_at, list(JobRun.objects.values())
        time.sleep(0.02)
    return run


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts runners; what still runs at the end of the test is killed."""
    runners: list[Runner] = []

    def start(*arguments: str) -> Runner:
        runners.append(Runner(tmp_path / f"log-{len(runners)}", *arguments))
        return runners[-1]

    yield start
    for runner in runners:
        processes.kill_group(runner.process)


@pytest.mark.live
@pytest.mark.django_db(transaction=True)
class TestProcess:
    """Every job is due each second."""

    def test_a_quick_job_comes_to_its_end(self, start: Start) -> None:
        runner = start("dawdle,count")
        wait_for(name="dawdle", lease_ends_at__isnull=False)
        assert (runner.end(), runner.output()) == (0, "")
        dawdle = JobRun.objects.get(pk="dawdle")
        assert (dawdle.message, dawdle.lease_ends_at) == ("Dawdled.", None)
        assert JobRun.objects.get(pk="count").started_at is None  # nothing new is begun

    def test_a_long_job_is_abandoned_and_free_for_the_next_runner(self, start: Start) -> None:
        runner = start("hang")
        wait_for(name="hang", lease_ends_at__isnull=False)
        assert runner.end() == 0
        (entry,) = [json.loads(line) for line in runner.output().splitlines()]
        sentence = "Stopped in the middle of a job, which is left for its next turn."
        assert (entry["level"], entry["message"]) == ("WARNING", sentence)
        hang = JobRun.objects.get()
        assert (hang.lease_ends_at, hang.succeeded_at, hang.last_error) == (None, None, "Abandoned")

    def test_once_fails_when_it_is_stopped_in_the_middle(self, start: Start) -> None:
        runner = start("hang", "--once")
        wait_for(name="hang", lease_ends_at__isnull=False)
        assert runner.end() == 1
        assert "Traceback" not in runner.output()

    def test_jobs_run_again_and_again_and_a_broken_one_does_not_end_the_process(self, start: Start) -> None:
        runner = start("stumble,count")
        first = wait_for(name="count", succeeded_at__isnull=False)
        second = wait_for(name="count", succeeded_at__gt=first.succeeded_at)
        assert second.started_at is not None
        assert first.started_at is not None
        assert second.started_at - first.started_at >= SECOND
        assert runner.end(signal.SIGINT) == 0
        messages = [json.loads(line)["message"] for line in runner.output().splitlines()]
        assert len(messages) >= 2
        assert set(messages) == {"The job stumble failed"}

    def test_it_ends_with_its_parent(self) -> None:
        """Where the system does not signal the death of its parent."""
        script = (
            "import os, subprocess, sys, time\n"
            "child = subprocess.Popen([*sys.argv[1:], '--parent', str(os.getpid())])\n"
            "print(child.pid, flush=True)\n"
            "time.sleep(600)\n"
        )
        parent_of_a_runner = [sys.executable, "-c", script, *command("count")]
        with subprocess.Popen(
            parent_of_a_runner, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as parent:
            try:
                assert parent.stdout is not None
                child = int(parent.stdout.readline())
                wait_for(name="count", succeeded_at__isnull=False)
                assert process_table.running()[child].parent == parent.pid
                parent.kill()
                process_table.wait_until_gone(child)
            finally:
                processes.kill_group(parent)
