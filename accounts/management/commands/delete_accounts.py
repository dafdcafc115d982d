"""manage.py delete_accounts: the job that deletes the accounts whose owners asked for it a week ago."""

import logging

from django.core.management import CommandError
from django.utils import timezone

from accounts import deletions
from accounts.management.base import JobCommand

logger = logging.getLogger(__name__)


class Command(JobCommand):
    help = "Delete the accounts whose owners asked for it, and whose days of grace are over. Safe at any time."

    def perform(self) -> str:
        now = timezone.now()
        deleted = failed = 0
        for user_id in deletions.due(now):
            self.renew()
            try:
                deleted += deletions.carry_out(user_id, now=now)
            except Exception:  # one account that fails must not keep the others
                failed += 1
                logger.exception("The account %s could not be deleted.", user_id)
        if failed:
            raise CommandError(f"{failed} accounts could not be deleted, {deleted} were; the log says why.")
        return f"Deleted {deleted} accounts."
