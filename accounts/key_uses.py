"""The uses of API keys: quotas, taken one at a time, and when each key was used last.

When a key was used last is kept in memory and written by a request that comes a minute or more after the first such
note: one statement for every key used since. A process that ends, orderly or not, loses what it has not written: at
most the last minute of requests, and whatever came before a pause that no request ended. Nothing is decided by it.
"""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timedelta

from django.db import DatabaseError, connection
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce

from accounts.models import ApiKey

WRITTEN_EVERY = timedelta(minutes=1)
_MOST_AT_ONCE = 10_000  # keys in one statement, which has a limited number of parameters

logger = logging.getLogger(__name__)


def take(key_id: int, *, now: datetime) -> bool:
    """Take one use of the key's quota, refilled first where that is due; False where none is left. 1 query.

    A key that has no quota may always be used.
    """
    is_due = Q(refill_interval__isnull=False) & Q(_refills_at__lte=now)
    changed = (
        ApiKey.objects.filter(pk=key_id)
        .alias(_refills_at=Coalesce("refilled_at", "created_at") + F("refill_interval"))
        .filter(Q(remaining_uses__isnull=True) | Q(remaining_uses__gt=0) | is_due)
        .update(
            remaining_uses=Case(When(is_due, then=F("refill_amount") - 1), default=F("remaining_uses") - 1),
            refilled_at=Case(When(is_due, then=Value(now)), default=F("refilled_at")),
        )
    )
    return changed == 1


class LastUses:
    """When keys were used last, as far as it is not written yet."""

    def __init__(self) -> None:
        self._noted: dict[int, datetime] = {}
        self._since: datetime | None = None  # when the first of them was noted
        self._lock = threading.Lock()

    def note(self, key_id: int, *, now: datetime) -> None:
        """Remember the use. Where a minute of them is remembered, write those before it: 1 query."""
        with self._lock:
            due: dict[int, datetime] = {}
            if self._since is None:
                self._since = now
            elif now - self._since >= WRITTEN_EVERY or len(self._noted) >= _MOST_AT_ONCE:
                due, self._noted, self._since = self._noted, {}, now
            self._noted[key_id] = now
        if due:
            _write(due)

    def clear(self) -> None:
        """Forget what is not written."""
        with self._lock:
            self._noted, self._since = {}, None


last_uses = LastUses()  # of this process


def _write(uses: dict[int, datetime]) -> None:
    """One statement. A later use that another process wrote stays."""
    values = [
        value
        for key_id, moment in sorted(uses.items())
        for value in (key_id, connection.ops.adapt_datetimefield_value(moment))
    ]
    rows = ", ".join(["(%s, %s)"] * len(uses))
    statement = f"""
        UPDATE accounts_apikey SET last_used_at = uses.column2 FROM (VALUES {rows}) AS uses
        WHERE id = uses.column1 AND (last_used_at IS NULL OR last_used_at < uses.column2)
    """  # noqa: S608 - placeholders alone are put in
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
    except DatabaseError:  # no caller is refused for it
        logger.exception("The last uses of %s keys could not be written.", len(uses))
