"""Views and clicks by day, for the owner: views by the host that led to the profile, clicks by link.

They are added in the transactions that add the totals (lookup/visits/database_store.py), each once. Nothing of a
visitor is stored here, only days, hosts and numbers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from django.apps import apps
from django.conf import settings
from django.db import connection, models
from django.db.models import Sum

from infrastructure.databases import batches, statements
from lookup.models import LinkDay, Profile, ProfileDay
from lookup.visits.visitors import DIRECT, OTHER

KEPT = timedelta(days=365)
MOST_HOSTS = 50  # of a profile and a day; views from further ones count as OTHER


class View(NamedTuple):
    """What is counted of a view: on a profile of `user_id`, coming from `host`."""

    user_id: str
    profile_id: str
    day: date
    host: str


class Click(NamedTuple):
    link_id: str
    day: date


Key = TypeVar("Key", View, Click)
Views = Mapping[View, int]
Clicks = Mapping[Click, int]


def by_owner(counts: Mapping[Key, int]) -> dict[str, dict[Key, int]]:
    """Return views by their users, or clicks by their links."""
    found: dict[str, dict[Key, int]] = defaultdict(dict)
    for key, count in counts.items():
        found[key[0]][key] = count
    return found


def add_views(views: Views) -> None:
    """Add to the views by day, except of deleted profiles. The caller holds the transaction and has locked the users,
    so that hosts are counted by one process at a time. At most 2 queries."""
    if not views:
        return
    profiles, days = {view.profile_id for view in views}, {view.day for view in views}
    held: dict[tuple[str, date], set[str]] = defaultdict(set)
    known = ProfileDay.objects.filter(profile__in=profiles, day__in=days).exclude(host__in=[DIRECT, OTHER])
    for profile_id, day, host in known.values_list("profile", "day", "host"):
        held[profile_id, day].add(host)
    rows: Counter[tuple[str, date, str]] = Counter()
    for view, count in sorted(views.items()):
        hosts, host = held[view.profile_id, view.day], view.host
        if host not in {DIRECT, OTHER, *hosts}:
            host = host if len(hosts) < MOST_HOSTS else OTHER
            hosts |= {host} - {OTHER}
        rows[view.profile_id, view.day, host] += count
    add(ProfileDay, ["views"], [(*key, count) for key, count in rows.items()])


def add_clicks(clicks: Clicks) -> None:
    """Add to the clicks by day, except of deleted links. The caller holds the transaction. At most 1 query."""
    if clicks:
        add(LinkDay, ["clicks"], [(*click, count) for click, count in clicks.items()])


def add(days: type[models.Model], numbers: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows into a table of counts by day, or add to existing ones, in the order of their keys. Rows of deleted
    owners are left out. 1 query.

    `days`: a model with one unique constraint, which begins with the owner. `rows`: the values of the constraint's
    columns in their order (keys as text, days as dates), then those of `numbers`. No two rows have the same key.
    """
    [constraint] = days._meta.total_unique_constraints
    keys: list[Any] = [days._meta.get_field(name) for name in constraint.fields]  # of any type
    owner = keys[0].related_model._meta
    columns = ", ".join(key.column for key in keys)
    values = [_value(at, key) for at, key in enumerate(keys)]
    values += [f"CAST(n.value->>{at} AS integer)" for at in range(len(keys), len(keys) + len(numbers))]
    sums = ", ".join(f"{number} = held.{number} + excluded.{number}" for number in numbers)
    statement = f"""
        INSERT INTO {days._meta.db_table} AS held ({columns}, {", ".join(numbers)})
        SELECT {", ".join(values)}
        FROM {statements.rows_source()} JOIN {owner.db_table} o ON o.{owner.pk.column} = {values[0]}
        WHERE true ORDER BY 1, 2
        ON CONFLICT ({columns}) DO UPDATE SET {sums}
    """  # noqa: S608 - only names of tables and columns
    with connection.cursor() as cursor:
        cursor.execute(statement, [statements.rows_parameter(list(rows))])


def _value(at: int, key: Any) -> str:
    """Return the column `at` of a row as the type of the field `key`. SQLite has no type of dates to cast to."""
    if isinstance(key, models.DateField):
        return statements.row_column(at, "date")
    return f"CAST(n.value->>{at} AS {key.db_type(connection)})"


class LinkCount(NamedTuple):
    id: str
    title: str
    url: str
    clicks: int


def views_by_day(profile: Profile, since: date) -> dict[date, int]:
    """Return the views of each day. 1 query."""
    rows = ProfileDay.objects.filter(profile=profile, day__gte=since).values("day").order_by("day")
    return {row["day"]: row["total"] for row in rows.annotate(total=Sum("views"))}


def views_by_host(profile: Profile, since: date, limit: int) -> list[tuple[str, int]]:
    """Return the hosts with the most views, DIRECT and OTHER included. 1 query."""
    rows = ProfileDay.objects.filter(profile=profile, day__gte=since).values("host")
    found = rows.annotate(total=Sum("views")).order_by("-total", "host")[:limit]
    return [(row["host"], row["total"]) for row in found]


def clicks_by_link(profile: Profile, since: date) -> list[LinkCount]:
    """Return the links, most clicks first. 1 query."""
    rows = LinkDay.objects.filter(link__profile=profile, day__gte=since).values("link", "link__title", "link__url")
    found = rows.annotate(total=Sum("clicks")).order_by("-total", "link")
    return [LinkCount(row["link"], row["link__title"], row["link__url"], row["total"]) for row in found]


def clicks_by_day(profile: Profile, since: date, link_id: str = "") -> dict[date, int]:
    """Return the clicks of all links, or of one, by day. 1 query."""
    rows = LinkDay.objects.filter(link__profile=profile, day__gte=since)
    rows = rows.filter(link=link_id) if link_id else rows
    return {row["day"]: row["total"] for row in rows.values("day").order_by("day").annotate(total=Sum("clicks"))}


def everything(profile: Profile, since: date) -> list[tuple[date, str, str, int]]:
    """Return each row as stored: its day, "view" or "click", the host or the link's address, the number. 2 queries."""
    views = ProfileDay.objects.filter(profile=profile, day__gte=since).values_list("day", "host", "views")
    clicks = LinkDay.objects.filter(link__profile=profile, day__gte=since).values_list("day", "link__url", "clicks")
    found = [(day, "view", host, count) for day, host, count in views]
    return sorted([*found, *((day, "click", url, count) for day, url, count in clicks)])


def forget(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> int:
    """Delete days that are older than KEPT from each table of COUNTED_DAYS; return the number of rows."""
    last = now.date() - KEPT
    days = (apps.get_model(name)._default_manager.filter(day__lt=last) for name in settings.COUNTED_DAYS)
    return sum(batches.delete(rows, by="day", after_batch=after_batch) for rows in days)
