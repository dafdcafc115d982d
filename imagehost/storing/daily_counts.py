"""Views of files' pages and downloads of files by day, for their owners. Nothing of a visitor is kept.

A request notes its count in memory, without a query; a thread adds the notes to the table within seconds. Who counts is
decided as for profiles (`lookup.visits.visitors.is_visit`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple
from uuid import UUID

from django.db.models import Sum
from django.http import HttpRequest
from django.utils import timezone

from imagehost.models import File, FileDay
from infrastructure.write_behind import WriteBehindBuffer
from lookup.visits import daily_counts
from lookup.visits.database_store import day_of
from lookup.visits.visitors import is_visit

# A request with one of these has the file, or a part of it, already.
_CONTINUED = ("Range", "If-None-Match", "If-Modified-Since")


class Counts(NamedTuple):
    views: int = 0
    downloads: int = 0


class Note(NamedTuple):
    """`file_id`: hexadecimal."""

    file_id: str
    day: date
    views: int
    downloads: int


def count_view(request: HttpRequest, file: File) -> None:
    """Count this request for the file's page, if it is a visit and not the owner's. No query: the page has the user."""
    if is_visit(request.method or "", request.headers) and request.user.pk != file.owner_id:
        buffer.note(Note(file.pk.hex, day_of(timezone.now()), 1, 0))


def count_download(request: HttpRequest, file: File, status: int) -> None:
    """Count this request for the file itself, if somebody opens or saves the whole of it: not as a part of a page, and
    not again. No session is read there, so the owner counts. No query.

    `status`: of the answer; 302 leads to the store.
    """
    is_whole = status in {200, 302} and not any(name in request.headers for name in _CONTINUED)
    if is_whole and is_visit(request.method or "", request.headers):
        buffer.note(Note(file.pk.hex, day_of(timezone.now()), 0, 1))


def totals(files: Sequence[File]) -> dict[UUID, Counts]:
    """Return the counts of all kept days by the file's id; nothing of files without any. 1 query."""
    rows = FileDay.objects.filter(file__in=files).values("file").order_by("file")
    found = rows.annotate(all_views=Sum("views"), all_downloads=Sum("downloads"))
    return {row["file"]: Counts(row["all_views"], row["all_downloads"]) for row in found}


def by_day(file: File, since: date) -> dict[date, Counts]:
    """Return the counts of the file's days from `since` on. 1 query."""
    rows = FileDay.objects.filter(file=file, day__gte=since).values_list("day", "views", "downloads")
    return {day: Counts(views, downloads) for day, views, downloads in rows}


def _merged(notes: Iterable[Note]) -> list[Note]:
    """Return one note for each file and day, in their order."""
    sums: dict[tuple[str, date], Counts] = defaultdict(Counts)
    for file_id, day, views, downloads in notes:
        before = sums[file_id, day]
        sums[file_id, day] = Counts(before.views + views, before.downloads + downloads)
    return [Note(*key, *counts) for key, counts in sorted(sums.items())]


def _store(notes: list[Note]) -> None:
    """Add the notes; deleted files are left out."""
    daily_counts.add(FileDay, Counts._fields, _merged(notes))


buffer: WriteBehindBuffer[Note] = WriteBehindBuffer("file-days", _store, merge=_merged)
