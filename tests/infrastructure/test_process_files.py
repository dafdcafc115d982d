"""The counts of several processes add up, and those of ended processes stay: real processes, ended by SIGKILL."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from infrastructure import metrics
from infrastructure.metrics import process_files
from infrastructure.metrics.process_files import ProcessCollector

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
# Counts what its arguments say, then waits to be killed.
PROGRAM = """
import sys
from pathlib import Path
from config import env

env.count_in(Path(sys.argv[1]))
from prometheus_client import Counter, Gauge, Histogram

Counter("hits", "Hits.", ["kind"]).labels("a").inc(float(sys.argv[2]))
Histogram("seconds", "Seconds.", ["kind"], buckets=(0.1, 1)).labels("a").observe(0.5)
Gauge("open", "Open ones.", multiprocess_mode="livesum").set(1)
print("counted", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def process(directory: Path, hits: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has counted; killed at the end."""
    command = [sys.executable, "-c", PROGRAM, str(directory), str(hits)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"counted\n"
        try:
            yield started
        finally:
            started.kill()


def read(directory: Path) -> tuple[float | None, float | None, int]:
    """Hits, open ones, and how many processes run."""
    collector = ProcessCollector(directory)
    samples = {sample.name: sample.value for family in collector.collect() for sample in family.samples}
    return samples.get("hits_total"), samples.get("open"), collector.running


def test_two_processes_add_up_and_what_one_has_counted_outlives_it(tmp_path: Path) -> None:
    assert read(tmp_path) == (None, None, 0)
    with process(tmp_path, 3):
        with process(tmp_path, 4):
            assert read(tmp_path) == (7, 2, 2)
        assert read(tmp_path) == (7, 1, 1)
    assert read(tmp_path) == (7, None, 0)
    assert read(tmp_path) == (7, None, 0)


def test_the_text_is_the_same_while_a_process_runs_and_after_its_end(tmp_path: Path) -> None:
    with process(tmp_path, 3), process(tmp_path, 4):
        running = metrics.text(ProcessCollector(tmp_path)).decode().splitlines()
    ended = metrics.text(ProcessCollector(tmp_path)).decode().splitlines()
    assert sorted(ended) == sorted(line for line in running if "open" not in line)
    assert 'seconds_bucket{kind="a",le="0.1"} 0.0' in ended
    assert 'seconds_bucket{kind="a",le="+Inf"} 2.0' in ended
    assert 'seconds_count{kind="a"} 2.0' in ended
    assert "# HELP hits_total Hits." in ended


def test_the_directory_does_not_grow_with_the_processes_that_ended(tmp_path: Path) -> None:
    for _ in range(4):
        with process(tmp_path, 1):
            pass
    with process(tmp_path, 1):  # no scrape has read the files: the start of a process is enough
        names = sorted(path.name for path in tmp_path.rglob("*.*"))
        assert len(names) == 5
        assert {"counter_ended.db", "histogram_ended.db"} < {*names}
        assert read(tmp_path) == (5, 1, 1)


def test_the_files_of_a_process_id_that_is_used_again_are_an_ended_process_s(tmp_path: Path) -> None:
    with process(tmp_path, 3) as ended:
        pass
    for path in tmp_path.glob("*/*.db"):
        path.rename(path.with_name(path.name.replace(str(ended.pid), str(os.getpid()))))
    assert read(tmp_path) == (3, 1, 1)  # this process has begun
    process_files.begin(tmp_path)
    assert read(tmp_path) == (3, None, 0)


def test_a_process_of_another_container_has_ended_after_a_day_without_a_write(tmp_path: Path) -> None:
    with process(tmp_path, 3):
        pass
    folder = (tmp_path / socket.gethostname()).rename(tmp_path / "another-container")
    assert read(tmp_path) == (3, 1, 1)
    for path in folder.iterdir():
        os.utime(path, times=(time.time() - process_files.ELSEWHERE_SECONDS - 1,) * 2)
    assert read(tmp_path) == (3, None, 0)
    assert not folder.exists()


def test_a_damaged_file_is_logged_and_the_others_are_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with process(tmp_path, 3), process(tmp_path, 4) as second:
        pass
    next(tmp_path.glob(f"*/counter_{second.pid}.db")).write_bytes(struct.pack("i", 4096) + bytes(4092))
    with caplog.at_level(logging.WARNING, process_files.__name__):
        assert read(tmp_path) == (3, None, 0)
    assert "is damaged" in caplog.text
