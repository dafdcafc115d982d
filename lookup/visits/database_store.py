"""Visits in the tables: the store of the embedded default, and the place where batches of counts end up."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import F

from infrastructure.databases import batches
from lookup.documents import counters, documents
from lookup.models import Link, Profile, UserDocument, Visit, VisitBatch, VisitSalt
from lookup.visits import daily_counts
from lookup.visits.daily_counts import Click, Clicks, Key, View, Views
from lookup.visits.visitors import Visitor

ONCE_IN = timedelta(hours=24)
DAY = timedelta(days=1)
BATCHES_KEPT = timedelta(days=7)  # longer than any store keeps a batch
ROWS_AT_ONCE = 500


@dataclass(frozen=True)
class Folded:
    """The numbers that a run added to the tables."""

    views: int = 0
    clicks: int = 0

    def __add__(self, other: Folded) -> Folded:
        return Folded(self.views + other.views, self.clicks + other.clicks)


class Days(NamedTuple):
    """The views and clicks of a batch by day."""

    views: Views
    clicks: Clicks


NO_DAYS = Days({}, {})


def day_of(now: datetime) -> date:
    """Return the day (UTC) of the salt."""
    return now.astimezone(UTC).date()


def days_until(now: datetime, length: int) -> list[date]:
    """Return the last `length` days (UTC), today last."""
    today = day_of(now)
    return [today - DAY * number for number in reversed(range(length))]


def new_salt() -> str:
    return secrets.token_hex(32)


class DatabaseVisits:
    """Counts at once. A visitor who was counted costs one SELECT."""

    def __init__(self) -> None:
        self._salts: tuple[date, list[str]] | None = None  # of the day, today's first

    def count_view(self, visitor: Visitor, view: View, now: datetime) -> bool:
        user_id, today = view.user_id, day_of(now)
        known = self._salts
        if known is None or known[0] != today:
            made, _ = VisitSalt.objects.get_or_create(day=today, defaults={"salt": new_salt()})
            before = VisitSalt.objects.filter(day=today - DAY).values_list("salt", flat=True)
            known = self._salts = today, [made.salt, *before]
        hashes = [visitor.hashed(user_id, salt) for salt in known[1]]
        if _is_counted(user_id, hashes, now):
            return False
        with transaction.atomic():
            # Counts for one user wait for each other: at midnight one visitor may have two hashes at once.
            if not UserDocument.objects.select_for_update(no_key=True).filter(pk=user_id).values_list("pk"):
                return False  # deleted since
            if _is_counted(user_id, hashes, now):
                return False
            Visit.objects.bulk_create(
                [Visit(user_id=user_id, visitor=hashes[0], counted_at=now)],
                update_conflicts=True,
                update_fields=["counted_at"],
                unique_fields=["user", "visitor"],
            )
            counters.add(user_id, views=1)
            daily_counts.add_views({view: 1})
        return True

    def count_click(self, click: Click) -> None:
        with transaction.atomic():
            documents.mark_stale(Profile.objects.filter(links=click.link_id))
            if Link.objects.filter(pk=click.link_id).update(clicks=F("clicks") + 1):
                daily_counts.add_clicks({click: 1})

    def fold(self, now: datetime) -> Folded:
        """Return an empty result: everything is in the tables already."""
        return Folded()


def _is_counted(user_id: str, hashes: Collection[str], now: datetime) -> bool:
    return Visit.objects.filter(user=user_id, visitor__in=hashes, counted_at__gt=now - ONCE_IN).exists()


def add_batch(
    token: str,
    views: Mapping[str, int],
    clicks: Mapping[str, int],
    now: datetime,
    *,
    days: Days = NO_DAYS,
) -> Folded:
    """Add a batch of counts by user and by link, with their `days`; return what was added now.

    Each part is a transaction of its own that also notes its token. A batch that comes again, after a crash or in two
    processes at once, must be equal under the same token: its parts are, and parts that were added are left out. Once
    all were added, nothing more is added under this token. Deleted users and links are left out.
    """
    if VisitBatch.objects.filter(token=token).exists():
        return Folded()

    def add_all(
        name: str,
        counts: Mapping[str, int],
        by_day: Mapping[Key, int],
        add: Callable[[Mapping[str, int]], None],
        add_by_day: Callable[[Mapping[Key, int]], None],
    ) -> int:
        added, days_of = 0, daily_counts.by_owner(by_day)
        for number, part in enumerate(_parts(counts)):
            with transaction.atomic():
                if _is_new(f"{token}:{name}:{number}", now):
                    add(part)
                    add_by_day({key: count for owner in part for key, count in days_of.get(owner, {}).items()})
                    added += sum(part.values())
        return added

    added_clicks = add_all("clicks", clicks, days.clicks, add_clicks, daily_counts.add_clicks)
    added_views = add_all("views", views, days.views, add_views, daily_counts.add_views)
    _is_new(token, now)
    return Folded(added_views, added_clicks)


def _parts(counts: Mapping[str, int]) -> Iterator[dict[str, int]]:
    items = iter(sorted(counts.items()))
    while part := dict(islice(items, ROWS_AT_ONCE)):
        yield part


def _is_new(token: str, now: datetime) -> bool:
    """Note the token, if new. A second process that adds this part waits here for the first one's commit."""
    return VisitBatch.objects.get_or_create(token=token, defaults={"folded_at": now})[1]


@transaction.atomic
def add_views(views: Mapping[str, int]) -> None:
    """Add to the counters of these users. 2 queries. Rows are locked in the order of their ids, as everywhere."""
    list(UserDocument.objects.select_for_update(no_key=True).filter(pk__in=views).order_by("pk").values_list("pk"))
    rows = ", ".join(["(%s, %s)"] * len(views))
    statement = f"""
        UPDATE lookup_userdocument SET views = lookup_userdocument.views + batch.column2, unlock_due = %s
        FROM (VALUES {rows}) AS batch WHERE lookup_userdocument.user_id = batch.column1
    """  # noqa: S608 - only placeholders are put in
    with connection.cursor() as cursor:
        cursor.execute(statement, [True, *(value for item in sorted(views.items()) for value in item)])


@transaction.atomic
def add_clicks(clicks: Mapping[str, int]) -> None:
    """Add to the clicks of these links; lookups show them at the next read. Documents are locked before links, as in
    all changes of profiles."""
    documents.mark_stale(Profile.objects.filter(links__in=list(clicks)))
    links = Link.objects.select_for_update(no_key=True).filter(pk__in=clicks).order_by("pk")
    for pk in list(links.values_list("pk", flat=True)):
        Link.objects.filter(pk=pk).update(clicks=F("clicks") + clicks[pk])


def forget(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> None:
    """Delete expired visitors and salts of either store, and old rows of batches."""
    old = (
        (Visit.objects.filter(counted_at__lte=now - ONCE_IN), "counted_at"),
        (VisitSalt.objects.filter(day__lt=day_of(now) - DAY), "day"),
        (VisitBatch.objects.filter(folded_at__lte=now - BATCHES_KEPT), "folded_at"),
    )
    for rows, field in old:
        batches.delete(rows, by=field, after_batch=after_batch)
