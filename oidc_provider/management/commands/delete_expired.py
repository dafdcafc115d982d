"""manage.py delete_expired: the sign-in provider's clean-up job."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from oidc_provider import flows, tokens


class Command(BaseCommand):
    help = "Delete codes, tokens and waiting requests that nothing can come of any more. Safe to run at any time."

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        self.stdout.write(f"Deleted {tokens.delete_past_use(now) + flows.delete_past_use(now)} rows.")
