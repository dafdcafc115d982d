"""The counts of the processes of one host: a small file for each, in a directory that they share.

A process replaces its own file, and holds a lock (`flock`) on a second one for as long as it runs, so its end shows,
however it comes. The totals of ended processes are added to one file, `ended.json`, and their own files are removed:
counters never fall, and the directory does not grow with the number of processes that ever ran.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

logger = logging.getLogger(__name__)

Cell = tuple[str, tuple[str, ...]]  # name of the metric, values of its labels
Cells = dict[Cell, list[float]]
ENDED, GUARD, NEW = "ended.json", "guard", ".new"
PATIENCE = 1.0  # seconds that a process waits for the guard, which others hold for milliseconds


class CountsUnavailable(Exception):
    """The directory cannot be read or written, or another process holds its guard."""


@dataclass
class Counts:
    """`totals` only grow, and outlive their process; `gauges` end with it. A cell holds what its metric puts there.

    `merged`: the processes whose totals are in here already, though their files may still lie in the directory.
    """

    totals: Cells = field(default_factory=dict)
    gauges: Cells = field(default_factory=dict)
    merged: list[str] = field(default_factory=list)

    def to_text(self) -> str:
        parts = {"totals": self.totals, "gauges": self.gauges}
        rows = {name: [[*cell, values] for cell, values in cells.items()] for name, cells in parts.items()}
        return json.dumps({**rows, "merged": self.merged})

    @classmethod
    def of_text(cls, text: str) -> Counts:
        """ValueError, KeyError or TypeError where it is damaged."""
        found = json.loads(text)
        return cls(_cells(found["totals"]), _cells(found["gauges"]), [str(name) for name in found["merged"]])


def _cells(rows: Iterable[tuple[str, list[str], list[float]]]) -> Cells:
    return {(metric, tuple(labels)): list(values) for metric, labels, values in rows}


def add(sums: Cells, cells: Cells) -> None:
    """Add `cells` to `sums`. Where a release changed the buckets of a histogram, later counts replace earlier ones."""
    for cell, values in cells.items():
        before = sums.get(cell, [])
        is_same = len(before) == len(values)
        sums[cell] = [a + b for a, b in zip(before, values, strict=True)] if is_same else list(values)


class ProcessFile:
    """This process's file in `directory`, from now until it ends."""

    def __init__(self, directory: Path) -> None:
        """CountsUnavailable, OSError."""
        self._directory = directory
        directory.mkdir(mode=0o750, parents=True, exist_ok=True)
        self.name = f"{os.getpid()}-{secrets.token_hex(4)}"
        with _guarded(directory):
            _merge_ended(directory)
            self._lock = os.open(_lock_path(directory, self.name), os.O_CREAT | os.O_RDWR, 0o640)
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def save(self, counts: Counts) -> None:
        """Replace what the file holds. OSError."""
        _write(_path(self._directory, self.name), counts)

    def close(self) -> None:
        """As the end of the process does; a forked child calls it too, and its parent keeps the lock."""
        os.close(self._lock)


def read(directory: Path) -> tuple[Counts, int]:
    """The sums of all processes, ended ones too, and how many run. CountsUnavailable."""
    with _guarded(directory):
        _merge_ended(directory)
        sums = _read(directory / ENDED)
        names = _names(directory)
        for name in names:
            counts = _read(_path(directory, name))
            add(sums.totals, counts.totals)
            add(sums.gauges, counts.gauges)
    return sums, len(names)


def _merge_ended(directory: Path) -> None:
    """Add the totals of ended processes to ENDED. A crash on the way counts nothing twice: `merged` says what is in."""
    ended = [name for name in _names(directory) if _has_ended(_lock_path(directory, name))]
    if not ended:
        return
    sums = _read(directory / ENDED)
    for name in ended:
        if name not in sums.merged:
            add(sums.totals, _read(_path(directory, name)).totals)
    sums.merged = ended
    _write(directory / ENDED, sums)
    for name in ended:
        _path(directory, name).unlink(missing_ok=True)
        _path(directory, name).with_suffix(NEW).unlink(missing_ok=True)  # of a process that was killed while it wrote
        _lock_path(directory, name).unlink(missing_ok=True)


def _has_ended(path: Path) -> bool:
    lock = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


@contextlib.contextmanager
def _guarded(directory: Path) -> Iterator[None]:
    """One process at a time: a reader between the two steps of a merge would see counters fall."""
    try:
        directory.mkdir(mode=0o750, parents=True, exist_ok=True)
        guard = os.open(directory / GUARD, os.O_CREAT | os.O_RDWR, 0o640)
    except OSError as error:
        raise CountsUnavailable(f"{directory} cannot be written: {error.strerror}") from error
    try:
        give_up_at = time.monotonic() + PATIENCE
        while not _is_taken(guard):
            if time.monotonic() > give_up_at:
                raise CountsUnavailable(f"Another process has held {directory / GUARD} for {PATIENCE} s.")
            time.sleep(0.005)
        yield
    finally:
        fcntl.flock(guard, fcntl.LOCK_UN)  # closing is not enough where the process was forked meanwhile
        os.close(guard)


def _is_taken(guard: int) -> bool:
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _names(directory: Path) -> list[str]:
    return sorted(path.stem for path in directory.glob("*.lock"))


def _path(directory: Path, name: str) -> Path:
    return directory / f"{name}.json"


def _lock_path(directory: Path, name: str) -> Path:
    return directory / f"{name}.lock"


def _read(path: Path) -> Counts:
    """Empty where the file is missing, as before the first write, or damaged, as after a power failure."""
    try:
        return Counts.of_text(path.read_text())
    except FileNotFoundError:
        return Counts()
    except (ValueError, KeyError, TypeError):
        logger.warning("%s is damaged: its counts begin anew.", path)
        return Counts()


def _write(path: Path, counts: Counts) -> None:
    new = path.with_suffix(NEW)
    new.write_text(counts.to_text())
    new.replace(path)
