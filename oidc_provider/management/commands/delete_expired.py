"""manage.py delete_expired: the sign-in provider's clean-up job."""

from django.core.management import call_command
from django.utils import timezone

from accounts.management.job_command import JobCommand
from oidc_provider import flows, tokens


class Command(JobCommand):
    help = "Delete codes, tokens, waiting requests and sessions that nothing can come of any more. Safe at any time."

    def perform(self) -> str:
        now = timezone.now()
        call_command("clearsessions")
        return f"Deleted {tokens.delete_past_use(now) + flows.delete_past_use(now)} rows."
