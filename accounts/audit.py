"""Writes audit events."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models

from accounts import client_address
from accounts.models import AuditEvent, User


def record(verb: str, *, by: User | None, on: models.Model, reason: str = "", **data: Any) -> AuditEvent:
    """Append an event; call it inside the transaction of the act. As `event`."""
    made = event(verb, by=by, on=on, reason=reason, **data)
    made.save(force_insert=True)
    return made


def event(verb: str, *, by: User | None, on: models.Model, reason: str = "", **data: Any) -> AuditEvent:
    """An event that is not yet written. `by` None is the system itself (a command, a job).

    `data` must be JSON and hold no secret.
    """
    kind = AuditEvent.ActorKind.SYSTEM
    if by is not None:
        kind = AuditEvent.ActorKind.STAFF if by.is_staff else AuditEvent.ActorKind.USER
    return AuditEvent(
        actor=by,
        actor_name=by.username if by is not None else "",
        actor_kind=kind,
        verb=verb,
        object_type=on._meta.label_lower,
        object_id=str(on.pk),
        object_name=str(on)[:255],
        reason=reason,
        data=data,
        address=client_address.current.get(),
    )


BATCH = 2_000  # events of one DELETE
# Whether the owner of a disabled key may enable it depends on who disabled it (`api_keys.keys`): these events stay.
KEPT_FOR_EVER = ("api_key:disabled",)


def delete_past_use(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> int:
    """Delete events that are older than AUDIT_RETENTION, oldest first, in batches; the number of events.

    2 queries for each batch, by the index of `created_at`. `after_batch` is called after each, for the holder of a
    lease.
    """
    if not settings.AUDIT_RETENTION:
        return 0
    # A queryset without the refusals of AuditEventQuerySet: nothing else deletes events.
    events: models.QuerySet[AuditEvent] = models.QuerySet(AuditEvent)
    old = events.filter(created_at__lt=now - settings.AUDIT_RETENTION)
    old = old.exclude(verb__in=KEPT_FOR_EVER)
    deleted = 0
    while found := list(old.order_by("created_at").values_list("pk", flat=True)[:BATCH]):
        deleted += old.filter(pk__in=found).delete()[0]
        after_batch()
        if len(found) < BATCH:
            break
    return deleted
