"""Uses of API keys: quotas, taken with each request, and, written behind, the last use of a key and its requests a day.

No decision depends on the latter two: two statements for all keys that were used in the last seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta

from django.db import connection, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce

from accounts.models import ApiKey, KeyDay
from infrastructure.databases import batches
from infrastructure.databases.statements import row_column, rows_parameter, rows_source
from infrastructure.write_behind import WriteBehindBuffer

DAYS_KEPT = 90

Use = tuple[int, datetime, int]  # the id of a key, when it was used last, how many requests of that day


def take(key_id: int, *, now: datetime, cost: int = 1) -> bool:
    """Take `cost` uses of the key's quota, refilled first where that is due; False where fewer are left. 1 query.

    A key that has no quota may always be used.
    """
    is_due = Q(refill_interval__isnull=False) & Q(_refills_at__lte=now)
    changed = (
        ApiKey.objects.filter(pk=key_id)
        .alias(_refills_at=Coalesce("refilled_at", "created_at") + F("refill_interval"))
        .alias(_left=Case(When(is_due, then=F("refill_amount")), default=F("remaining_uses")))
        .filter(Q(_left__isnull=True) | Q(_left__gte=cost))
        .update(
            remaining_uses=F("_left") - cost,
            refilled_at=Case(When(is_due, then=Value(now)), default=F("refilled_at")),
        )
    )
    return changed == 1


def delete_old_days(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> int:
    """Forget the requests of days that are longer ago than DAYS_KEPT, in batches; how many rows that were."""
    old = KeyDay.objects.filter(day__lt=now.date() - timedelta(days=DAYS_KEPT))
    return batches.delete(old, by="day", after_batch=after_batch)


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


def _merged(uses: Iterable[Use]) -> list[Use]:
    """Return one use for each key and day, in their order."""
    days: dict[tuple[int, date], tuple[datetime, int]] = {}
    for key_id, used_at, count in uses:
        last, before = days.get((key_id, used_at.date()), (used_at, 0))
        days[key_id, used_at.date()] = max(last, used_at), before + count
    return [(key_id, used_at, count) for (key_id, _), (used_at, count) in sorted(days.items())]


@transaction.atomic
def _store(uses: list[Use]) -> None:
    """Add the counts; a later use that another process wrote stays. Deleted keys are left out.

    In the order of the keys, so that two processes never wait for each other.
    """
    merged = _merged(uses)
    last = {key_id: used_at for key_id, used_at, _ in merged}
    days = [(key_id, used_at.date(), count) for key_id, used_at, count in merged]
    columns = {
        "rows": rows_source(),
        "at": row_column(1, "timestamp"),
        "day": row_column(1, "date"),
    }
    with connection.cursor() as cursor:
        cursor.execute(_LAST_USES.format(**columns), [rows_parameter(list(last.items()))])
        cursor.execute(_DAYS.format(**columns), [rows_parameter(days)])


buffer: WriteBehindBuffer[Use] = WriteBehindBuffer("key-uses", _store, merge=_merged)
