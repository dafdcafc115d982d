"""The first page of the desk: a card for each list, with what waits there or what is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from accounts.models import User
from dashboard.models import AccessRequest
from dashboard.staff import file_queries, report_queries
from dashboard.staff.file_queries import Shown
from lookup.models import Report
from lookup.social import cases
from oidc_provider.models import Application

SHOWN = 3


@dataclass(frozen=True)
class Line:
    """`at`: since when it waits, or when it was made. `badge`: a word about it. `file`: whose picture is shown."""

    url: str
    text: str
    at: datetime
    badge: str = ""
    file: Shown | None = None


@dataclass(frozen=True)
class Card:
    """`waiting`: how many rows wait; None for a list in which nothing waits. `empty`: what is said without lines."""

    title: str
    url: str
    link: str
    lines: Sequence[Line]
    empty: str
    waiting: int | None = None


def requests(_: User) -> Card:
    """Return what people ask of staff. 2 queries."""
    url = reverse("staff_queue")
    pending = AccessRequest.objects.pending()
    rows = pending.select_related("user").in_turn()[:SHOWN]
    lines = [Line(url, f"{row.subject} for {row.user}", row.created_at) for row in rows]
    return Card("Requests", url, "All requests", lines, "No requests are waiting.", pending.count())


def reports(staff: User) -> Card:
    """Return what visitors report. 2 queries."""
    rows = cases.waiting(staff).select_related("user", "author")[:SHOWN]
    lines = [
        Line(reverse("staff_report", args=[row.pk]), title_of(row), row.created_at, row.get_reason_display())
        for row in rows
    ]
    waiting = cases.number_waiting(staff)
    return Card("Reports", reverse("staff_reports"), "All reports", lines, "No reports are waiting.", waiting)


def appeals(staff: User) -> Card:
    """Return what owners appeal against. 2 queries."""
    waiting = report_queries.appeals(staff)
    shown = [(row, row.appealed_at) for row in waiting[:SHOWN]]
    lines = [Line(reverse("staff_appeal", args=[row.pk]), str(row), at) for row, at in shown if at]
    return Card("Appeals", reverse("staff_appeals"), "All appeals", lines, "No appeals are waiting.", waiting.count())


def applications(_: User) -> Card:
    """Return the newest apps. 1 query."""
    rows = Application.objects.only("client_id", "name", "created").order_by("-created", "-pk")[:SHOWN]
    lines = [Line(reverse("staff_application", args=[row.client_id]), row.name, row.created) for row in rows]
    return Card("Newest apps", reverse("staff_applications"), "Find apps", lines, "No app is registered yet.")


def people(_: User) -> Card:
    """Return the newest accounts. 1 query."""
    rows = User.objects.order_by("-uid")[:SHOWN]
    lines = [Line(reverse("staff_person", args=[row.pk]), row.username, row.created_at) for row in rows]
    return Card("Newest people", reverse("staff_people"), "Find people", lines, "No one has signed up yet.")


def files(_: User) -> Card:
    """Return the newest files of the image host. 1 query."""
    found = [Shown.of(row) for row in file_queries.find_files(term="", state="", with_email=False)[:SHOWN]]
    lines = [
        Line(reverse("staff_file", args=[row.file.pk]), row.title, row.file.uploaded_at, str(row.file.owner), row)
        for row in found
    ]
    return Card("Newest files", reverse("staff_files"), "Find files", lines, "No file is uploaded yet.")


def title_of(report: Report) -> str:
    """Return what is reported, in words."""
    if report.thing:
        return str(report.title)
    return f"Comment of {report.author}" if report.comment_text else f"Profile of {report.user}"
