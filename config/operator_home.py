"""What the first page of the admin shows: one panel for each part of the service that operators watch.

A panel is a row of PANELS: the permission that it needs, and a function. Counts of large tables stop at BOUND.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timesince import timesince

from accounts.models import User
from config import jobs
from dashboard.models import AccessRequest
from imagehost.models import File, PreviewState, State
from imagehost.storing import storage
from imagehost.storing.storage import FolderStorage
from lookup.social import cases
from oidc_provider import request_log
from oidc_provider.models import Application
from presence import admin as presence_admin

BOUND = 1_000  # rows that a panel counts at most
NAMED = 5  # rows that a panel names
DISK_IS_FULL = 0.9  # of its bytes are used
_GIB = 1024**3


@dataclass(frozen=True)
class Fact:
    """A line of a panel. `share`: of the panel's largest value, from 0 to 100; None without a bar."""

    label: str
    value: str
    url: str = ""
    share: int | None = None


@dataclass(frozen=True)
class Panel:
    """`headline`: the state in one line; `needs_work`: an operator has to act. `link`: the words of the link to `url`.

    Without a headline the heading is enough.
    """

    title: str
    headline: str
    link: str
    url: str
    needs_work: bool = False
    facts: Sequence[Fact] = ()


def panels(user: User, now: datetime) -> list[Panel]:
    """Return the panels that the user may see, in order. At most 8 queries and 2 reads of the presence store."""
    return [make(user, now) for permission, make in PANELS if user.has_perm(permission)]


def _requests(user: User, now: datetime) -> Panel:
    """Return a page of the oldest requests and their bounded count. 1 query by the index of the queue."""
    url = reverse("staff_queue")
    return _waiting(AccessRequest.objects.pending(), now, title="Requests to staff", link="Open the queue", url=url)


def _reports(user: User, now: datetime) -> Panel:
    """Return a page of the oldest open reports and their bounded count. 1 query by their index."""
    url = reverse("staff_reports")
    return _waiting(cases.seen_by(user).filter(decided_at=None), now, title="Reports", link="Open reports", url=url)


def _jobs(user: User, now: datetime) -> Panel:
    """Return the jobs. 1 query."""
    scheduled = jobs.scheduled()
    broken = [job for job in scheduled if job.is_late(now) or (job.run.last_error and not job.run.is_running(now))]
    facts = [Fact(job.name, job.state(now), reverse("admin:accounts_jobrun_change", args=[job.name])) for job in broken]
    headline = f"{len(broken)} of {len(scheduled)} late or failed" if broken else f"All {len(scheduled)} run on time"
    return Panel("Jobs", headline, "All jobs", _list_of("accounts_jobrun"), bool(broken), facts)


def _feed(user: User, now: datetime) -> Panel:
    """Return the feed. 2 reads of the presence store, which are queries only where it is a table."""
    state = presence_admin.feed_state(now)
    is_broken = state.level == "error"
    facts = [Fact(label, value) for label, value in state.rows if label == "Members"]
    return Panel("Live presence", state.headline, "State of the feed", reverse("admin:presence_live"), is_broken, facts)


def _storage(user: User, now: datetime) -> Panel:
    """Return unfinished work of the storage. 3 queries, each by a partial index."""
    files = File.objects.order_by()
    unfinished = _count(files.exclude(state=State.READY))
    waiting = _count(
        files.ready().filter(preview_state=PreviewState.WAITING, quarantined_at__isnull=True, moves_from="")
    )
    quarantined = _count(files.filter(quarantined_at__isnull=False))
    facts = [
        Fact("Previews to make", _bounded(waiting)),
        Fact("Objects to finish or remove", _bounded(unfinished)),
        Fact("Files in quarantine", _bounded(quarantined), _list_of("imagehost_file", "quarantined_at__isempty=0")),
    ]
    bucket = storage.bucket()
    if not isinstance(bucket, FolderStorage):
        return Panel(
            "Storage", "Files are in an object store", "Storage by user", _list_of("imagehost_usage"), facts=facts
        )
    location = Path(bucket.location)  # before the first upload it does not exist, but a folder above it does
    disk = shutil.disk_usage(next(one for one in (location, *location.parents) if one.exists()))
    share = disk.used / disk.total
    headline = f"{disk.free / _GIB:,.1f} GB of {disk.total / _GIB:,.1f} GB free"
    return Panel("Storage", headline, "Storage by user", _list_of("imagehost_usage"), share > DISK_IS_FULL, facts)


def _sign_ins(user: User, now: datetime) -> Panel:
    """Return the sign-ins. 1 query: of today, and of the days that this process has not counted yet."""
    days = request_log.sign_ins_by_day(now)
    most = max(days.values()) or 1
    facts = [Fact(date_format(day, "D j F"), f"{count:,}", share=100 * count // most) for day, count in days.items()]
    headline = f"{sum(days.values()):,} in {len(days)} days"
    return Panel("Sign-ins to apps", headline, "Apps", reverse("staff_applications"), facts=facts)


def _suspended(user: User, now: datetime) -> Panel:
    """Return the suspended accounts. 1 query."""
    apps = Application.objects.filter(suspended_at__isnull=False).order_by("-suspended_at").only("name", "suspended_at")
    found = list(apps[: BOUND + 1])
    facts = [
        Fact(
            app.name,
            date_format(app.suspended_at, "j F Y"),
            reverse("admin:oidc_provider_application_change", args=[app.pk]),
        )
        for app in found[:NAMED]
        if app.suspended_at
    ]
    headline = f"{_bounded(len(found))} suspended" if found else "None"
    url = _list_of("oidc_provider_application", "suspended_at__isempty=0")
    return Panel("Suspended apps", headline, "All suspended apps", url, facts=facts)


PANELS: list[tuple[str, Callable[[User, datetime], Panel]]] = [
    ("dashboard.view_accessrequest", _requests),
    ("lookup.view_report", _reports),
    ("accounts.view_jobrun", _jobs),
    ("presence.view_lastonline", _feed),
    ("imagehost.view_file", _storage),
    ("oidc_provider.view_application", _sign_ins),
    ("oidc_provider.view_application", _suspended),
]


def _list_of(model: str, query: str = "") -> str:
    url = reverse(f"admin:{model}_changelist")
    return f"{url}?{query}" if query else url


def _count(rows: QuerySet[File]) -> int:
    """Return the number of rows, or BOUND + 1 where there are more."""
    return rows.values("pk")[: BOUND + 1].count()


def _bounded(count: int) -> str:
    return f"{BOUND:,}+" if count > BOUND else f"{count:,}"


def _waiting(rows: QuerySet[Any], now: datetime, *, title: str, link: str, url: str) -> Panel:
    """Return the panel of a queue: its bounded length, and how old its oldest row is. 1 query."""
    waiting = list(rows.order_by("created_at").values_list("created_at", flat=True)[: BOUND + 1])
    facts = [Fact("Oldest", f"{timesince(waiting[0], now)} ago")] if waiting else []
    headline = f"{_bounded(len(waiting))} waiting" if waiting else "None waiting"
    return Panel(title, headline, link, url, bool(waiting), facts)
