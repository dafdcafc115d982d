"""The secret: shown once, reset."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.http import SignedInRequest
from dashboard import access, app_edits, app_facts
from dashboard.forms.application_acts import ResetForm
from dashboard.views.applications.own_app import of_app
from oidc_provider.models import Application


@access.recently_signed_in
@require_http_methods(["GET", "POST"])
@of_app
def reset(request: SignedInRequest, application: Application) -> HttpResponse:
    form = ResetForm(request.POST or None, application=application)
    if request.method == "POST" and form.is_valid():
        version = form.cleaned_data["version"]
        try:
            secret = app_edits.reset_secret(application=application, by=request.user, version=version)
            return shown_once(request, application, secret, is_new=False)
        except ValidationError as error:
            form.add_error(None, error)
    users = app_facts.signed_in_today(application, timezone.now())
    context = {"application": application, "form": form, "signed_in_today": users}
    return render(request, "dashboard/apps/reset_secret.html", context)


def shown_once(request: SignedInRequest, application: Application, secret: str, *, is_new: bool) -> HttpResponse:
    """The one page that ever shows `secret`. Its views are never cached."""
    context = {"application": application, "client_secret": secret, "is_new": is_new}
    return render(request, "dashboard/apps/secret.html", context)
