"""The uses of API keys: quotas, taken one at a time, when each key was used last, and how often on each day.

The latter two are kept in memory and written by a request that comes a minute or more after the first such note: two
statements for every key used since. A process that ends, orderly or not, loses what it has not written: at most the
last minute of requests, and whatever came before a pause that no request ended. Nothing is decided by them.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Sized
from datetime import date, datetime, timedelta

from django.db import DatabaseError, connection
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce

from accounts.models import ApiKey, KeyDay

WRITTEN_EVERY = timedelta(minutes=1)
DAYS_KEPT = 90
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
    """When keys were used last, and how often on each day, as far as it is not written yet."""

    def __init__(self) -> None:
        self._noted: dict[int, datetime] = {}
        self._counts: Counter[tuple[int, date]] = Counter()
        self._since: datetime | None = None  # when the first of them was noted
        self._lock = threading.Lock()

    def note(self, key_id: int, *, now: datetime) -> None:
        """Remember the use. Where a minute of them is remembered, write those before it: 2 queries."""
        with self._lock:
            due: dict[int, datetime] = {}
            counts: Counter[tuple[int, date]] = Counter()
            if self._since is None:
                self._since = now
            elif now - self._since >= WRITTEN_EVERY or len(self._counts) >= _MOST_AT_ONCE:
                due, self._noted, self._since = self._noted, {}, now
                counts, self._counts = self._counts, counts
            self._noted[key_id] = now
            self._counts[key_id, now.date()] += 1
        if due:
            _write(due, counts)

    def clear(self) -> None:
        """Forget what is not written."""
        with self._lock:
            self._noted, self._since = {}, None
            self._counts = Counter()


last_uses = LastUses()  # of this process


def delete_old_days(now: datetime) -> int:
    """Forget the requests of days that are longer ago than DAYS_KEPT; how many rows that were. 1 query."""
    deleted, _ = KeyDay.objects.filter(day__lt=now.date() - timedelta(days=DAYS_KEPT)).delete()
    return deleted


def _write(uses: dict[int, datetime], counts: Counter[tuple[int, date]]) -> None:
    """Two statements, for whatever keys there still are. A later use that another process wrote stays, and its counts
    are added to."""
    moment, day = connection.ops.adapt_datetimefield_value, connection.ops.adapt_datefield_value
    last = [value for key_id, when in sorted(uses.items()) for value in (key_id, moment(when))]
    days = [value for (key_id, when), count in sorted(counts.items()) for value in (key_id, day(when), count)]
    try:
        with connection.cursor() as cursor:
            cursor.execute(_LAST_USES.format(rows=_rows("(%s, %s)", uses)), last)
            cursor.execute(_DAYS.format(rows=_rows("(%s, %s, %s)", counts)), days)
    except DatabaseError:  # no caller is refused for it
        logger.exception("The last uses of %s keys could not be written.", len(uses))


_LAST_USES = """
    UPDATE accounts_apikey SET last_used_at = uses.column2 FROM (VALUES {rows}) AS uses
    WHERE id = uses.column1 AND (last_used_at IS NULL OR last_used_at < uses.column2)
"""
# In the order of the keys, so that two processes never wait for each other.
_DAYS = """
    INSERT INTO accounts_keyday (key_id, day, count)
    SELECT k.id, uses.column2, uses.column3 FROM (VALUES {rows}) AS uses JOIN accounts_apikey k ON k.id = uses.column1
    WHERE true ORDER BY 1, 2
    ON CONFLICT (key_id, day) DO UPDATE SET count = accounts_keyday.count + excluded.count
"""


def _rows(row: str, values: Sized) -> str:
    return ", ".join([row] * len(values))
