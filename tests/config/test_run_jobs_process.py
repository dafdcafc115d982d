"""`run_jobs` as a process of its own: it goes on whatever breaks, and its end comes at once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import IO

import pytest
from django.db import connection

from accounts.models import JobRun
from tests.config import process_table

SECOND = timedelta(seconds=1)
ROOT = Path(__file__).parents[2]
COUNT = "count: Counted 3 things.\n"


class Runner:
    """run_jobs as a process of its own, on the database of the test."""

    def __init__(self, log: IO[bytes], path: Path, *arguments: str) -> None:
        self.path = path
        self.process = subprocess.Popen(
            self.command(*arguments), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )

    @staticmethod
    def command(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "tests.config.jobs_app", str(connection.settings_dict["NAME"]), *arguments]

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit code. AssertionError where it needs more than 5 seconds."""
        asked_at = time.monotonic()
        self.process.send_signal(number)
        exit_code = self.process.wait(20)
        assert time.monotonic() - asked_at < 5
        return exit_code

    def told(self) -> str:
        return self.path.read_text()


def wait_for(**values: object) -> JobRun:
    """The row of a job, once there is one with these values."""
    give_up_at = time.monotonic() + 30
    while (run := JobRun.objects.filter(**values).first()) is None:
        assert time.monotonic() < give_up_at, list(JobRun.objects.values())
        time.sleep(0.02)
    return run


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    with Starter(tmp_path) as starter:
        yield starter


class Starter:
    """Starts runners; what still runs at the end of the test is killed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.runners: list[Runner] = []

    def __enter__(self) -> Starter:
        return self

    def __exit__(self, *reason: object) -> None:
        for runner in self.runners:
            runner.process.kill()
            runner.process.wait()

    def __call__(self, *arguments: str) -> Runner:
        path = self.directory / f"log-{len(self.runners)}"
        with path.open("wb") as log:
            self.runners.append(Runner(log, path, *arguments))
        return self.runners[-1]


@pytest.mark.django_db(transaction=True)
class TestProcess:
    """Every job is due each second."""

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_it_ends_at_once_while_it_waits(self, start: Starter, number: int) -> None:
        runner = start("count")
        wait_for(name="count", succeeded_at__isnull=False)
        assert (runner.end(number), runner.told()) == (0, "")

    def test_it_runs_a_job_again_and_again(self, start: Starter) -> None:
        runner = start("count")
        first = wait_for(name="count", succeeded_at__isnull=False)
        second = wait_for(name="count", succeeded_at__gt=first.succeeded_at)
        assert second.started_at is not None
        assert first.started_at is not None
        assert second.started_at - first.started_at >= SECOND
        assert runner.end() == 0

    def test_a_quick_job_comes_to_its_end(self, start: Starter) -> None:
        runner = start("dawdle,count")
        wait_for(name="dawdle", lease_ends_at__isnull=False)
        assert (runner.end(), runner.told()) == (0, "")
        dawdle = JobRun.objects.get(pk="dawdle")
        assert (dawdle.message, dawdle.lease_ends_at) == ("Dawdled.", None)
        assert JobRun.objects.get(pk="count").started_at is None  # nothing new is begun

    def test_a_long_job_is_abandoned_and_free_for_the_next_runner(self, start: Starter) -> None:
        runner = start("hang")
        wait_for(name="hang", lease_ends_at__isnull=False)
        assert runner.end() == 0
        (entry,) = [json.loads(line) for line in runner.told().splitlines()]
        told = "Stopped in the middle of a job, which is left for its next turn."
        assert (entry["level"], entry["message"]) == ("WARNING", told)
        hang = JobRun.objects.get()
        assert (hang.lease_ends_at, hang.succeeded_at, hang.last_error) == (None, None, "Abandoned")

    def test_once_fails_when_it_is_stopped_in_the_middle(self, start: Starter) -> None:
        runner = start("hang", "--once")
        wait_for(name="hang", lease_ends_at__isnull=False)
        assert runner.end() == 1
        assert "Traceback" not in runner.told()

    def test_a_broken_job_does_not_end_it(self, start: Starter) -> None:
        runner = start("stumble,count")
        first = wait_for(name="count", succeeded_at__isnull=False)
        wait_for(name="count", succeeded_at__gt=first.succeeded_at)
        assert runner.end() == 0
        messages = [json.loads(line)["message"] for line in runner.told().splitlines()]
        assert len(messages) >= 2
        assert set(messages) == {"The job stumble failed"}

    def test_two_runners_share_the_work(self, start: Starter) -> None:
        runners = [start("count", "--verbosity", "2") for _ in range(2)]
        moments = set()
        for _ in range(3):
            seen = JobRun.objects.filter(pk="count").first()
            later = {"succeeded_at__gt": seen.succeeded_at} if seen and seen.succeeded_at else {}
            moments.add(wait_for(name="count", succeeded_at__isnull=False, **later).started_at)
        assert [runner.end() for runner in runners] == [0, 0]
        done = sum(runner.told().count(COUNT) for runner in runners)
        assert len(moments) <= done <= len(moments) + 1  # one more may have begun meanwhile

    def test_it_ends_with_its_parent(self) -> None:
        """Where the system does not tell it of its parent's death."""
        script = (
            "import os, subprocess, sys, time\n"
            "child = subprocess.Popen([*sys.argv[1:], '--parent', str(os.getpid())])\n"
            "print(child.pid, flush=True)\n"
            "time.sleep(600)\n"
        )
        command = [sys.executable, "-c", script, *Runner.command("count")]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
            try:
                assert parent.stdout is not None
                child = int(parent.stdout.readline())
                wait_for(name="count", succeeded_at__isnull=False)
                assert process_table.running()[child].parent == parent.pid
            finally:
                parent.kill()
        process_table.wait_until_gone(child)
