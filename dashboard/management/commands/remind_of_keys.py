"""manage.py remind_of_keys: the daily job around API keys."""

from datetime import timedelta

from django.utils import timezone

from accounts.api_keys import uses
from accounts.management.base import JobCommand
from dashboard.api_keys import actions as keys_actions

WITHIN = timedelta(days=7)


class Command(JobCommand):
    help = "Write to the owners of API keys that end within a week, and forget how often keys were used long ago."

    def perform(self) -> str:
        now = timezone.now()
        reminded = keys_actions.remind(now, WITHIN)
        deleted = uses.delete_old_days(now, after_batch=self.renew)
        return f"Reminders sent: {reminded}; days of counts deleted: {deleted}."
