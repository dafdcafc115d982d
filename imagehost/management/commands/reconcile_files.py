"""manage.py reconcile_files: the nightly job that compares what is booked, the rows and the store."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.management.base import JobCommand, Unfinished
from accounts.models import JobRun
from imagehost import reconciliation
from imagehost.reconciliation import Found

MOST_NAMED = 5  # keys; the log names the others
TURN = timedelta(minutes=5)  # in `run_jobs`: then the other jobs have theirs


class Command(JobCommand):
    help = (
        "Count what users store anew, remove objects that belong to no file for a day, have lost previews made again, "
        "and name the stored files whose object is missing or has another size. No file is ever deleted. "
        "Goes on with a run that was interrupted."
    )

    _is_after_restore = _may_remove_many = False
    _turn: timedelta | None = None

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--all",
            action="store_true",
            help="For after a restore: name missing objects of the last day too, try failed previews once more, and "
            "remove no object.",
        )
        parser.add_argument(
            "--remove-many",
            action="store_true",
            help="Remove objects without a file even where they are more than a quarter of all, as in a bucket that "
            "belongs to another database.",
        )

        parser.add_argument(
            "--minutes",
            type=int,
            metavar="N",
            help="Stop after about N minutes; the next run goes on from there. Without it, a run compares everything.",
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


def _sentences(found: Found) -> list[str]:
    """What needs people comes first: a job's record is short."""
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
