"""The files in which `prometheus_client` keeps the values of each process, in METRICS_DIR.

The library names a file after the process id, so each host, or container with process ids of its own, has a folder
there. What ended processes have counted is added up in two files, as `MultiProcessCollector.merge` provides for:
counters never fall, and the directory does not grow with the number of processes that ever ran.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from prometheus_client.core import Metric
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

logger = logging.getLogger(__name__)

LOCK_SECONDS = 5
ELSEWHERE_SECONDS = 24 * 3600.0  # without a write, after which a process of another container has ended
KINDS = ("counter", "histogram")  # which outlive their process; a gauge ends with it
# Bytes that a process takes at once: to write to a map without a place on the disk ends the process where that is full.
SIZES = {"counter": 1 << 16, "gauge_livesum": 1 << 16, "histogram": 1 << 20}
_DAMAGES = (RuntimeError, ValueError, struct.error)  # that the library raises for a file of before a power failure


class ProcessCollector(Collector):
    """What all processes of this host have counted, read when it is made. OSError.

    `running`: how many of them run and have metrics.
    """

    def __init__(self, directory: Path) -> None:
        with _locked(directory):
            _add_up_ended(directory, has_begun=True)
            files = _files(directory)
            self._families: Iterable[Metric] = MultiProcessCollector.merge(map(str, [*files, *directory.glob("*.db")]))
        self.running = len({(path.parent, _process_id(path)) for path in files if _has_values(path)})

    def collect(self) -> Iterable[Metric]:
        return self._families


def begin(directory: Path) -> Path:
    """Return the folder for the files of this process, which has just begun. OSError where it cannot be written."""
    folder = directory / socket.gethostname()
    directory.mkdir(mode=0o750, parents=True, exist_ok=True)
    with _locked(directory):
        _add_up_ended(directory, has_begun=False)
        folder.mkdir(mode=0o750, exist_ok=True)
        if os.geteuid() == 0:  # commands of root must not lock the service's user out
            owner = directory.stat()
            for path in (folder, directory / "guard"):
                os.chown(path, owner.st_uid, owner.st_gid)
        for kind, size in SIZES.items():
            (folder / f"{kind}_{os.getpid()}.db").write_bytes(bytes(size))
    return folder


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Let one process at a time in: between the two steps of adding up, counters are too large for a reader."""
    with (directory / "guard").open("a") as guard:
        _lock(guard)
        try:
            yield
        finally:
            fcntl.flock(guard, fcntl.LOCK_UN)  # closing is not enough where the process has been forked


def _lock(guard: IO[str]) -> None:
    """Lock the file. TimeoutError: another process, which may have been stopped, has had it for LOCK_SECONDS."""
    give_up_at = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up_at:
                raise TimeoutError("another process holds the lock") from None
            time.sleep(0.01)


def _add_up_ended(directory: Path, *, has_begun: bool) -> None:
    """Add counters and histograms of ended processes to one file of each kind; remove their files and empty folders.

    `has_begun`: this process has files. Otherwise files of its id are an earlier process's.
    """
    ended = [path for path in _files(directory) if _has_ended(path, has_begun=has_begun)]
    for kind in KINDS:
        files = [path for path in ended if path.name.startswith(kind)]
        if not files:
            continue
        sums = directory / f"{kind}_ended.db"
        files += [sums] if sums.exists() else []
        try:
            _write(sums, files)
        except _DAMAGES:
            _write(sums, [path for path in files if _is_whole(path)])
    for path in ended:
        path.unlink()
    for folder in {path.parent for path in ended}:
        with contextlib.suppress(OSError):  # other processes have files there
            folder.rmdir()


def _write(path: Path, files: list[Path]) -> None:
    """Replace `path` by the sums of `files`."""
    families = MultiProcessCollector.merge(map(str, files), accumulate=False)
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    with contextlib.closing(MmapedDict(str(new))) as written:
        for family in families:
            for sample in family.samples:
                names, labels = list(sample.labels), list(sample.labels.values())
                key = mmap_key(family.name, sample.name, names, labels, family.documentation)
                written.write_value(key, sample.value, 0)
    new.replace(path)


def _has_ended(path: Path, *, has_begun: bool) -> bool:
    """Return whether the process of a file has ended. While another program has its id, the file is kept."""
    if path.parent.name != socket.gethostname():
        return time.time() - path.stat().st_mtime > ELSEWHERE_SECONDS
    number = int(_process_id(path))
    if number == os.getpid():
        return not has_begun
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _is_whole(path: Path) -> bool:
    """Return whether the file can be read. The log names a damaged one."""
    try:
        MultiProcessCollector.merge([str(path)])
    except _DAMAGES:
        logger.warning("%s is damaged: its counts begin again.", path)
        return False
    return True


def _has_values(path: Path) -> bool:
    """Return whether a process has values. The file of a server that only starts workers is all zeros."""
    with path.open("rb") as file:
        return any(file.read(4))


def _files(directory: Path) -> list[Path]:
    """Return the files of single processes."""
    return sorted(directory.glob("*/*.db"))


def _process_id(path: Path) -> str:
    return path.stem.rpartition("_")[2]
