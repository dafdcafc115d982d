"""manage.py make_previews: the job that makes thumbnails and posters."""

from datetime import timedelta
from typing import ClassVar

from django.utils import timezone

from accounts.management.base import JobCommand
from imagehost.storing import previews

TURN = timedelta(seconds=30)  # of `run_jobs`, then other jobs run


class Command(JobCommand):
    help = (
        "Make the previews that are due, the longest due first. Stops after 30 seconds; the next run makes the others. "
        "`run_jobs` makes previews as they become due."
    )
    lease_length: ClassVar[timedelta] = timedelta(minutes=5)

    def perform(self) -> str:
        work = previews.make(until=timezone.now() + TURN, after_each=self.renew)
        summary = f"Made {work.made} previews."
        if work.given_up:
            summary += f" {work.given_up} files get none."
        if work.postponed:
            summary += f" {work.postponed} have to be tried again."
        return summary
