"""Sign-ins to all apps together, for operators."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Sum
from django.db.models.functions import TruncDay

from oidc_provider.models import OK, RequestKind, UsageCount

DAYS = 7
SETTLES = timedelta(hours=1)  # after midnight: until then counts of the day before may still be written

_settled: dict[date, int] = {}  # days that are over, which no later request changes


def sign_ins_by_day(now: datetime) -> dict[date, int]:
    """Return the sign-ins of each of the last DAYS days in UTC, today last. 1 query, of the days not counted before."""
    today = now.astimezone(UTC).date()
    days = [today - timedelta(days=age) for age in reversed(range(DAYS))]
    first = next(day for day in days if day == today or day not in _settled)
    counts = UsageCount.objects.filter(
        hour__gte=_midnight(first), kind__in=(RequestKind.CODE, RequestKind.TRIED), outcome=OK
    )
    by_day = counts.order_by().values_list(TruncDay("hour", tzinfo=UTC)).annotate(Sum("count"))
    found = {moment.date(): total for moment, total in by_day}
    answer = {day: found.get(day, 0) if day >= first else _settled[day] for day in days}
    for old in [day for day in _settled if day < days[0]]:
        _settled.pop(old, None)
    _settled.update({day: count for day, count in answer.items() if _midnight(day) + _DAY + SETTLES <= now})
    return answer


_DAY = timedelta(days=1)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def forget() -> None:
    """Count every day again, for tests."""
    _settled.clear()
