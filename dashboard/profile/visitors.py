"""The page "Visitors": views by day, the hosts that led to the profile, and clicks by link and day; also as CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import date, datetime
from typing import Self

from django.http import Http404, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts import audit
from accounts.http import SignedInRequest, single_parameter
from dashboard import charts
from dashboard.charts import Chart
from dashboard.profile import editing, kinds
from lookup.models import Profile
from lookup.visits import daily_counts, database_store
from lookup.visits.daily_counts import LinkCount
from lookup.visits.visitors import DIRECT, OTHER

PERIODS = (30, 90)  # days
MOST_HOSTS = 20
HOST_NAMES = {DIRECT: "Direct", OTHER: "Other"}


@dataclass(frozen=True)
class Day:
    day: date
    views: int
    clicks: int


@dataclass(frozen=True)
class Figures:
    """`link`: the one whose clicks are shown; None: all. `days`: the newest last."""

    length: int
    days: list[Day]
    hosts: list[tuple[str, int]]
    links: list[LinkCount]
    link: LinkCount | None

    @classmethod
    def of(cls, profile: Profile, length: int, link_id: str, now: datetime) -> Self:
        """Return the figures. 4 queries."""
        days = database_store.days_until(now, length)
        views = daily_counts.views_by_day(profile, days[0])
        links = daily_counts.clicks_by_link(profile, days[0])
        link = next((one for one in links if one.id == link_id), None)
        clicks = daily_counts.clicks_by_day(profile, days[0], link.id if link else "")
        hosts = daily_counts.views_by_host(profile, days[0], MOST_HOSTS)
        counted = [Day(day, views.get(day, 0), clicks.get(day, 0)) for day in days]
        return cls(length, counted, [(HOST_NAMES.get(host, host), count) for host, count in hosts], links, link)

    @property
    def views(self) -> int:
        return sum(day.views for day in self.days)

    @property
    def clicks(self) -> int:
        return sum(day.clicks for day in self.days)

    def chart(self, name: str, numbers: list[int]) -> Chart:
        return charts.by_day({name: numbers}, [day.day for day in self.days])


@editing.of_profile
@require_safe
def show(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Show the figures. 4 queries plus the editor's."""
    link_id = single_parameter(request.GET, "link") or ""
    figures = Figures.of(profile, _length(request), link_id, timezone.now())
    return editing.page(
        request,
        profile,
        "profile/visitors",
        "Visitors",
        figures=figures,
        views_text=f"{figures.views:,}",
        clicks_text=f"{figures.clicks:,}",
        views_chart=figures.chart("Views", [day.views for day in figures.days]),
        clicks_chart=figures.chart("Clicks", [day.clicks for day in figures.days]),
        periods=PERIODS,
        columns=("Views", "Clicks"),
        page_url=kinds.page_address(profile),
        days_kept=daily_counts.KEPT.days,
    )


@editing.of_profile
@require_safe
def download(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Return a row for each day and host, and for each day and link. 2 queries plus the profile's."""
    length, now = _length(request), timezone.now()
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    name = f"visitors-{kinds.page_address(profile).strip('/')}-{now:%Y-%m-%d}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    rows = csv.writer(response)
    rows.writerow(("day", "kind", "source", "count"))
    for day, kind, source, count in daily_counts.everything(profile, database_store.days_until(now, length)[0]):
        words = HOST_NAMES.get(source, source) if kind == "view" else audit.spreadsheet_cell(source)
        rows.writerow((day.isoformat(), kind, words, count))
    return response


def _length(request: SignedInRequest) -> int:
    """Return `days` of the query. Raises Http404 for a period that the page does not offer."""
    known = {str(length): length for length in PERIODS}
    try:
        return known[single_parameter(request.GET, "days", str(PERIODS[0])) or ""]
    except KeyError:
        raise Http404 from None
