"""Stores the notes of requests, and deletes old ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.db import connection, transaction
from django.db.models import Count

from accounts import client_address
from accounts.databases import batches, statements
from accounts.models import User
from oidc_provider.models import (
    OK,
    Application,
    LastUse,
    RequestKind,
    RequestRecord,
    UsageCount,
)
from oidc_provider.models.log import DESCRIPTION_LENGTH, RequestRecordQuerySet

if TYPE_CHECKING:
    from oidc_provider.log.request_log import Note

MOST_RECORDS = 200  # of one app in one batch
MOST_SUCCESSES = 10  # of those; further successes are only counted
MOST_RECORDS_KEPT = 10_000  # of one app; pages show fewer
_USES = {
    RequestKind.APPROVED,
    RequestKind.KEPT,
    RequestKind.CODE,
    RequestKind.TRIED,
    RequestKind.REFRESH,
    RequestKind.USERINFO,
}
Use = tuple[str, str]  # client_id, id of the user
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


def store(notes: Sequence[Note]) -> None:
    """Store the notes of existing apps: records by one INSERT, counts and last uses by one upsert each."""
    recorded, uses = _recorded(notes), last_uses.due(notes)
    with transaction.atomic():
        _store(notes, recorded, uses)
    last_uses.keep(uses)


def _store(notes: Sequence[Note], recorded: list[Note], uses: dict[Use, datetime]) -> None:
    """Lock users first and apps second, the order of all operations; deleted ones are left out."""
    named = {note.user_id for note in recorded} | {user for _, user in uses}
    locked_users = User.objects.select_for_update(no_key=True).filter(pk__in=named)
    users = set(locked_users.order_by("pk").values_list("pk", flat=True))
    locked = Application.objects.select_for_update(no_key=True).filter(client_id__in={note.client_id for note in notes})
    keys = dict(locked.order_by("pk").values_list("client_id", "pk"))
    RequestRecord.objects.bulk_create(
        [_record(keys[note.client_id], note, users) for note in recorded if note.client_id in keys]
    )
    counts = Counter((note.client_id, _hour(note.moment), note.kind, note.outcome) for note in notes)
    _upsert(_ADD_COUNTS, [(keys[app], *rest, count) for (app, *rest), count in counts.items() if app in keys])
    _upsert(
        _SET_LAST_USES,
        [(keys[app], at, user) for (app, user), at in uses.items() if app in keys and user in users],
    )


def delete_past_use(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> int:
    """Delete old records and counts, and each app's records above MOST_RECORDS_KEPT, in batches.

    Return the number of rows.
    """
    old = (
        (RequestRecord.objects.past_use(now), "moment"),
        (UsageCount.objects.past_use(now), "hour"),
        (LastUse.objects.past_use(now), "used_at"),
    )
    deleted = sum(batches.delete(rows, by=field, after_batch=after_batch) for rows, field in old)
    for rows in _too_many():
        deleted += batches.delete(rows, by="moment", after_batch=after_batch)
    return deleted


def _too_many() -> Iterator[RequestRecordQuerySet]:
    """Yield the surplus records of each app. 1 query of an index, and 1 for each app with too many."""
    counts = RequestRecord.objects.order_by().values("application").annotate(count=Count("application"))
    for app in counts.filter(count__gt=MOST_RECORDS_KEPT).values_list("application", flat=True):
        mine = RequestRecord.objects.filter(application=app)
        oldest_kept = mine.newest_first().values_list("moment", flat=True)[MOST_RECORDS_KEPT - 1]
        yield mine.filter(moment__lt=oldest_kept)


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
        network=client_address.network_of(note.address),
        request_id=note.request_id,
    )


def _printable(text: str) -> str:
    """Replace what PostgreSQL (NUL) or one line of a page cannot hold."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[: 4 * DESCRIPTION_LENGTH])


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _upsert(statement: str, rows: list[tuple[Any, ...]]) -> None:
    """Rows are sorted, so that concurrent processes do not deadlock. The second value of a row is a timestamp."""
    if not rows:
        return
    places = {"rows": statements.rows_source(), "timestamp": statements.row_column(1, "timestamp")}
    with connection.cursor() as cursor:
        cursor.execute(statement.format(**places), [statements.rows_parameter(sorted(rows))])


class LastUses:
    """The last uses that this process has stored; each is stored again after PRECISION."""

    PRECISION = timedelta(minutes=5)
    MOST_KEPT = 100_000

    def __init__(self) -> None:
        self._stored: dict[Use, datetime] = {}

    def due(self, notes: Sequence[Note]) -> dict[Use, datetime]:
        """Return those of a batch to store, the newest of each app and user."""
        due: dict[Use, datetime] = {}
        for note in notes:
            if note.user_id and note.outcome == OK and note.kind in _USES:
                stored = self._stored.get((note.client_id, note.user_id))
                if stored is None or note.moment - stored >= self.PRECISION:
                    due[note.client_id, note.user_id] = note.moment
        return due

    def keep(self, stored: dict[Use, datetime]) -> None:
        """Remember that these are stored."""
        if len(self._stored) > self.MOST_KEPT:
            self._stored.clear()
        self._stored.update(stored)


last_uses = LastUses()
