"""One app: how it stands, and what was done to it."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import SignedInRequest
from dashboard import access, app_activity, app_facts, redirect_matching
from dashboard.forms.application_acts import MatchForm
from dashboard.views.applications.own_app import of_app
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.models import Application

PAGE_SIZE = 25


@access.signed_in
@require_safe
@of_app
def overview(request: SignedInRequest, application: Application) -> HttpResponse:
    row = app_facts.row_of(application)
    context = {
        "application": application,
        "row": row,
        "secret": app_facts.secret_of(row, reader=request.user, now=timezone.now()),
        "scopes": [SCOPES[name] for name in application.registered_scopes if name in SCOPES],
    }
    return render(request, "dashboard/apps/overview.html", context)


@access.signed_in
@require_safe
@of_app
def activity(request: SignedInRequest, application: Application) -> HttpResponse:
    events = app_facts.events_of(application).order_by("-created_at", "-pk")
    page = Paginator(events, PAGE_SIZE).get_page(request.GET.get("page"))
    entries = app_activity.entries_of(page.object_list, request.user)
    context = {"application": application, "page": page, "entries": entries}
    return render(request, "dashboard/apps/activity.html", context)


@access.signed_in
@require_http_methods(["GET", "POST"])
@of_app
def match(request: SignedInRequest, application: Application) -> HttpResponse:
    """Nothing is changed. By POST, as what is pasted may hold a code, which no log should keep."""
    form = MatchForm(request.POST or None)
    context = {"application": application, "form": form}
    if request.method == "POST" and form.is_valid():
        sent = redirect_matching.sent_url(form.cleaned_data["url"])
        context["sent"] = sent
        context["difference"] = redirect_matching.explain(sent, application.redirect_urls)
    return render(request, "dashboard/apps/match.html", context)
