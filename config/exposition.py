"""GET /metrics: what the processes of this host have counted, and the state of the service, for Prometheus."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.core import Metric

from accounts import metrics as counted
from accounts.metrics import metric_text
from accounts.metrics.metric_files import CountsUnavailable
from config import service_state, views
from config.service_state import Family

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
    if not metric_text.is_authorized(request.headers.get("Authorization", "")):
        return _text("A bearer token is required.\n", status=401, headers={"WWW-Authenticate": "Bearer"})
    try:
        counts, processes = counted.collected()
    except (CountsUnavailable, OSError) as error:
        logger.error("The counts of the processes cannot be read: %s", error)
        return _text("The counts cannot be read: see the log.\n", status=503)
    families = [*metric_text.counted({**counts.totals, **counts.gauges}), *_state(processes)]
    return HttpResponse(metric_text.text(families), content_type=metric_text.CONTENT_TYPE)


def _text(sentence: str, *, status: int, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(sentence, status=status, content_type="text/plain; charset=utf-8", headers=headers)


def _state(processes: int) -> Iterator[Metric]:
    yield metric_text.family(PROCESSES, [((), float(processes))])
    for family, samples in service_state.read():
        yield metric_text.family(family, samples, is_counter=family.only_grows)
