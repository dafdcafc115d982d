"""The values of metrics in a test process: in files, as in production, and from zero for each test that asks for it."""

from __future__ import annotations

import os
from pathlib import Path

from prometheus_client import values

from infrastructure.metrics import process_files


class _Process:
    """What the library takes for a process id. Another one makes it begin new files, as a forked process does."""

    def __str__(self) -> str:
        return str(os.getpid())


_process = _Process()


def prepare() -> None:
    """Count in VAR_DIR. Call this before any metric has a value."""
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(process_files.begin(Path(os.environ["VAR_DIR"]) / "metrics"))
    values.ValueClass = values.MultiProcessValue(lambda: _process)


def begin(directory: Path) -> None:
    """Count from zero, in `directory`."""
    global _process  # noqa: PLW0603 - of the process
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(process_files.begin(directory))
    _process = _Process()
