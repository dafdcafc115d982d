"""manage.py sweep_uploads: the job that cleans up after crashes and outages during uploads and deletions."""

from datetime import timedelta

from django.core.management import CommandError
from django.utils import timezone

from accounts.management.base import JobCommand
from imagehost.storing import sweeping

TURN = timedelta(minutes=1)  # of `run_jobs`, then other jobs run


class Command(JobCommand):
    help = (
        "Delete expired files, undo uploads that did not end within an hour, finish deletions, quarantines and "
        "restorations that failed at the store, and remove files of interrupted uploads. Stops after a minute; the "
        "next run does the rest."
    )

    def perform(self) -> str:
        now = timezone.now()
        swept = sweeping.sweep(now=now, until=now + TURN, after_each=self.renew)
        summary = (
            f"Took back {swept.uploads} uploads, deleted {swept.expired} expired files, finished {swept.deletions} "
            f"deletions and {swept.moves} moves, "
            f"removed {swept.leftovers} leftovers."
        )
        if swept.failed:
            raise CommandError(f"{summary} The store failed for {swept.failed} deleted, quarantined or restored files.")
        return summary
