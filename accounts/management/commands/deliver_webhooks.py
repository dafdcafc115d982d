"""manage.py deliver_webhooks: the job that delivers webhooks and logouts where no worker of `run_jobs` does."""

from datetime import timedelta

from django.utils import timezone

from accounts.management.base import JobCommand
from accounts.webhooks import delivering

TURN = timedelta(seconds=30)  # then other jobs run


class Command(JobCommand):
    help = (
        "Deliver the webhooks and logouts that are due. Stops after 30 seconds; the next run delivers the others. "
        "`run_jobs` delivers them as they become due."
    )

    def perform(self) -> str:
        if delivering.has_worker():
            return "Left to the worker of this process."
        count = delivering.deliver(until=timezone.now() + TURN, after_each=self.renew)
        return f"Made {count} attempts to deliver."
