"""manage.py reconcile_files: the nightly job that compares booked bytes, rows and stored objects."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.management.base import JobCommand, Unfinished
from accounts.models import JobRun
from imagehost.storing import reconciliation
from imagehost.storing.reconciliation import Comparison

MOST_NAMED = 5  # keys; the log has the rest
TURN = timedelta(minutes=5)  # of `run_jobs`, then other jobs run


class Command(JobCommand):
    help = (
        "Recount the storage of users, remove objects that have belonged to no file for a day, queue lost previews "
        "again, and list stored files whose object is missing or has another size. Never deletes a file. Continues an "
        "interrupted run."
    )

    _is_after_restore = _may_remove_many = False
    _turn: timedelta | None = None

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--all",
            action="store_true",
            help="After a restore: list missing objects of the last day too, retry failed previews, remove no object.",
        )
        parser.add_argument(
            "--remove-many",
            action="store_true",
            help="Remove objects without a file even if they are more than a quarter of all, as in a bucket of another "
            "database.",
        )

        parser.add_argument(
            "--minutes",
            type=int,
            metavar="N",
            help="Stop after about N minutes; the next run continues. Default: compare everything.",
        )

    def handle(self, *args: Any, seen: JobRun | None = None, **options: Any) -> str:
        minutes = options["minutes"]
        self._turn = timedelta(minutes=minutes) if minutes else TURN if seen is not None else None
        self._is_after_restore, self._may_remove_many = options["all"], options["remove_many"]
        return super().handle(*args, seen=seen, **options)

    def perform(self) -> str:
        now = timezone.now()
        found = reconciliation.reconcile(
            now=now,
            until=now + self._turn if self._turn else None,
            is_after_restore=self._is_after_restore,
            may_remove_many=self._may_remove_many,
            after_batch=self.renew,
        )
        if not found.is_finished:
            raise Unfinished(f"Compared {found.objects} objects so far; the next run goes on.")
        return " ".join(_sentences(found))


def _sentences(found: Comparison) -> list[str]:
    """Return the sentences, first those that need a decision: a job's record is cut to a short text."""
    lines = []
    if found.missing:
        lines.append(f"MISSING: {_named(found.missing)} of stored files.")
    if found.damaged:
        lines.append(f"DAMAGED: {_named(found.damaged)} of stored files.")
    if found.is_suspicious:
        lines.append(
            f"{found.left} of {found.objects} objects have no file: if this is the right bucket, say --remove-many."
        )
    elif found.spared:
        lines.append(
            f"{found.spared} objects have no file, perhaps uploads after the backup: copy what you want to keep, since "
            "the next run without --all removes them."
        )
    elif found.left:
        lines.append(f"{found.left} objects without a file could not be removed.")
    lines.append(
        f"Compared {found.objects} objects, removed {found.removed}, corrected the usage of {found.recounted} users, "
        f"{found.remade} previews are to be made again."
    )
    return lines


def _named(keys: list[str]) -> str:
    more = f" and {len(keys) - MOST_NAMED} more" if len(keys) > MOST_NAMED else ""
    return f"{len(keys)} objects ({', '.join(keys[:MOST_NAMED])}{more})"
