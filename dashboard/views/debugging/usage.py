"""How much an app is used, and each request of the last days."""

from __future__ import annotations

import csv

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.http import SignedInRequest
from dashboard import access, charts, usage
from dashboard.charts import Chart
from dashboard.forms.debugging import FAILED, RequestFilter
from dashboard.usage import COLUMNS, PERIODS, Figures
from oidc_provider.log import request_log
from oidc_provider.log.models import OK

REQUESTS_ON_A_PAGE = 50


@access.signed_in
@require_safe
def usage_page(request: SignedInRequest, client_id: str) -> HttpResponse:
    """3 queries, besides what this process has to write first."""
    application = access.application_of(request, client_id)
    period = PERIODS.get(request.GET.get("period", ""), PERIODS["24h"])
    request_log.buffer.write()
    figures = usage.figures(application, period, timezone.now())
    context = {
        "application": application,
        "figures": figures,
        "periods": PERIODS.values(),
        "columns": COLUMNS.values(),
        "table": _table(figures),
        "columns_and_totals": [(title, getattr(figures.total, name)) for name, title in COLUMNS.items()],
        "chart": _chart(figures),
    }
    return render(request, "dashboard/debugging/usage.html", context)


@access.signed_in
@require_safe
def usage_csv(request: SignedInRequest, client_id: str, period: str) -> HttpResponse:
    application = access.application_of(request, client_id)
    if period not in PERIODS:
        raise Http404
    request_log.buffer.write()
    figures = usage.figures(application, PERIODS[period], timezone.now())
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="usage-{application.client_id}-{period}.csv"'
    lines = csv.writer(response)
    lines.writerow(["begins_at", *COLUMNS])
    lines.writerows([row.begins_at.isoformat(), *(getattr(row, name) for name in COLUMNS)] for row in figures.rows)
    return response


@access.signed_in
@require_safe
def request_log_page(request: SignedInRequest, client_id: str) -> HttpResponse:
    """3 queries, besides what this process has to write first."""
    application = access.application_of(request, client_id)
    now = timezone.now()
    request_log.buffer.write()
    form = RequestFilter(request.GET, codes=usage.codes_of(application, now))
    endpoint, outcome = form.chosen()
    found = usage.requests_of(
        application,
        endpoint=endpoint,
        is_ok={OK: True, FAILED: False}.get(outcome),
        code="" if outcome in {OK, FAILED} else outcome,
        now=now,
    )
    page = Paginator(found, REQUESTS_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {"application": application, "form": form, "page": page, "is_filtered": bool(endpoint or outcome)}
    return render(request, "dashboard/debugging/log.html", context)


def _table(figures: Figures) -> list[tuple[object, list[int]]]:
    """The newest first: when a row begins, and its numbers."""
    return [(row.begins_at, [getattr(row, name) for name in COLUMNS]) for row in reversed(figures.rows)]


def _chart(figures: Figures) -> Chart:
    is_daily = figures.period.name == "30d"
    names = ("sign_ins", "refreshes", "errors")
    series = {COLUMNS[name]: [getattr(row, name) for row in figures.rows] for name in names}
    labels = [row.begins_at.strftime("%-d %b" if is_daily else "%H:%M") for row in figures.rows]
    return charts.stacked(series, labels, label_every=5 if is_daily else 4)
