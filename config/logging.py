"""Logs: one JSON object a line, without secrets."""

import json
import logging
from typing import Any

from config import outage_log
from config.redaction import redacted


class NotUnavailable(logging.Filter):
    """Leaves out the answers 503: what is missing is logged where it is noticed, not once for each caller."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(record, "status_code", None) != 503


class JsonFormatter(logging.Formatter):
    """Time, level, logger, message and, after an exception, its traceback; of an outage the error alone."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"),
            "level": record.levelname,
            "logger": record.name,
            "message": redacted(record.getMessage()),
        }
        if outage_log.is_outage(record):
            entry["exception"] = redacted(outage_log.in_one_line(record))
        elif record.exc_info:
            entry["exception"] = redacted(self.formatException(record.exc_info))
        return json.dumps(entry)


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "config.logging.JsonFormatter"}},
    "filters": {
        "not_unavailable": {"()": "config.logging.NotUnavailable"},
        "outages": {"()": "config.outage_log.OutageFilter"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["outages"]}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        # What callers do wrong is answered, not logged.
        "django.request": {"level": "ERROR", "filters": ["not_unavailable"]},
        "psycopg.pool": {"level": "ERROR"},  # each request that gets no connection fails, which is logged
        "django.security.DisallowedHost": {"level": "CRITICAL"},  # scanners could fill the disk with it
    },
}
