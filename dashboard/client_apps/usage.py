"""How much an app is used: its counts as a table with a row for each hour or day, its errors, its requests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Sum
from django.db.models.functions import TruncDay

from dashboard.client_apps import error_guide
from dashboard.client_apps.error_guide import ErrorGuide
from oidc_provider.models import KINDS_OF_ENDPOINTS, OK, Application, RequestKind, RequestRecord

MOST_REQUESTS = 500  # that the log shows
REFUSED = "access_denied"  # by the user: not an error


@dataclass(frozen=True)
class Period:
    """`step`: how long a row of the table is."""

    name: str
    title: str
    length: timedelta
    step: timedelta

    def rows_until(self, now: datetime) -> list[datetime]:
        """Return when each row begins; the last one is under way."""
        last = now.replace(minute=0, second=0, microsecond=0)
        if self.step >= timedelta(days=1):
            last = last.replace(hour=0)
        return [last - number * self.step for number in reversed(range(self.length // self.step))]


PERIODS = {
    period.name: period
    for period in (
        Period("24h", "24 hours", timedelta(hours=24), timedelta(hours=1)),
        Period("30d", "30 days", timedelta(days=30), timedelta(days=1)),
    )
}


@dataclass
class Row:
    """One hour or day. `counts`: by the names of COLUMNS."""

    begins_at: datetime
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, outcome: str, count: int) -> None:
        name = _COLUMNS.get((kind, outcome))
        if name is None and outcome not in {OK, REFUSED}:
            name = "errors"
        if name is not None:
            self.counts[name] += count


_COLUMNS: dict[tuple[str, str], str] = {
    (RequestKind.CODE, OK): "sign_ins",
    (RequestKind.TRIED, OK): "sign_ins",
    (RequestKind.REFRESH, OK): "refreshes",
    (RequestKind.SHOWN, OK): "shown",
    (RequestKind.APPROVED, OK): "approved",
    (RequestKind.KEPT, OK): "kept",
    (RequestKind.DENIED, REFUSED): "denied",
}
COLUMNS = {
    "sign_ins": "Sign-ins",
    "refreshes": "Refreshes",
    "shown": "Consents shown",
    "approved": "Approved",
    "kept": "Approved before",  # without a consent page
    "denied": "Refused",
    "errors": "Errors",
}


@dataclass(frozen=True)
class ErrorCount:
    code: str
    endpoint: str
    count: int


@dataclass
class Figures:
    """`user_count`: different people whom the app signed in or refreshed in the period."""

    period: Period
    rows: list[Row]
    total: Row
    user_count: int
    errors: list[ErrorCount]

    @property
    def is_empty(self) -> bool:
        return not any(self.total.counts.values())


def figures(application: Application, period: Period, now: datetime) -> Figures:
    """Return the figures of the period. 2 queries."""
    starts = period.rows_until(now)
    rows = {start: Row(start) for start in starts}
    total = Row(starts[0])
    errors: Counter[tuple[str, str]] = Counter()
    counts = application.usage_counts.filter(hour__gte=starts[0]).order_by()
    unit = TruncDay("hour") if period.step >= timedelta(days=1) else "hour"
    for at, kind, outcome, count in counts.values_list(unit, "kind", "outcome").annotate(Sum("count")):
        rows[min(at, starts[-1])].add(kind, outcome, count)  # another host's clock may be ahead of ours
        total.add(kind, outcome, count)
        if outcome not in {OK, REFUSED}:
            errors[outcome, RequestKind(kind).endpoint] += count
    return Figures(
        period,
        list(rows.values()),
        total,
        application.last_uses.filter(used_at__gte=now - period.length).count(),
        [ErrorCount(*key, count) for key, count in sorted(errors.items(), key=lambda item: (-item[1], item[0]))],
    )


@dataclass(frozen=True)
class LoggedRequest:
    """`subject`: the person's id, as the app knows it; empty where the app never learned it."""

    record: RequestRecord
    guide: ErrorGuide | None
    subject: str

    @property
    def is_refusal(self) -> bool:
        return self.record.outcome == REFUSED


# The app learns the user's id when they allow it, not when they only see the consent page.
_WITH_SUBJECT = frozenset(RequestKind) - {RequestKind.ASKED, RequestKind.SHOWN, RequestKind.DENIED}


def codes_of(application: Application, now: datetime) -> list[str]:
    """Return the errors in the log. 1 query."""
    records = application.request_records.filter(moment__gte=now - settings.REQUEST_LOG_RETENTION)
    codes = records.exclude(outcome=OK).order_by("outcome").values_list("outcome", flat=True)
    return list(codes.distinct())


def requests_of(
    application: Application, *, endpoint: str, is_ok: bool | None, code: str, now: datetime
) -> list[LoggedRequest]:
    """Return the newest requests, at most MOST_REQUESTS. `is_ok` None, empty strings: all of them. 1 query."""
    records = application.request_records.filter(moment__gte=now - settings.REQUEST_LOG_RETENTION)
    if endpoint:
        records = records.filter(kind__in=KINDS_OF_ENDPOINTS[endpoint])
    if is_ok is not None:
        records = records.filter(outcome=OK) if is_ok else records.exclude(outcome=OK)
    if code:
        records = records.filter(outcome=code)
    return [_logged(record) for record in records.order_by("-moment", "-pk")[:MOST_REQUESTS]]


def _logged(record: RequestRecord) -> LoggedRequest:
    guide = None
    if not record.is_ok:
        guide = error_guide.explain(endpoint=record.endpoint, code=record.outcome, description=record.description)
    return LoggedRequest(record, guide, (record.user_id or "") if record.kind in _WITH_SUBJECT else "")
