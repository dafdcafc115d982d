"""manage.py delete_accounts: the job that deletes the accounts whose owners asked for it a week ago, and accounts whose
address was never confirmed."""

import logging

from django.core.management import CommandError
from django.utils import timezone

from accounts import deletions
from accounts.management.base import JobCommand

logger = logging.getLogger(__name__)


class Command(JobCommand):
    help = (
        "Delete the accounts whose owners asked for it, and whose days of grace are over, and those whose address was "
        "not confirmed within three days. Safe at any time."
    )

    def perform(self) -> str:
        now = timezone.now()
        deleted = failed = 0
        asked = [(deletions.carry_out, user_id) for user_id in deletions.due(now)]
        unconfirmed = deletions.unconfirmed(now).order_by("created_at", "pk").values_list("pk", flat=True)
        for delete, user_id in [*asked, *((deletions.delete_unconfirmed, user_id) for user_id in unconfirmed)]:
            self.renew()
            try:
                deleted += delete(user_id, now=now)
            except Exception:  # one account that fails must not keep the rest
                failed += 1
                logger.exception("The account %s could not be deleted.", user_id)
        if failed:
            raise CommandError(f"{failed} accounts could not be deleted, {deleted} were; the log says why.")
        return f"Deleted {deleted} accounts."
