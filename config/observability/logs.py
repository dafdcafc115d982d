"""Logs: one JSON object a line, without secrets."""

import json
import logging
import time
from typing import Any

from config.observability import outages
from config.observability.redaction import redacted
from infrastructure.requests import request_context


def timestamp(seconds: float) -> str:
    """Format UNIX seconds in UTC, to the millisecond."""
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{int(seconds % 1 * 1000):03d}Z"


class NotUnavailable(logging.Filter):
    """Drops answers 503: an outage is logged where it is noticed, not once for each caller."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(record, "status_code", None) != 503


class JsonFormatter(logging.Formatter):
    """Time, level, logger, message, id of the request or job run, and traceback. An outage has no traceback."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": timestamp(record.created),
            "level": record.levelname,
            "logger": record.name,
            "message": redacted(record.getMessage()),
            **_ids(),
        }
        if outages.is_outage(record):
            entry["exception"] = redacted(outages.in_one_line(record))
        elif record.exc_info:
            entry["exception"] = redacted(self.formatException(record.exc_info))
        return json.dumps(entry)


def _ids() -> dict[str, str]:
    """Return the ids of the request or job run of this thread."""
    context = request_context.current.get()
    if context is None:
        return {}
    ids = {"job": context.job, "run_id": context.request_id} if context.job else {"request_id": context.request_id}
    return ids | ({"trace_id": context.traceparent.split("-")[1]} if context.traceparent else {})


def options(*, with_sentry: bool = False) -> dict[str, Any]:
    """Return LOGGING of the settings."""
    handlers: dict[str, Any] = {
        "stderr": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["outages"]},
        "access": {"class": "logging.StreamHandler", "formatter": "plain"},  # its lines are JSON already
    }
    if with_sentry:
        handlers["sentry"] = {
            "class": "sentry_sdk.integrations.logging.EventHandler",
            "level": "ERROR",
            "filters": ["outages"],
        }
    used = [name for name in handlers if name != "access"]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "config.observability.logs.JsonFormatter"}, "plain": {"format": "%(message)s"}},
        "filters": {
            "not_unavailable": {"()": "config.observability.logs.NotUnavailable"},
            "outages": {"()": "config.observability.outages.OutageFilter"},
        },
        "handlers": handlers,
        "root": {"handlers": used, "level": "WARNING"},
        "loggers": {
            "access": {"handlers": ["access"], "level": "INFO", "propagate": False},
            "django": {"handlers": used, "level": "WARNING", "propagate": False},
            # Client errors are answered, not logged.
            "django.request": {"level": "ERROR", "filters": ["not_unavailable"]},
            "opentelemetry": {"level": "ERROR"},  # not each try to reach a collector that is away
            "psycopg.pool": {"level": "ERROR"},  # each request that gets no connection fails, which is logged
            "django.security.DisallowedHost": {"level": "CRITICAL"},  # scanners could fill the disk with it
        },
    }
