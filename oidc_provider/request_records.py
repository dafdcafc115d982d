"""Stores the notes of requests, and deletes them in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.db import connection, transaction
from django.db.models import Count

from accounts.models import User
from oidc_provider.models import Application, LastUse, RequestKind, RequestRecord, UsageCount
from oidc_provider.models.request_log import DESCRIPTION_LENGTH, OK

if TYPE_CHECKING:
    from oidc_provider.request_log import Note

MOST_RECORDS = 200  # of one app in one batch
MOST_RECORDS_KEPT = 10_000  # of one app; the pages show far fewer
_USES = (
    RequestKind.APPROVED,
    RequestKind.KEPT,
    RequestKind.CODE,
    RequestKind.TRIED,
    RequestKind.REFRESH,
    RequestKind.USERINFO,
)
_ADD = """
    INSERT INTO oidc_provider_usagecount (application_id, hour, kind, outcome, count) VALUES {rows}
    ON CONFLICT (application_id, hour, kind, outcome)
    DO UPDATE SET count = oidc_provider_usagecount.count + excluded.count
"""
_ROWS_AT_ONCE = 150  # five values each, and SQLite may take no more than 999


@transaction.atomic
def store(notes: Sequence[Note]) -> None:
    """Write the notes of apps that exist: the records in one INSERT, the counts and the last uses in one upsert each.

    People first and apps second, as everywhere: who is being deleted is waited for, and then left out.
    """
    locked_users = User.objects.select_for_update(no_key=True).filter(pk__in={note.user_id for note in notes})
    users = set(locked_users.order_by("pk").values_list("pk", flat=True))
    locked = Application.objects.select_for_update(no_key=True).filter(client_id__in={note.client_id for note in notes})
    applications = dict(locked.order_by("pk").values_list("client_id", "pk"))
    known = [(applications[note.client_id], note) for note in notes if note.client_id in applications]
    RequestRecord.objects.bulk_create(_records(known, users))
    _add_counts(Counter((key, _hour(note.moment), str(note.kind), note.outcome) for key, note in known))
    _store_last_uses(known, users)


def delete_past_use(now: datetime) -> int:
    """Delete records and counts that are old, and of each app all but the newest records. The number of rows."""
    deleted = 0
    for rows in (RequestRecord.objects.past_use(now), UsageCount.objects.past_use(now), LastUse.objects.past_use(now)):
        deleted += rows.delete()[0]
    many = RequestRecord.objects.values("application").annotate(count=Count("pk")).filter(count__gt=MOST_RECORDS_KEPT)
    for row in many:
        mine = RequestRecord.objects.filter(application=row["application"])
        oldest_kept = mine.newest_first()[MOST_RECORDS_KEPT - 1].moment
        deleted += mine.filter(moment__lt=oldest_kept).delete()[0]
    return deleted


def network_of(address: str) -> str:
    """The /24 or /48 that an address lies in; empty where it is none."""
    try:
        parsed = ip_address(address.partition("/")[0])  # an IPv6 address is counted by its /64 already
    except ValueError:
        return ""
    return str(ip_network((parsed, 24 if parsed.version == 4 else 48), strict=False))


def place_of(redirect_uri: str) -> str:
    """Scheme, host and path of a redirect URL: its query and its user info may hold what nobody else should read."""
    try:
        parts = urlsplit(_printable(redirect_uri))
    except ValueError:  # a broken IPv6 host
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.netloc else parts.path


def _records(known: list[tuple[int, Note]], users: set[str]) -> list[RequestRecord]:
    """The newest of each app, as many as one batch may hold."""
    counts: Counter[int] = Counter()
    records = []
    for key, note in reversed(known):
        counts[key] += 1
        if counts[key] <= MOST_RECORDS:
            records.append(_record(key, note, users))
    return records[::-1]


def _record(key: int, note: Note, users: set[str]) -> RequestRecord:
    return RequestRecord(
        application_id=key,
        moment=note.moment,
        kind=note.kind,
        outcome=note.outcome,
        description=_printable(note.description)[:DESCRIPTION_LENGTH],
        redirect_uri=place_of(note.redirect_uri)[:DESCRIPTION_LENGTH],
        user_id=note.user_id if note.user_id in users else None,
        network=network_of(note.address),
        request_id=note.request_id,
    )


def _printable(text: str) -> str:
    """PostgreSQL takes no NUL, and a page no line of its own."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[: 4 * DESCRIPTION_LENGTH])


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _add_counts(counts: Counter[tuple[int, datetime, str, str]]) -> None:
    """Sorted, so that two processes never wait for one another."""
    adapt = connection.ops.adapt_datetimefield_value
    rows = [(key, adapt(hour), kind, outcome, count) for (key, hour, kind, outcome), count in sorted(counts.items())]
    with connection.cursor() as cursor:
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[start : start + _ROWS_AT_ONCE]
            places = ", ".join(["(%s, %s, %s, %s, %s)"] * len(some))
            cursor.execute(_ADD.format(rows=places), [value for row in some for value in row])


def _store_last_uses(known: list[tuple[int, Note]], users: set[str]) -> None:
    newest: dict[tuple[int, str], datetime] = {}
    for key, note in known:
        if note.user_id in users and note.outcome == OK and note.kind in _USES:
            newest[key, note.user_id] = note.moment
    LastUse.objects.bulk_create(
        [LastUse(application_id=key, user_id=user, used_at=moment) for (key, user), moment in sorted(newest.items())],
        update_conflicts=True,
        unique_fields=["application", "user"],
        update_fields=["used_at"],
    )
