"""The counts of several processes add up, and those of ended processes stay: real processes, ended by SIGKILL."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.metrics import metric_files
from accounts.metrics.metric_files import Cell, Counts, CountsUnavailable, ProcessFile

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
HITS: Cell = ("hits", ("a",))
OPEN: Cell = ("open", ())
# Counts what its arguments say, then waits to be killed.
PROGRAM = """
import sys
from pathlib import Path
from accounts.metrics.metric_files import Counts, ProcessFile

file = ProcessFile(Path(sys.argv[1]))
file.save(Counts({("hits", ("a",)): [float(sys.argv[2])]}, {("open", ()): [1.0]}))
print("saved", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def process(directory: Path, hits: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has counted; killed at the end."""
    command = [sys.executable, "-c", PROGRAM, str(directory), str(hits)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"saved\n"
        try:
            yield started
        finally:
            started.kill()


def read(directory: Path) -> tuple[list[float] | None, list[float] | None, int]:
    """Hits, open ones, and how many processes run."""
    counts, running = metric_files.read(directory)
    return counts.totals.get(HITS), counts.gauges.get(OPEN), running


def test_two_processes_add_up_and_what_one_has_counted_outlives_it(tmp_path: Path) -> None:
    assert read(tmp_path) == (None, None, 0)
    with process(tmp_path, 3):
        with process(tmp_path, 4):
            assert read(tmp_path) == ([7], [2], 2)
        assert read(tmp_path) == ([7], [1], 1)
    assert read(tmp_path) == ([7], None, 0)
    assert read(tmp_path) == ([7], None, 0)


def test_the_directory_does_not_grow_with_the_processes_that_ended(tmp_path: Path) -> None:
    for _ in range(4):
        with process(tmp_path, 1):
            written = next(tmp_path.glob("*.lock"))
        written.with_suffix(".new").write_text("killed while it wrote")
    with process(tmp_path, 1):  # nothing was read meanwhile: the start of a process is enough
        names = sorted(path.name for path in tmp_path.iterdir())
        assert (len(names), names[2:]) == (4, ["ended.json", "guard"])
        assert read(tmp_path) == ([5], [1], 1)


def test_a_crash_after_the_sums_are_written_counts_nothing_twice(tmp_path: Path) -> None:
    with process(tmp_path, 3):
        left = {path: path.read_bytes() for path in tmp_path.glob("[0-9]*")}
    assert read(tmp_path) == ([3], None, 0)
    for path, content in left.items():  # as before they were removed
        path.write_bytes(content)
    assert read(tmp_path) == ([3], None, 0)
    assert [path.name for path in tmp_path.glob("[0-9]*")] == []


def test_a_damaged_file_is_logged_and_the_others_are_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with process(tmp_path, 3), process(tmp_path, 4) as second:
        next(tmp_path.glob(f"{second.pid}-*.json")).write_text('{"totals": ')
        with caplog.at_level(logging.WARNING, "accounts.metrics.metric_files"):
            assert read(tmp_path) == ([3], [1], 2)
    assert "is damaged" in caplog.text


def test_other_buckets_of_a_later_release_replace_the_earlier_counts(tmp_path: Path) -> None:
    for values in ([1.0, 2.0], [5.0, 6.0, 7.0]):
        file = ProcessFile(tmp_path)
        file.save(Counts({HITS: values}))
        file.close()
    assert read(tmp_path) == ([5, 6, 7], None, 0)


def test_a_guard_that_another_process_keeps_is_not_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metric_files, "PATIENCE", 0.02)
    with metric_files._guarded(tmp_path), pytest.raises(CountsUnavailable, match="guard"):
        metric_files.read(tmp_path)
    assert read(tmp_path) == (None, None, 0)


def test_a_process_that_is_forked_meanwhile_does_not_keep_the_guard(tmp_path: Path) -> None:
    with metric_files._guarded(tmp_path):
        child = os.fork()
        if not child:
            signal.pause()
    try:
        assert read(tmp_path) == (None, None, 0)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
