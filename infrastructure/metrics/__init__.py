"""The metrics that the service counts, by `prometheus_client` in its multiprocess mode, and who may read them.

Each app defines the metrics of its own events. A label holds one of few values: never a user, a key, an app or an
address. Without METRICS_TOKEN nothing is written.
"""

from __future__ import annotations

import secrets

from django.conf import settings
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.registry import Collector

from infrastructure.settings_cache import from_settings

CONTENT_TYPE = CONTENT_TYPE_LATEST


@from_settings
def is_on() -> bool:
    """Return whether METRICS_TOKEN is set."""
    return bool(settings.METRICS_TOKEN)


def is_authorized(header: str) -> bool:
    """Return whether `Authorization` bears a token of METRICS_TOKEN, which is set.

    Compared in constant time with each token: while one takes the place of another, both are right.
    """
    scheme, _, token = header.partition(" ")
    known = [word.strip() for word in settings.METRICS_TOKEN.split(",") if word.strip()]
    matches = [secrets.compare_digest(token.strip().encode(), word.encode()) for word in known]
    return any(matches) and scheme.lower() == "bearer"


def text(*collectors: Collector) -> bytes:
    """Return the answer to a scrape, of type CONTENT_TYPE."""
    registry = CollectorRegistry(auto_describe=False)
    for collector in collectors:
        registry.register(collector)
    return generate_latest(registry)
