"""GET /metrics: what the processes of this host have counted, and the state of the service, for Prometheus."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable, Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from accounts import metrics as counted
from accounts.metric_files import Cells, CountsUnavailable
from accounts.metrics import METRICS, Counter, Histogram
from config import service_state, views
from config.service_state import Family, Samples

logger = logging.getLogger(__name__)

PROCESSES = Family("hearth_processes", "Processes of this host that have counted something and run.")


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """404 without METRICS_TOKEN, 401 without its value in the header; 503 where the counts cannot be read.

    It takes at most three seconds. What the database or Redis would have said is left out where they are away.
    """
    if not settings.METRICS_TOKEN:
        return views.not_found(request)
    if not _is_authorized(request):
        return _text("A bearer token is required.\n", status=401, headers={"WWW-Authenticate": "Bearer"})
    try:
        counts, processes = counted.collected()
    except (CountsUnavailable, OSError) as error:
        logger.error("The counts of the processes cannot be read: %s", error)
        return _text("The counts cannot be read: see the log.\n", status=503)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Found([*_counted({**counts.totals, **counts.gauges}), *_state(processes)]))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _is_authorized(request: HttpRequest) -> bool:
    """Compared in constant time with each token: while one takes the place of another, both are right."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    known = [word.strip() for word in settings.METRICS_TOKEN.split(",") if word.strip()]
    matches = [secrets.compare_digest(token.strip().encode(), word.encode()) for word in known]
    return any(matches) and scheme.lower() == "bearer"


def _text(sentence: str, *, status: int, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(sentence, status=status, content_type="text/plain; charset=utf-8", headers=headers)


class _Found(Collector):
    """What this scrape has found."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _counted(cells: Cells) -> Iterator[Metric]:
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
        yield _family(metric, samples, is_counter=isinstance(metric, Counter))


def _cumulated(metric: Histogram, numbers: list[float]) -> list[tuple[str, float]]:
    """Prometheus' buckets: each holds those below it."""
    bounds = [*(str(float(bound)) for bound in metric.buckets), "+Inf"]
    return [(bound, sum(numbers[: place + 1])) for place, bound in enumerate(bounds)]


def _state(processes: int) -> Iterator[Metric]:
    yield _family(PROCESSES, [((), float(processes))])
    for family, samples in service_state.read():
        yield _family(family, samples, is_counter=family.only_grows)


def _family(about: Family | counted.Metric, samples: Samples, *, is_counter: bool = False) -> Metric:
    if is_counter:
        counter = CounterMetricFamily(about.name, about.help, labels=about.labels)
        for labels, value in samples:
            counter.add_metric(labels, value)
        return counter
    gauge = GaugeMetricFamily(about.name, about.help, labels=about.labels)
    for labels, value in samples:
        gauge.add_metric(labels, value)
    return gauge
