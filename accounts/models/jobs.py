"""Periodic jobs: the lease of the present run, and the outcome of the last ones."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

CLOCKS_MAY_DIFFER = timedelta(minutes=1)  # of two machines
LEASE = timedelta(minutes=10)  # of a job that names no length, and no job names a longer one


class JobRunQuerySet(models.QuerySet["JobRun"]):
    def free(self, now: datetime, length: timedelta) -> JobRunQuerySet:
        """Return jobs whose lease of this `length` is free at `now`; a crashed runner's lease expires.

        A lease that ends later than `length` allows was taken by a wrong clock, and counts as free.
        """
        latest = _latest_end(now, length)
        return self.filter(Q(lease_ends_at__isnull=True) | Q(lease_ends_at__lte=now) | Q(lease_ends_at__gt=latest))


def _latest_end(now: datetime, length: timedelta) -> datetime:
    """Return the latest end that a lease of this `length` can have."""
    return now + 2 * length + CLOCKS_MAY_DIFFER


class JobRun(models.Model):
    """One row for each job, made at the first look-up, for `accounts.jobs` and the job `report_jobs`."""

    name = models.CharField(max_length=64, primary_key=True, help_text="The command that does it.")
    created_at = models.DateTimeField(
        default=timezone.now, help_text="Until its first success, lateness counts from here."
    )

    lease_ends_at = models.DateTimeField(null=True, blank=True, help_text="Empty: no process runs it.")
    leased_by = models.CharField(
        max_length=80, blank=True, help_text="Who runs it, or ran it last: one name for each run."
    )

    started_at = models.DateTimeField(null=True, blank=True)
    succeeded_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    duration_ms = models.PositiveIntegerField(null=True, blank=True, help_text="Of the last run that ended.")
    message = models.CharField(max_length=500, blank=True, help_text="What the last success did.")
    last_error = models.CharField(max_length=500, blank=True, help_text="Empty again after a success.")

    failures = models.PositiveIntegerField(default=0, db_default=0, help_text="In a row; 0 after a success.")
    is_reported = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Operators know by email that it fails or is late, and not yet more.",
    )
    reported_at = models.DateTimeField(null=True, blank=True, help_text="When the last email said so.")

    objects = JobRunQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    def held_until(self, now: datetime) -> datetime | None:
        """Return the end of the present run's lease; None where it is over, or a clock that was ahead took it."""
        end = self.lease_ends_at
        return end if end is not None and now < end <= _latest_end(now, LEASE) else None

    def is_running(self, now: datetime) -> bool:
        return self.held_until(now) is not None

    def last_success(self, now: datetime) -> datetime | None:
        """Return when it succeeded last; None where it never did, or a clock that was ahead says when."""
        is_known = self.succeeded_at is not None and self.succeeded_at <= now + CLOCKS_MAY_DIFFER
        return self.succeeded_at if is_known else None

    def has_succeeded(self, now: datetime) -> bool:
        """Return whether the last run that was started came to its good end."""
        success = self.last_success(now)
        return self.started_at is not None and success is not None and success >= self.started_at
