"""manage.py mark_inactive: the job that updates the flag of inactive accounts, which lookups show."""

from datetime import timedelta

from django.utils import timezone

from accounts.management.base import JobCommand
from accounts.models import User

AFTER = timedelta(days=365)


class Command(JobCommand):
    help = "Mark accounts that have not signed in for a year as inactive, and those that have as active again."

    def perform(self) -> str:
        since = timezone.now() - AFTER
        inactive = User.objects.filter(is_inactive=False, last_login__lt=since).update(is_inactive=True)
        back = User.objects.filter(is_inactive=True, last_login__gte=since).update(is_inactive=False)
        return f"{inactive} accounts became inactive, {back} active."
