"""The pages that help to debug an app: code samples, the login test, usage and the request log."""

from __future__ import annotations

import csv

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST, require_safe

from accounts.http import SignedInRequest
from dashboard import access, charts
from dashboard.charts import Chart
from dashboard.client_apps import code_samples, login_test, usage
from dashboard.client_apps.code_samples import STACKS
from dashboard.client_apps.forms import FAILED, RequestFilter, TryForm
from dashboard.client_apps.usage import COLUMNS, PERIODS, Figures
from dashboard.client_apps.views import of_app
from dashboard.forms import with_error_message
from oidc_provider import request_log
from oidc_provider.models import OK, Application, Role


@access.signed_in
@require_safe
def code_page(request: SignedInRequest, client_id: str) -> HttpResponse:
    """Show code. `?stack=` and `?redirect_url=` choose; the first of each is the default."""
    application = access.application_of(request, client_id, Role.VIEWER)
    urls = application.redirect_urls
    chosen = request.GET.get("redirect_url", "")
    redirect_url = chosen if chosen in urls else urls[0]
    stacks = {stack.name: stack for stack in STACKS}
    stack = stacks.get(request.GET.get("stack", ""), STACKS[0])
    context = {
        "application": application,
        "stacks": STACKS,
        "sample": code_samples.sample_of(stack, application, redirect_url),
        "redirect_url": redirect_url,
        "has_openid": "openid" in application.registered_scopes,
    }
    return render(request, "dashboard/debugging/code.html", context)


_READ = ("code", "state", "iss", "error", "error_description")
_LENGTH = 1_000


@access.signed_in
@require_safe
@of_app(Role.DEVELOPER)
def try_page(request: SignedInRequest, application: Application) -> HttpResponse:
    return _page(request, application, TryForm(application=application))


@access.signed_in
@require_POST
@of_app(Role.DEVELOPER)
def change_callback(request: SignedInRequest, application: Application) -> HttpResponse:
    """Register the callback, or remove it."""
    adds = request.POST.get("act") == "add"
    change = login_test.add_callback if adds else login_test.remove_callback
    with_error_message(
        request,
        "The callback is registered." if adds else "The callback is no longer registered.",
        lambda: change(application=application, by=request.user),
    )
    return redirect("application_try", application.client_id)


@access.signed_in
@require_POST
@of_app(Role.DEVELOPER)
def start(request: SignedInRequest, application: Application) -> HttpResponse:
    form = TryForm(request.POST, application=application)
    if application.is_suspended or not login_test.is_callback_registered(application):
        return redirect("application_try", application.client_id)  # that page shows the reason
    if not form.is_valid():
        return _page(request, application, form)
    under_way = login_test.begin(application, **form.cleaned_data, now=timezone.now())
    login_test.keep(request.session, application, under_way)
    return redirect(under_way.url())


@access.signed_in
@require_GET  # no HEAD: a prefetch must not use the code up
@of_app(Role.DEVELOPER)
def callback(request: SignedInRequest, application: Application) -> HttpResponse:
    """Receive the code of the login test, use it at once and redirect to the page with the steps."""
    under_way = login_test.taken(request.session, application)
    if under_way is None:
        messages.error(request, "No test is running in this browser. Start a new one.")
        return redirect("application_try", application.client_id)
    answer = {name: request.GET[name][:_LENGTH] for name in _READ if name in request.GET}
    steps = login_test.run(
        application=application, owner=request.user, under_way=under_way, answer=answer, now=timezone.now()
    )
    login_test.keep_result(request.session, application, steps)
    return redirect("application_try_result", application.client_id)


@access.signed_in
@require_safe
@of_app(Role.DEVELOPER)
def result(request: SignedInRequest, application: Application) -> HttpResponse:
    steps = login_test.result(request.session, application)
    if steps is None:
        return redirect("application_try", application.client_id)
    context = {
        "application": application,
        "steps": steps,
        "is_good": all(step["is_good"] for step in steps),
        "is_callback_registered": login_test.is_callback_registered(application),
    }
    return render(request, "dashboard/debugging/result.html", context)


def _page(request: SignedInRequest, application: Application, form: TryForm) -> HttpResponse:
    context = {
        "application": application,
        "form": form,
        "callback_url": login_test.callback_url(application),
        "is_callback_registered": login_test.is_callback_registered(application),
        "has_result": login_test.result(request.session, application) is not None,
    }
    return render(request, "dashboard/debugging/try.html", context)


REQUESTS_ON_A_PAGE = 50


@access.signed_in
@require_safe
def usage_page(request: SignedInRequest, client_id: str) -> HttpResponse:
    """Show usage. 3 queries, and what this process has to write first."""
    application = access.application_of(request, client_id, Role.VIEWER)
    period = PERIODS.get(request.GET.get("period", ""), PERIODS["24h"])
    request_log.buffer.write()
    figures = usage.figures(application, period, timezone.now())
    context = {
        "application": application,
        "figures": figures,
        "periods": PERIODS.values(),
        "columns": COLUMNS.values(),
        "table": [(row.begins_at, [row.counts[name] for name in COLUMNS]) for row in reversed(figures.rows)],
        "columns_and_totals": [(title, figures.total.counts[name]) for name, title in COLUMNS.items()],
        "chart": _chart(figures),
        "days_kept": settings.REQUEST_LOG_RETENTION.days,
    }
    return render(request, "dashboard/debugging/usage.html", context)


@access.signed_in
@require_safe
def usage_csv(request: SignedInRequest, client_id: str, period: str) -> HttpResponse:
    application = access.application_of(request, client_id, Role.VIEWER)
    if period not in PERIODS:
        raise Http404
    request_log.buffer.write()
    figures = usage.figures(application, PERIODS[period], timezone.now())
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="usage-{application.client_id}-{period}.csv"'
    lines = csv.writer(response)
    lines.writerow(["begins_at", *COLUMNS])
    lines.writerows([row.begins_at.isoformat(), *(row.counts[name] for name in COLUMNS)] for row in figures.rows)
    return response


@access.signed_in
@require_safe
def request_log_page(request: SignedInRequest, client_id: str) -> HttpResponse:
    """Show the log. 3 queries, and what this process has to write first."""
    application = access.application_of(request, client_id, Role.VIEWER)
    now = timezone.now()
    request_log.buffer.write()
    form = RequestFilter(request.GET, codes=usage.codes_of(application, now))
    chosen = form.chosen()
    endpoint, outcome = chosen["endpoint"], chosen["outcome"]
    found = usage.requests_of(
        application,
        endpoint=endpoint,
        is_ok={OK: True, FAILED: False}.get(outcome),
        code="" if outcome in {OK, FAILED} else outcome,
        now=now,
    )
    page = Paginator(found, REQUESTS_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "application": application,
        "form": form,
        "page": page,
        "is_filtered": bool(endpoint or outcome),
        "days_kept": settings.REQUEST_LOG_RETENTION.days,
    }
    return render(request, "dashboard/debugging/log.html", context)


def _chart(figures: Figures) -> Chart:
    is_daily = figures.period.name == "30d"
    names = ("sign_ins", "refreshes", "errors")
    series = {COLUMNS[name]: [row.counts[name] for row in figures.rows] for name in names}
    labels = [row.begins_at.strftime("%-d %b" if is_daily else "%H:%M") for row in figures.rows]
    return charts.stacked(series, labels, label_every=5 if is_daily else 4)
