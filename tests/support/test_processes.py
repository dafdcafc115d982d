"""What a test run starts ends as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.config import process_table
from tests.support import keeper, processes

# A child that holds the pipes of its parent, as Node does below npm's script.
PARENT = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', sys.argv[1]]).pid, flush=True); {end}"
CHILD = "import threading; threading.Event().wait()"


def test_a_program_that_is_late_ends_with_its_children() -> None:
    started = time.monotonic()
    command = [sys.executable, "-c", PARENT.format(end="import threading; threading.Event().wait()"), CHILD]
    with pytest.raises(subprocess.TimeoutExpired) as late:
        processes.run(command, seconds=1)
    assert time.monotonic() - started < 10
    process_table.wait_until_gone(int(late.value.output))


def test_a_program_that_ends_leaves_no_child() -> None:
    command = [sys.executable, "-c", PARENT.format(end="sys.stdout.close()"), CHILD]
    with pytest.raises(subprocess.TimeoutExpired) as late:  # the child holds the pipe
        processes.run(command, seconds=1)
    process_table.wait_until_gone(int(late.value.output))


@pytest.mark.parametrize("how", ["environment", "directory"])
def test_what_a_killed_run_leaves_is_cleaned_up(tmp_path: Path, how: str) -> None:
    """The keeper learns of the end by its standard input."""
    directory = tmp_path / "run"
    directory.mkdir()
    named = {"TMPDIR": str(directory / "tmp")} if how == "environment" else {}
    cwd = directory if how == "directory" else None
    left = subprocess.Popen([sys.executable, "-c", CHILD], cwd=cwd, env={**os.environ, **named}, start_new_session=True)
    with keeper.watching(directory):
        assert left.poll() is None
    assert left.wait(10) < 0
    assert not directory.exists()
