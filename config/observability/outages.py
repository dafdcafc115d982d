"""One log line when an outage of a server begins and one when it ends, with counts in between.

Every request fails while Redis or the database is away: a traceback for each would fill the disk and hide other errors.
"""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass

PERIOD = 60.0  # seconds between two counts; an outage has ended after one without an error

# By their names, since logging is set up before the classes can be imported; a test imports them.
SERVERS = {
    "django.db.utils.OperationalError": "the database",
    "django.db.utils.InterfaceError": "the database",
    "psycopg.OperationalError": "the database",
    "psycopg.InterfaceError": "the database",
    "infrastructure.limits.LimitsUnavailable": "Redis",
    "accounts.sign_up.passwords.PasswordsBusy": "the queue of passwords to hash",
    "django_redis.exceptions.ConnectionInterrupted": "Redis",
    "lookup.visits.StoreUnavailable": "Redis",
    "presence.store.caches.StoreUnavailable": "Redis",
    "redis.exceptions.RedisError": "Redis",
    "imagehost.storing.storage.contract.StorageFailed": "the store of the files",
}
NONE = {"imagehost.storing.storage.contract.ObjectMissing"}  # the store answers
# SQLSTATEs with which PostgreSQL starts, ends or takes no more connections. With the rest it answers, as in a deadlock.
AWAY = ("08", "57P", "53300")

logger = logging.getLogger(__name__)


@dataclass
class _Outage:
    """`count`: errors since the last line; `total`: all of them."""

    count: int = 0
    total: int = 1


class OutageFilter(logging.Filter):
    """A filter of a handler: passes the first error of a server and counts the rest, in each process."""

    def __init__(self) -> None:
        super().__init__()
        self._outages: dict[str, _Outage] = {}
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._begin_anew)

    def filter(self, record: logging.LogRecord) -> bool:
        """Decide at the first question about a record, as several handlers may ask."""
        passes: bool | None = getattr(record, "passes_outages", None)
        if passes is None:
            passes = record.passes_outages = self._decide(record)
        return passes

    def _decide(self, record: logging.LogRecord) -> bool:
        server = server_of(_error_of(record))
        if not server:
            return True
        with self._lock:
            outage = self._outages.get(server)
            if outage is None:
                self._outages[server] = _Outage()
                self._look_again(server)
                return True
            outage.count += 1
            outage.total += 1
            return False

    def _look_again(self, server: str) -> None:
        timer = threading.Timer(PERIOD, self._report, (server,))
        timer.daemon = True
        timer.start()

    def _report(self, server: str) -> None:
        with self._lock:
            outage = self._outages[server]
            count, outage.count = outage.count, 0
            if count:
                self._look_again(server)
            else:
                del self._outages[server]
        if count:
            logger.error("%s more errors of %s in the last %.0f s.", count, server, PERIOD)
        else:
            logger.warning("No error of %s for %.0f s, after %s of them.", server, PERIOD, outage.total)

    def _begin_anew(self) -> None:
        """Reset a forked child: it has no timers, and may have copied a held lock."""
        self._outages, self._lock = {}, threading.Lock()


def server_of(error: BaseException | None) -> str:
    """Return the server that is away according to an exception; "" for other exceptions.

    An error that PostgreSQL answers is named with its kind, so that a deadlock and an outage do not hide each other.
    """
    names = [f"{each.__module__}.{each.__qualname__}" for each in type(error).__mro__]
    if error is None or NONE.intersection(names):
        return ""
    if getattr(error.__cause__, "sqlite_errorname", "") == "SQLITE_ERROR":
        return ""  # wrong SQL, an error of ours, whose class is that of a database which is busy or away
    server = next((SERVERS[name] for name in names if name in SERVERS), "")
    cause, answered = error.__cause__ or error, ""
    if type(cause).__name__ == "OutOfMemoryError" or str(cause).startswith("OOM "):  # of Redis: maxmemory is reached
        answered = "full"
    elif (state := getattr(cause, "sqlstate", None) or "") and not state.startswith(AWAY):
        answered = type(cause).__name__
    return f"{server} ({answered})" if server and answered else server


def in_one_line(record: logging.LogRecord) -> str:
    """Return the record's exception and its causes, without tracebacks."""
    causes, error = [], _error_of(record)
    while error is not None:
        causes.append(f"{type(error).__name__}: {error}".replace("\n", " ").removesuffix(": "))
        error = error.__cause__
    return ", caused by ".join(causes)


def is_outage(record: logging.LogRecord) -> bool:
    return bool(server_of(_error_of(record)))


def _error_of(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None
