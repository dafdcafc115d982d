"""Writes audit events."""

from typing import Any

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
