"""Logs: one JSON object a line, without secrets."""

import json
import logging
import re
from typing import Any

from config import outage_log

# Names whose values never reach a log line, as `name=value`, `"name": "value"` or `Authorization: Bearer value`.
SECRET = re.compile(
    r"(?i)\b(key|code|code_verifier|client_secret|password|token|access_token|refresh_token|id_token|id_token_hint|"
    r"x-api-key|api_key|api_sig|oauth_client_secret|bot_token|secret)(\"?'?\s*[=:]\s*\"?'?)([^&\s\"',}]+)"
)
CREDENTIALS = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+|\b(bot)\s+[\w-]+\.[\w-]+\.[\w-]+")

# The last part of such a path allows its reader to delete the file.
DELETION_LINK = re.compile(r"(/files/[^/\s]+/delete/)[^\s\"'?]+")


def redacted(line: str) -> str:
    """`line` with the values of secrets replaced."""
    line = DELETION_LINK.sub(r"\1[redacted]", line)
    return CREDENTIALS.sub(r"\1\2 [redacted]", SECRET.sub(r"\1\2[redacted]", line))


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
