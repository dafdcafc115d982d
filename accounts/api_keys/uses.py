"""The uses of API keys: quotas, taken one at a time, when each key was used last, and how often on each day.

The latter two are kept in memory and written by `accounts.background`: two statements for all keys used in the last
seconds. A process that is killed loses what it has not written. No decision depends on them.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter, deque
from datetime import date, datetime, timedelta

from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce

from accounts import json_rows
from accounts.background import BackgroundWriter
from accounts.models import ApiKey, KeyDay

DAYS_KEPT = 90

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
        self._noted: deque[tuple[int, datetime]] = deque()  # by requests, any of which may add one meanwhile
        self._last: dict[int, datetime] = {}
        self._counts: Counter[tuple[int, date]] = Counter()
        self._lock = threading.Lock()  # of the latter two
        self._writer = BackgroundWriter("key-uses", self.write)

    def note(self, key_id: int, *, now: datetime) -> None:
        self._noted.append((key_id, now))
        self._writer.wake()

    def write(self) -> None:
        """Store what was noted so far: 2 queries. What a database that is away cannot store waits for the next call."""
        last, counts = self._take()
        if not counts:
            return
        try:
            _store(last, counts)
        except (OperationalError, InterfaceError):
            logger.exception("The last uses of %s keys could not be written yet.", len(last))
            self._put_back(last, counts)
        except DatabaseError:
            logger.exception("The last uses of %s keys could not be written.", len(last))

    def clear(self) -> None:
        """Forget what is not written."""
        self._take()

    def _take(self) -> tuple[dict[int, datetime], Counter[tuple[int, date]]]:
        with self._lock:
            for _ in range(len(self._noted)):
                key_id, now = self._noted.popleft()
                self._last[key_id] = now
                self._counts[key_id, now.date()] += 1
            last, counts, self._last, self._counts = self._last, self._counts, {}, Counter()
        return last, counts

    def _put_back(self, last: dict[int, datetime], counts: Counter[tuple[int, date]]) -> None:
        with self._lock:
            self._last = last | self._last
            self._counts += counts
        self._writer.wake()


last_uses = LastUses()  # of this process


def _begin_anew() -> None:
    """A forked process has no thread, and leaves the notes to the process that made them."""
    global last_uses  # noqa: PLW0603 - its lock may be held by a thread that the new process does not have
    last_uses = LastUses()


os.register_at_fork(after_in_child=_begin_anew)


def delete_old_days(now: datetime) -> int:
    """Forget the requests of days that are longer ago than DAYS_KEPT; how many rows that were. 1 query."""
    deleted, _ = KeyDay.objects.filter(day__lt=now.date() - timedelta(days=DAYS_KEPT)).delete()
    return deleted


@transaction.atomic
def _store(last: dict[int, datetime], counts: Counter[tuple[int, date]]) -> None:
    """A later use that another process wrote stays, and its counts are added to. Deleted keys are left out.

    In the order of the keys, so that two processes never wait for each other.
    """
    places = {"rows": json_rows.source(), "at": json_rows.column(1, "timestamp"), "day": json_rows.column(1, "date")}
    with connection.cursor() as cursor:
        cursor.execute(_LAST_USES.format(**places), [json_rows.parameter(sorted(last.items()))])
        days = [(key_id, day, count) for (key_id, day), count in sorted(counts.items())]
        cursor.execute(_DAYS.format(**places), [json_rows.parameter(days)])


_LAST_USES = """
    UPDATE accounts_apikey SET last_used_at = {at} FROM {rows}
    WHERE accounts_apikey.id = CAST(n.value->>0 AS bigint) AND (last_used_at IS NULL OR last_used_at < {at})
"""
_DAYS = """
    INSERT INTO accounts_keyday (key_id, day, count)
    SELECT k.id, {day}, CAST(n.value->>2 AS bigint)
    FROM {rows} JOIN accounts_apikey k ON k.id = CAST(n.value->>0 AS bigint)
    WHERE true ORDER BY 1, 2
    ON CONFLICT (key_id, day) DO UPDATE SET count = accounts_keyday.count + excluded.count
"""
