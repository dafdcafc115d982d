"""The page "Visitors" of a profile, and its numbers as CSV."""

from __future__ import annotations

import csv

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.http import SignedInRequest, single_parameter
from dashboard import access
from dashboard.profile import editing, kinds, visitors
from dashboard.profile.visitors import PERIODS, Figures
from lookup.models import Profile
from lookup.visits import daily_counts


@access.signed_in
@editing.of_profile
@require_safe
def show(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """4 queries, beside those of every page of the editor."""
    link_id = single_parameter(request.GET, "link") or ""
    figures = Figures.of(profile, _length(request), link_id, timezone.now())
    context = {
        "profile": profile,
        "page_title": "Visitors",
        "figures": figures,
        "periods": PERIODS,
        "columns": ("Views", "Clicks"),
        "page_url": kinds.page_address(profile),
        "days_kept": daily_counts.KEPT.days,
    }
    return render(request, "dashboard/profile/visitors.html", context)


@access.signed_in
@editing.of_profile
@require_safe
def download(request: SignedInRequest, profile: Profile) -> HttpResponse:
    length, now = _length(request), timezone.now()
    rows = visitors.rows_of_csv(profile, length, now)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    name = f"visitors-{kinds.page_address(profile).strip('/')}-{now:%Y-%m-%d}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(response).writerows(rows)
    return response


def _length(request: SignedInRequest) -> int:
    """`days` of the query. Http404: it is no period that the page offers."""
    known = {str(length): length for length in PERIODS}
    try:
        return known[single_parameter(request.GET, "days", str(PERIODS[0])) or ""]
    except KeyError:
        raise Http404 from None
