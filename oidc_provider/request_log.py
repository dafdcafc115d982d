"""Notes the requests of apps, for debugging, stores and counts the notes, and deletes old ones.

A thread writes notes within seconds; pages write them before they read. Client ids are public, so anyone can cause
entries: memory is bounded, and a batch stores at most MOST_RECORDS of one app and counts the others.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlsplit

import prometheus_client
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Sum
from django.db.models.functions import TruncDay

from accounts.models import User
from infrastructure.databases import batches, statements
from infrastructure.requests import request_context
from infrastructure.write_behind import WriteBehindBuffer
from oidc_provider.models import COUNTS_KEPT, OK, Application, LastUse, RequestKind, RequestRecord, UsageCount
from oidc_provider.models.log import DESCRIPTION_LENGTH

MOST_NOTES = 10_000  # in memory
REQUESTS = prometheus_client.Counter(
    "hearth_provider_requests", "Requests of apps, by what they were about and `ok` or the error.", ("kind", "outcome")
)
MOST_RECORDS = 200  # of one app in one batch
MOST_SUCCESSES = 10  # of those; further successes are only counted
MOST_RECORDS_KEPT = 10_000  # of one app; pages show fewer
_USES = {
    *(RequestKind.APPROVED, RequestKind.KEPT, RequestKind.CODE),
    *(RequestKind.TRIED, RequestKind.REFRESH, RequestKind.USERINFO),
}
Use = tuple[str, str]  # client_id, and the id of the user or the stored hash of the secret
_ADD_COUNTS = """
    INSERT INTO oidc_provider_usagecount (application_id, hour, kind, outcome, count)
    SELECT CAST(n.value->>0 AS bigint), {timestamp}, n.value->>2, n.value->>3, CAST(n.value->>4 AS bigint)
    FROM {rows} WHERE true
    ON CONFLICT (application_id, hour, kind, outcome)
    DO UPDATE SET count = oidc_provider_usagecount.count + excluded.count
"""
_SET_LAST_USES = """
    INSERT INTO oidc_provider_lastuse (application_id, used_at, user_id)
    SELECT CAST(n.value->>0 AS bigint), {timestamp}, n.value->>2
    FROM {rows} WHERE true
    ON CONFLICT (application_id, user_id) DO UPDATE SET used_at = excluded.used_at
"""


@dataclass(slots=True)
class Note:
    """A request while it is served, kept if it has a `client_id`. `outcome`: `ok` or the error code. `secret`: the
    stored hash of the secret that proved the app."""

    kind: RequestKind
    request_id: str
    client_id: str = ""
    user_id: str = ""
    outcome: str = ""
    description: str = ""
    redirect_uri: str = ""
    secret: str = ""
    moment: datetime = field(default_factory=functools.partial(datetime.now, UTC))
    address: str = field(default_factory=request_context.address)

    def fails(self, error: str, description: str) -> None:
        self.outcome, self.description = error, description


_current: ContextVar[Note | None] = ContextVar("request_note", default=None)


class Noting:
    """Context manager: note the request served inside, and keep the note. An escaping exception is a server_error.

    A class, because leaving a generator's context manager takes longer than the rest of the work.
    """

    __slots__ = ("_note", "_token")

    def __init__(self, kind: RequestKind) -> None:
        self._note = Note(kind, request_context.request_id())

    def __enter__(self) -> Note:
        self._token = _current.set(self._note)
        return self._note

    def __exit__(self, raised: type[BaseException] | None, *details: object) -> None:
        _current.reset(self._token)
        note = self._note
        note.outcome = note.outcome or ("server_error" if raised else OK)
        _requests(note.kind, note.outcome).inc()
        request_context.about(client_id=note.client_id, user_id=note.user_id)
        if note.outcome != OK:
            request_context.failed(note.outcome)
        if note.client_id:
            buffer.note(note)


@functools.cache  # the library makes a key of the labels each time
def _requests(kind: RequestKind, outcome: str) -> prometheus_client.Counter:
    return REQUESTS.labels(kind.lower(), outcome)


def about(*, kind: RequestKind | None = None, client_id: str = "", user_id: str = "", secret: str = "") -> None:
    """Set facts of the current note. Does nothing outside a request."""
    note = _current.get()
    if note is not None:
        note.kind = kind or note.kind
        note.client_id = client_id or note.client_id
        note.user_id = user_id or note.user_id
        note.secret = secret or note.secret


def failed(error: str, description: str, *, redirect_uri: str = "") -> None:
    """Set the error of the current note. `redirect_uri`: for an error that concerns it."""
    note = _current.get()
    if note is not None:
        note.fails(error, description)
        note.redirect_uri = redirect_uri


def request_id() -> str:
    """Return the id of the current request, or the empty string."""
    note = _current.get()
    return note.request_id if note is not None else ""


def store(notes: Sequence[Note]) -> None:
    """Store the notes of existing apps: records by one INSERT, counts and last uses by one upsert each, last uses of
    secrets by one UPDATE where some are due.

    Lock users first and apps second, the order of all operations; deleted ones are left out.
    """
    recorded, uses = (
        _recorded(notes),
        _due((note.client_id, note.user_id, note.moment) for note in notes if _is_use(note)),
    )
    secret_uses = _due((note.client_id, note.secret, note.moment) for note in notes if note.secret)
    named = {note.user_id for note in recorded} | {user for _, user in uses}
    apps = Application.objects.select_for_update(no_key=True).filter(client_id__in={note.client_id for note in notes})
    counts = Counter(
        (note.client_id, note.moment.replace(minute=0, second=0, microsecond=0), note.kind, note.outcome)
        for note in notes
    )
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).filter(pk__in=named)
        users = set(locked.order_by("pk").values_list("pk", flat=True))
        found = list(apps.order_by("pk").only(*_OF_SECRETS))
        keys = {app.client_id: app.pk for app in found}
        RequestRecord.objects.bulk_create(
            [_record(keys[note.client_id], note, users) for note in recorded if note.client_id in keys]
        )
        _upsert(_ADD_COUNTS, [(keys[app], *rest, count) for (app, *rest), count in counts.items() if app in keys])
        _upsert(
            _SET_LAST_USES,
            [(keys[app], at, user) for (app, user), at in uses.items() if app in keys and user in users],
        )
        _set_uses_of_secrets(found, secret_uses)
    if len(_stored_uses) > MOST_LAST_USES:
        _stored_uses.clear()
    _stored_uses.update(uses | secret_uses)


def delete_past_use(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> int:
    """Delete old records and counts, and each app's records above MOST_RECORDS_KEPT, in batches.

    Return the number of rows. 1 query of an index for all apps, and 1 for each app with too many records.
    """
    old = (
        (RequestRecord.objects.filter(moment__lt=now - settings.REQUEST_LOG_RETENTION), "moment"),
        (UsageCount.objects.filter(hour__lt=now - COUNTS_KEPT), "hour"),
        (LastUse.objects.filter(used_at__lt=now - COUNTS_KEPT), "used_at"),
    )
    deleted = sum(batches.delete(rows, by=field, after_batch=after_batch) for rows, field in old)
    counts = RequestRecord.objects.order_by().values("application").annotate(count=Count("application"))
    for app in counts.filter(count__gt=MOST_RECORDS_KEPT).values_list("application", flat=True):
        mine = RequestRecord.objects.filter(application=app)
        oldest_kept = mine.order_by("-moment", "-pk").values_list("moment", flat=True)[MOST_RECORDS_KEPT - 1]
        deleted += batches.delete(mine.filter(moment__lt=oldest_kept), by="moment", after_batch=after_batch)
    return deleted


def place_of(redirect_uri: str) -> str:
    """Return scheme, host and path of a redirect URL, without query and user info, which may hold secrets."""
    try:
        parts = urlsplit(_printable(redirect_uri))
    except ValueError:  # a broken IPv6 host
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.netloc else parts.path


def _recorded(notes: Sequence[Note]) -> list[Note]:
    """Return the newest notes of each app, within the limits of a batch."""
    counts: Counter[str] = Counter()
    successes: Counter[str] = Counter()
    recorded = []
    for note in reversed(notes):
        if note.outcome == OK:
            successes[note.client_id] += 1
            if successes[note.client_id] > MOST_SUCCESSES:
                continue
        if counts[note.client_id] < MOST_RECORDS:
            counts[note.client_id] += 1
            recorded.append(note)
    return recorded[::-1]


def _record(key: int, note: Note, users: set[str]) -> RequestRecord:
    return RequestRecord(
        application_id=key,
        moment=note.moment,
        kind=note.kind,
        outcome=note.outcome,
        description=_printable(note.description)[:DESCRIPTION_LENGTH],
        redirect_uri=place_of(note.redirect_uri)[:DESCRIPTION_LENGTH],
        user_id=note.user_id if note.user_id in users else None,
        network=request_context.network_of(note.address),
        request_id=note.request_id,
    )


def _printable(text: str) -> str:
    """Replace what PostgreSQL (NUL) or one line of a page cannot hold."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[: 4 * DESCRIPTION_LENGTH])


def _upsert(statement: str, rows: list[tuple[Any, ...]]) -> None:
    """Rows are sorted, so that concurrent processes do not deadlock. The second value of a row is a timestamp."""
    if not rows:
        return
    places = {"rows": statements.rows_source(), "timestamp": statements.row_column(1, "timestamp")}
    with connection.cursor() as cursor:
        cursor.execute(statement.format(**places), [statements.rows_parameter(sorted(rows))])


LAST_USE_PRECISION = timedelta(minutes=5)
MOST_LAST_USES = 100_000
_stored_uses: dict[Use, datetime] = {}  # by this process; each is stored again after LAST_USE_PRECISION


def _is_use(note: Note) -> bool:
    """Return whether a user used the app."""
    return bool(note.user_id) and note.outcome == OK and note.kind in _USES


def _due(uses: Iterable[tuple[str, str, datetime]]) -> dict[Use, datetime]:
    """Return the last uses in a batch that are due, the newest of each app and user or secret."""
    due: dict[Use, datetime] = {}
    for client_id, of, moment in uses:
        stored = _stored_uses.get((client_id, of))
        if stored is None or moment - stored >= LAST_USE_PRECISION:
            due[client_id, of] = moment
    return due


_OF_SECRETS = ("client_id", "client_secret", "secret_used_at", "second_secret", "second_secret_used_at")


def _set_uses_of_secrets(apps: Iterable[Application], uses: Mapping[Use, datetime]) -> None:
    """Set the last uses of the secrets that the locked `apps` still have. 1 query, where some were used."""
    changed = []
    for app in apps:
        first, second = uses.get((app.client_id, app.client_secret)), uses.get((app.client_id, app.second_secret))
        if first or second:
            app.secret_used_at = _later(app.secret_used_at, first)
            app.second_secret_used_at = _later(app.second_secret_used_at, second)
            changed.append(app)
    if changed:
        Application.objects.bulk_update(changed, ["secret_used_at", "second_secret_used_at"])


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((at for at in (one, other) if at), default=None)


buffer: WriteBehindBuffer[Note] = WriteBehindBuffer("request-log", store, limit=MOST_NOTES)

DAYS = 7
SETTLES = timedelta(hours=1)  # after midnight: until then counts of the day before may still be written
_settled: dict[date, int] = {}  # sign-ins of days that are over, which no later request changes


def sign_ins_by_day(now: datetime) -> dict[date, int]:
    """Return the sign-ins to all apps of each of the last DAYS days in UTC, today last. 1 query, of the days not
    counted before."""
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
    _settled.update(
        {day: count for day, count in answer.items() if _midnight(day) + timedelta(days=1) + SETTLES <= now}
    )
    return answer


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
