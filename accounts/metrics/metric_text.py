"""The text of metrics for Prometheus, and its authorization. `accounts.metrics` counts."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import Protocol

from django.conf import settings
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from accounts.metrics import METRICS, Counter, Histogram
from accounts.metrics.metric_files import Cells

CONTENT_TYPE = CONTENT_TYPE_LATEST
Samples = list[tuple[tuple[str, ...], float]]  # values of the labels, value


class About(Protocol):
    """What a metric is called."""

    @property
    def name(self) -> str: ...

    @property
    def help(self) -> str: ...

    @property
    def labels(self) -> tuple[str, ...]: ...


def is_authorized(header: str) -> bool:
    """Whether `Authorization` bears a token of METRICS_TOKEN, which is set.

    Compared in constant time with each token: while one takes the place of another, both are right.
    """
    scheme, _, token = header.partition(" ")
    known = [word.strip() for word in settings.METRICS_TOKEN.split(",") if word.strip()]
    matches = [secrets.compare_digest(token.strip().encode(), word.encode()) for word in known]
    return any(matches) and scheme.lower() == "bearer"


def text(families: Iterable[Metric]) -> bytes:
    """The answer to a scrape, of type CONTENT_TYPE."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Found(families))
    return generate_latest(registry)


class _Found(Collector):
    """What this scrape has found."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def counted(cells: Cells) -> Iterator[Metric]:
    """Every metric that the apps define, also without an event; cells of earlier releases are left out."""
    for metric in METRICS.values():
        rows = [
            (labels, values)
            for (name, labels), values in sorted(cells.items())
            if name == metric.name and len(labels) == len(metric.labels)
        ]
        if isinstance(metric, Histogram):
            histogram = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
            for labels, (total, *numbers) in rows:
                if len(numbers) == len(metric.buckets) + 1:  # an earlier release may have had others
                    histogram.add_metric(labels, _cumulated(metric, numbers), total)
            yield histogram
            continue
        samples = [(labels, value) for labels, (value,) in rows]
        yield family(metric, samples, is_counter=isinstance(metric, Counter))


def _cumulated(metric: Histogram, numbers: list[float]) -> list[tuple[str, float]]:
    """Prometheus' buckets: each holds those below it."""
    bounds = [*(str(float(bound)) for bound in metric.buckets), "+Inf"]
    return [(bound, sum(numbers[: place + 1])) for place, bound in enumerate(bounds)]


def family(about: About, samples: Samples, *, is_counter: bool = False) -> Metric:
    """A counter or a gauge with its samples."""
    if is_counter:
        counter = CounterMetricFamily(about.name, about.help, labels=about.labels)
        for labels, value in samples:
            counter.add_metric(labels, value)
        return counter
    gauge = GaugeMetricFamily(about.name, about.help, labels=about.labels)
    for labels, value in samples:
        gauge.add_metric(labels, value)
    return gauge
