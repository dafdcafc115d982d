"""Reports as staff read them: those about one thing together, and none about the reader."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from accounts.models import User
from lookup.models import Report
from lookup.social import reports

_ROWS = {"user", "comment", "author"}
_THING = ("user", "kind", "thing", "comment", "comment_text", "author")  # the columns that name what was reported
_IN_TURN = ("created_at", "pk")


def seen_by(staff: User) -> QuerySet[Report]:
    """Return the reports without those about `staff`, since a report names its sender; superusers see all."""
    if staff.is_superuser:
        return Report.objects.all()
    return Report.objects.exclude(user=staff).exclude(author=staff)


def waiting(staff: User, **chosen: str) -> QuerySet[Any]:
    """Return the oldest open report about each thing, in turn, with `number`: how many are open about it. `chosen`:
    values of columns. 1 query."""
    found = seen_by(staff).filter(decided_at=None, **chosen)
    thing = [F(name) for name in _THING]
    placed = found.annotate(
        number=Window(Count("pk"), partition_by=thing),
        place=Window(RowNumber(), partition_by=thing, order_by=[*_IN_TURN]),
    )
    return placed.filter(place=1).order_by(*_IN_TURN)


def decided(staff: User, **chosen: str) -> QuerySet[Report]:
    """Return decided reports, the latest first."""
    return seen_by(staff).filter(decided_at__isnull=False, **chosen).order_by("-decided_at", "-pk")


def number_waiting(staff: User) -> int:
    """Return how many things are reported and not decided. 1 query by the index of open reports."""
    return waiting(staff).count()


def next_after(report: Report, *, staff: User) -> Report | None:
    """Return the next open report about another thing: one that came later, else the oldest. 1 query, or 2."""
    others = seen_by(staff).filter(decided_at=None).exclude(pk__in=same_thing(report).values("pk")).order_by(*_IN_TURN)
    later = Q(created_at__gt=report.created_at) | Q(created_at=report.created_at, pk__gt=report.pk)
    return others.filter(later).first() or others.first()


def same_thing(report: Report) -> QuerySet[Report]:
    """Return all reports about what this one is about, itself too."""
    named = {name: getattr(report, f"{name}_id" if name in _ROWS else name) for name in _THING}
    return Report.objects.filter(**{name: value for name, value in named.items() if value is not None}).filter(
        **{f"{name}__isnull": True for name, value in named.items() if value is None}
    )


def accused_of(report: Report) -> User:
    """Return whose doing the report is about: the author of a comment, else the owner."""
    return report.author or report.user


def against(person: User, *, staff: User) -> QuerySet[Report]:
    """Return the reports about what this person wrote or owns, as `seen_by`."""
    return seen_by(staff).filter(Q(author=person) | Q(user=person, author=None))


@transaction.atomic
def close(found: QuerySet[Report], outcome: Report.Outcome, *, by: User, reason: str) -> int:
    """Decide the open ones among these reports; return their number. Raises PermissionDenied: one is about `by`, who
    is no superuser."""
    rows = found.filter(decided_at=None).order_by("pk").select_for_update(of=("self",))
    for report in (closed := list(rows)):
        reports.decide(report, outcome, by=by, reason=reason)
    return len(closed)
