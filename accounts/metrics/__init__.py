"""The metrics that the service counts, for `config.observability.metrics`: counters, histograms and gauges.

Each app defines the metrics of its own events. A label holds one of few values: never a user, a key, an app or an
address. Nothing is counted unless METRICS_TOKEN is set. Events wait in memory, and a thread adds them up within two
seconds, so an event costs a request no lock and no write.
"""

from __future__ import annotations

import abc
import os
from bisect import bisect_left
from dataclasses import dataclass
from typing import ClassVar

from django.conf import settings

from accounts.kept_settings import from_settings
from accounts.metrics import metric_files
from accounts.metrics.metric_files import Cells, Counts, ProcessFile
from accounts.write_behind import WriteBehindBuffer

MOST_EVENTS = 200_000  # in memory: two seconds' worth of any load
METRICS: dict[str, Metric] = {}  # by name


@from_settings
def is_on() -> bool:
    """Whether anything is counted."""
    return bool(settings.METRICS_TOKEN)


@dataclass(frozen=True, eq=False)
class Metric(abc.ABC):
    """`name` as Prometheus has it, `labels` by name."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    is_total: ClassVar[bool] = True

    def __post_init__(self) -> None:
        METRICS[self.name] = self

    def note(self, labels: tuple[str, ...], value: float) -> None:
        if is_on():
            buffer.note((self, labels, value))

    @abc.abstractmethod
    def add(self, cells: Cells, labels: tuple[str, ...], value: float) -> None:
        """Add one event to the cell of its labels."""


class Counter(Metric):
    """How often something happened, or how much of it. Its cell: the sum."""

    def count(self, *labels: str, amount: float = 1) -> None:
        self.note(labels, amount)

    def add(self, cells: Cells, labels: tuple[str, ...], value: float) -> None:
        cell = cells.setdefault((self.name, labels), [0])
        cell[0] += value


@dataclass(frozen=True, eq=False)
class Histogram(Metric):
    """How large values were. Its cell: their sum, their number in each bucket, and their number above the last one."""

    buckets: tuple[float, ...] = ()

    def add(self, cells: Cells, labels: tuple[str, ...], value: float) -> None:
        cell = cells.get((self.name, labels))
        if cell is None:
            cell = cells[self.name, labels] = [0] * (len(self.buckets) + 2)
        cell[0] += value
        cell[1 + bisect_left(self.buckets, value)] += 1


class Gauge(Metric):
    """A number of this process as it is now. Its cell: the number."""

    is_total = False

    def set(self, value: float, *labels: str) -> None:
        self.note(labels, value)

    def add(self, cells: Cells, labels: tuple[str, ...], value: float) -> None:
        cells[self.name, labels] = [value]


Event = tuple[Metric, tuple[str, ...], float]


class _Process:
    """The counts of this process, and its file from the first write on."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.file: ProcessFile | None = None

    def store(self, events: list[Event]) -> None:
        """CountsUnavailable, OSError: the next call writes what this one did not."""
        for metric, labels, value in events:
            metric.add(self.counts.totals if metric.is_total else self.counts.gauges, labels, value)
        if self.file is None:
            self.file = ProcessFile(settings.METRICS_DIR)
        self.file.save(self.counts)

    def begin(self) -> None:
        """Start empty, as a forked process does."""
        if self.file is not None:
            self.file.close()
        self.counts, self.file = Counts(), None


_process = _Process()
os.register_at_fork(after_in_child=_process.begin)
buffer: WriteBehindBuffer[Event] = WriteBehindBuffer("metrics", _process.store, limit=MOST_EVENTS)


def collected() -> tuple[Counts, int]:
    """The sums of every process of this host, with the last event of this one, and how many processes count.

    CountsUnavailable, OSError.
    """
    buffer.write()
    return metric_files.read(settings.METRICS_DIR)


def forget() -> None:
    """Drop what this process has counted, for tests."""
    buffer.clear()
    _process.begin()
