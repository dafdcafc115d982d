"""manage.py delete_expired: the sign-in provider's clean-up job."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.utils import timezone

from oidc_provider import flows, tokens


class Command(BaseCommand):
    help = "Delete codes, tokens, waiting requests and sessions that nothing can come of any more. Safe at any time."

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        call_command("clearsessions")
        self.stdout.write(f"Deleted {tokens.delete_past_use(now) + flows.delete_past_use(now)} rows.")
