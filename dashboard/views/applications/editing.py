"""An app's settings, and its danger zone."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.http import SignedInRequest
from dashboard import access, app_edits, app_facts, redirect_rows
from dashboard.forms.application_acts import NameForm
from dashboard.forms.applications import EditAppForm
from dashboard.views.applications import form_page
from dashboard.views.applications.own_app import of_app
from oidc_provider.applications import applications
from oidc_provider.models import Application


@access.signed_in
@require_http_methods(["GET", "POST"])
@of_app
def settings(request: SignedInRequest, application: Application) -> HttpResponse:
    initial = EditAppForm.initial_of(application)
    form = EditAppForm(request.POST or None, request.FILES or None, owner=request.user, initial=initial)
    if request.method == "POST" and "preview" not in request.POST and form.is_valid():
        try:
            _save(request, application, form)
            return redirect("application_settings", application.client_id)
        except ValidationError as error:
            form.refuse(error)
    return form_page.response(request, "dashboard/apps/settings.html", form, app_facts.row_of(application))


@access.signed_in
@require_POST
@of_app
def preview(request: SignedInRequest, application: Application) -> HttpResponse:
    row = app_facts.row_of(application)
    return form_page.preview(request, EditAppForm(request.POST, request.FILES, owner=request.user), row)


@access.signed_in
@require_http_methods(["GET", "POST"])
@of_app
def revoke_tokens(request: SignedInRequest, application: Application) -> HttpResponse:
    if request.method == "POST":
        applications.revoke_tokens(application=application, by=request.user)
        messages.success(request, "All tokens of the app are revoked.")
        return redirect("application", application.client_id)
    context = {
        "application": application,
        "title": f"Revoke all tokens of {application.name}?",
        "effects": [
            "Every code, access token and refresh token of the app stops working at once.",
            "Its users sign in again. What they approved is kept, so that they are not asked once more.",
            "The secret stays as it is.",
        ],
        "button": "Revoke all tokens",
        "back_url": reverse("application_settings", args=[application.client_id]),
    }
    return render(request, "dashboard/apps/confirm.html", context)


@access.recently_signed_in
@require_http_methods(["GET", "POST"])
@of_app
def delete(request: SignedInRequest, application: Application) -> HttpResponse:
    form = NameForm(request.POST or None, application=application)
    if request.method == "POST" and form.is_valid():
        applications.delete(application=application, by=request.user)
        messages.success(request, f"{application.name} is deleted.")
        return redirect("applications")
    context = {
        "application": application,
        "title": f"Delete {application.name}?",
        "effects": [
            "The app, its client id and its secret are gone for ever; nobody can sign in with it again.",
            "Its tokens stop working at once, and what people approved is forgotten.",
        ],
        "form": form,
        "button": "Delete the app",
        "back_url": reverse("application_settings", args=[application.client_id]),
    }
    return render(request, "dashboard/apps/confirm.html", context)


def _save(request: SignedInRequest, application: Application, form: EditAppForm) -> None:
    """Saves, and says what is worth knowing about what is saved."""
    changed = app_edits.change(
        application=application,
        by=request.user,
        version=form.cleaned_data["version"],
        values=form.values(),
        is_sure=form.cleaned_data["is_sure"],
    )
    messages.success(request, f"{changed.name} is saved.")
    for short, long in redirect_rows.twins(changed.redirect_urls):
        messages.warning(
            request, f"{short} and {long} are two different URLs. Keep the one that your app really sends."
        )
    if application.is_verified and not changed.is_verified:
        messages.warning(
            request, "The app is no longer verified, as its name or logo changed. Staff can verify it again."
        )
