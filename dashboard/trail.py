"""The audit trail as pages of its objects show it."""

from __future__ import annotations

from django.conf import settings

from accounts.models import AuditEvent, User


def actor_of(event: AuditEvent, reader: User) -> str:
    """Return the name of the actor for `reader`. Members of staff stay unnamed."""
    if event.actor_id == reader.pk:
        return "you"
    if event.actor_kind == AuditEvent.ActorKind.STAFF:
        return f"the staff of {settings.SITE_NAME}"
    return event.actor_name or "the system"
