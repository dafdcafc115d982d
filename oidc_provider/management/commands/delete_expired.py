"""manage.py delete_expired: the sign-in provider's clean-up job."""

from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts import audit
from accounts.management.base import JobCommand
from accounts.webhooks import claims
from infrastructure.databases import batches
from oidc_provider import request_log, revocation


class Command(JobCommand):
    help = "Delete codes, tokens, requests, sessions and records that are past their use. Safe at any time."

    def perform(self) -> str:
        now = timezone.now()
        # Django's `clearsessions` is one DELETE.
        batches.delete(Session.objects.filter(expire_date__lt=now), by="expire_date", after_batch=self.renew)
        rooms = (revocation, request_log, claims)
        audit.delete_past_use(now, after_batch=self.renew)
        return f"Deleted {sum(room.delete_past_use(now, after_batch=self.renew) for room in rooms)} rows."
