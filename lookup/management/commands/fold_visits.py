"""manage.py fold_visits: a periodic job."""

from django.utils import timezone

from accounts.management.base import JobCommand
from lookup import visits


class Command(JobCommand):
    help = "Brings counted views and clicks to the database, and deletes what is left of visitors after a day."

    def perform(self) -> str:
        folded = visits.fold(timezone.now(), after_batch=self.renew)
        return f"Added {folded.views} views and {folded.clicks} clicks."
