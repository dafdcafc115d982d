"""manage.py reconcile_files: the nightly job that compares what is booked, the rows and the store."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from accounts.management.base import JobCommand
from accounts.models import JobRun
from imagehost import reconciliation
from imagehost.reconciliation import Found

MOST_NAMED = 5  # keys; the log names the others


class Command(JobCommand):
    help = (
        "Count what users store anew, remove objects that belong to no file for a day, have lost previews made again, "
        "and name the stored files whose object is missing or has another size. No file is ever deleted."
    )

    _is_after_restore = _may_remove_many = False

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

    def handle(self, *args: Any, seen: JobRun | None = None, **options: Any) -> str:
        self._is_after_restore, self._may_remove_many = options["all"], options["remove_many"]
        return super().handle(*args, seen=seen, **options)

    def perform(self) -> str:
        found = reconciliation.reconcile(
            now=timezone.now(),
            is_after_restore=self._is_after_restore,
            may_remove_many=self._may_remove_many,
            after_batch=self.renew,
        )
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
