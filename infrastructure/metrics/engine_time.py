"""How long PostgreSQL, SQLite and Redis take to answer: a metric, and a part of each trace. Measured only while one of
them is on.

Not measured: connecting to Redis, and COMMIT, for which Django has no hook.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from time import perf_counter
from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from prometheus_client import Histogram

from infrastructure import metrics
from infrastructure.settings_cache import from_settings

READ, WRITE, OTHER = "read", "write", "other"  # calls of a database
COMMAND, PIPELINE, SCRIPT = "command", "pipeline", "script"  # calls of Redis
REDIS = "redis"
SECONDS = Histogram(
    "hearth_engine_seconds",
    "Seconds that a call to the database or to Redis took.",
    ("engine", "call"),
    buckets=(0.0002, 0.001, 0.005, 0.025, 0.1, 0.5, 2),
)
_series = functools.cache(SECONDS.labels)  # the library takes as long to find one as to count
_CALLS = {"SELECT": READ, "INSERT": WRITE, "UPDATE": WRITE, "DELETE": WRITE}
_SCRIPTS = {"EVAL", "EVALSHA"}

Record = Callable[[str, str, float], None]  # engine, call, seconds until now
recorders: list[Record] = []  # of `config.observability.tracing`


@from_settings
def is_on() -> bool:
    """Return whether anything is measured."""
    return bool(settings.METRICS_TOKEN or settings.TRACES_ENDPOINT)


def note(engine: str, call: str, began_at: float) -> None:
    """Note the end of a call that began when `perf_counter` said `began_at`."""
    seconds = perf_counter() - began_at
    if metrics.is_on():
        _series(engine, call).observe(seconds)
    for record in recorders:
        record(engine, call, seconds)


def kind_of_command(name: object) -> str:
    """Return the call that one command of Redis is."""
    return SCRIPT if name in _SCRIPTS else COMMAND


def timed(execute: Callable[..., Any], sql: str, params: Any, many: Any, context: dict[str, Any]) -> Any:
    """Time a statement, as a wrapper of Django's cursors (`execute_wrappers`)."""
    began_at = perf_counter()
    try:
        return execute(sql, params, many, context)
    finally:
        note(context["connection"].vendor, _CALLS.get(str(sql)[:6].upper(), OTHER), began_at)


def watch(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Wrap the connection's statements, as a receiver of Django's `connection_created`."""
    is_watched = timed in connection.execute_wrappers
    if is_on() and not is_watched:
        connection.execute_wrappers.append(timed)
    elif is_watched and not is_on():
        connection.execute_wrappers.remove(timed)


OWN_WRAPPERS: tuple[list[Any], ...] = ([], [timed])  # of a connection whose statements nothing but this module wraps
