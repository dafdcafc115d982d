"""The lease of a periodic job: one runner at a time, wherever it runs.

A lease is a conditional UPDATE of the job's row, so it works on every database and behind a connection pooler. It
expires at a time that the row holds, so another runner can take over the lease of a crashed one.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connections
from django.db.models import F
from django.db.models.expressions import CombinedExpression
from django.utils import timezone

from accounts.models import JobRun
from accounts.models.jobs import JobRunQuerySet

TEXT_LENGTH = 500
# What a library may put into its error: a password inside a URL, and long words that look like keys or tokens.
_URL_PASSWORD = re.compile(r"(://[^/\s:@]*):[^/\s@]*@")
_LONG_WORD = re.compile(r"[\w+/=.-]{24,}")


class LeaseLost(Exception):
    """The lease expired and another runner has it: stop, or the job runs twice concurrently."""


@dataclass(frozen=True)
class Lease:
    """The right to run the job `name`. `holder` is unique to this run."""

    name: str
    holder: str
    taken_at: datetime


def new_holder() -> str:
    """Return the name of a run: host, process id and a random part."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(8)}"


def plant(names: Iterable[str]) -> None:
    """Create the missing rows of these jobs."""
    now = timezone.now()
    JobRun.objects.bulk_create([JobRun(name=name, created_at=now) for name in names], ignore_conflicts=True)


def take(*, name: str, length: timedelta, by: str, seen: JobRun | None = None) -> Lease | None:
    """Return the lease of the job for `length`, held by `by`; None while another runner holds it.

    `seen`: the row that the caller decided on. None too where a run has been started since: of two runners that find a
    job due, the slower one would otherwise do it again.
    """
    now = timezone.now()
    lease = {"lease_ends_at": now + length, "leased_by": by, "started_at": now}
    rows = JobRun.objects.filter(pk=name).free(now, length)
    if seen is not None:
        rows = rows.filter(started_at=seen.started_at)
    if not rows.update(**lease):
        plant([name])
        if not rows.update(**lease):
            return None
    return Lease(name, by, now)


def renew(*, lease: Lease, length: timedelta) -> None:
    """Hold the lease for `length` from now. LeaseLost where another runner has it."""
    if not _held(lease).update(lease_ends_at=timezone.now() + length):
        raise LeaseLost(f"Another runner has taken over {lease.name}.")


def succeed(*, lease: Lease, message: str) -> None:
    """Record a success and release the lease. LeaseLost where another runner has it: nothing is recorded."""
    if not _end(lease, succeeded_at=timezone.now(), message=message[:TEXT_LENGTH], last_error="", failures=0):
        raise LeaseLost(f"{lease.name} took longer than its lease, and another runner has taken it over.")


def put_off(*, lease: Lease, message: str) -> None:
    """Release the lease, so that the next run continues. Neither a success nor a failure is recorded."""
    if not _end(lease, message=message[:TEXT_LENGTH], last_error=""):
        raise LeaseLost(f"{lease.name} took longer than its lease, and another runner has taken it over.")


def fail(*, lease: Lease, error: BaseException) -> None:
    """Record a failure and release the lease; where another runner has it, change nothing."""
    let_go_of_connections()  # the error may have been the end of one
    counted = int(isinstance(error, Exception))  # a job that was stopped did not fail
    _end(lease, failed_at=timezone.now(), last_error=described(error), failures=F("failures") + counted)


def let_go_of_connections() -> None:
    """Run Django's `close_old_connections`, which keeps connections that are inside a transaction."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()


def close_connections() -> None:
    """Close this thread's connections, except inside a transaction."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def described(error: BaseException) -> str:
    """Return type and first line, at most TEXT_LENGTH characters. Further lines may hold a database's row."""
    line = next(iter(str(error).splitlines()), "")
    line = _LONG_WORD.sub(_without_key, _URL_PASSWORD.sub(r"\1:[redacted]@", line))
    return f"{type(error).__name__}: {line}".removesuffix(": ")[:TEXT_LENGTH]


def _without_key(word: re.Match[str]) -> str:
    """Return the word, or a mask where it has a digit, as keys and tokens have."""
    return "[redacted]" if any(map(str.isdecimal, word[0])) else word[0]


def _held(lease: Lease) -> JobRunQuerySet:
    return JobRun.objects.filter(pk=lease.name, leased_by=lease.holder)


def _end(lease: Lease, **outcome: datetime | str | int | CombinedExpression) -> bool:
    """End the run. Return whether the row was still this run's."""
    duration_ms = max((timezone.now() - lease.taken_at) // timedelta(milliseconds=1), 0)
    return bool(_held(lease).update(lease_ends_at=None, duration_ms=duration_ms, **outcome))
