"""Writes audit events, deletes the ones past AUDIT_RETENTION, and exports the trail as a file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import AuditEvent, User
from infrastructure.databases import batches
from infrastructure.requests import request_context

# Whether the owner of a disabled key may enable it depends on who disabled it (`api_keys.keys`): these events stay.
KEPT_FOR_EVER = ("api_key:disabled",)
BATCH = 1_000  # events of an export that are in memory at a time
CONTENT_TYPES = {"jsonl": "application/x-ndjson; charset=utf-8", "csv": "text/csv; charset=utf-8"}
# Of an export, in this order in every line. New fields are added at the end.
FIELDS = (
    *("id", "created_at", "actor_id", "actor_name", "actor_kind", "verb", "object_type", "object_id", "object_name"),
    *("reason", "data", "address"),
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what begins a formula in a spreadsheet, also behind white space


def record(verb: str, *, by: User | None, on: models.Model, reason: str = "", **data: Any) -> AuditEvent:
    """Append an event; call it inside the transaction of the act. As `event`."""
    made = event(verb, by=by, on=on, reason=reason, **data)
    made.save(force_insert=True)
    return made


def event(verb: str, *, by: User | None, on: models.Model, reason: str = "", **data: Any) -> AuditEvent:
    """Return an event that is not yet written. `by` None is the system itself (a command, a job).

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
        address=request_context.address(),
    )


def delete_past_use(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> int:
    """Delete events that are older than AUDIT_RETENTION, as `batches.delete` does; the number of events."""
    if not settings.AUDIT_RETENTION:
        return 0
    # A queryset without the refusals of AuditEventQuerySet: nothing else deletes events.
    events: models.QuerySet[AuditEvent] = models.QuerySet(AuditEvent)
    old = events.filter(created_at__lt=now - settings.AUDIT_RETENTION)
    old = old.exclude(verb__in=KEPT_FOR_EVER)
    return batches.delete(old, by="created_at", after_batch=after_batch)


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


@dataclass(frozen=True)
class Selection:
    """Events from `since` on, before `until`. `action`: a verb, or the part before its colon, such as `user`;
    empty: all."""

    since: datetime
    until: datetime
    action: str = ""

    def rows(self) -> Q:
        period = Q(created_at__gte=self.since, created_at__lt=self.until)
        if not self.action:
            return period
        return period & (Q(verb=self.action) | Q(verb__startswith=f"{self.action.removesuffix(':')}:"))


def select_days(*, since: date, until: date | None, action: str = "") -> Selection:
    """Return the selection of whole days in UTC, `until` the last one; None: until now."""
    end = timezone.now() if until is None else _midnight(until) + timedelta(days=1)
    return Selection(_midnight(since), end, action)


def record_export(selection: Selection, *, file_format: Format, by: User | None) -> None:
    """Write the event of an export. Call it before the export, which may include it."""
    made = event(
        "audit:exported",
        by=by,
        on=AuditEvent(),
        since=selection.since.isoformat(),
        until=selection.until.isoformat(),
        action=selection.action,
        format=file_format.value,
    )
    made.object_id, made.object_name = "", "Audit trail"
    made.save(force_insert=True)


def export_lines(selection: Selection, *, file_format: Format) -> Iterator[str]:
    """Yield the file, a batch of lines at a time, oldest event first. 1 query for each BATCH, by `created_at`'s index.

    No cursor and no transaction stays open in between: it works behind a pooler, and holds up no vacuum.
    """
    if file_format is Format.CSV:
        yield _csv([FIELDS])
    for events in batches.in_order(AuditEvent.objects.filter(selection.rows()), by="created_at", size=BATCH):
        cells = ([getattr(found, name) for name in FIELDS] for found in events)
        rows = ([each.isoformat() if isinstance(each, datetime) else each for each in row] for row in cells)
        if file_format is Format.CSV:
            yield _csv([spreadsheet_cell(value) for value in row] for row in rows)
        else:
            yield "".join(f"{_json(dict(zip(FIELDS, row, strict=True)))}\n" for row in rows)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _json(value: object) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)


def spreadsheet_cell(value: object) -> object:
    """Begin text that a spreadsheet would take for a formula with an apostrophe."""
    if value is None or isinstance(value, int):
        return value
    text = value if isinstance(value, str) else _json(value)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def _csv(rows: Iterable[Iterable[object]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()
