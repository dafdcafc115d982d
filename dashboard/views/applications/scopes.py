"""Locked scopes: asking staff for one."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.http import SignedInRequest
from dashboard import access, access_requests, app_facts
from dashboard.forms.application_acts import AskForm
from oidc_provider.applications.scopes import LOCKED_SCOPES, SCOPES


@access.signed_in
@require_http_methods(["GET", "POST"])
def ask(request: SignedInRequest, scope: str) -> HttpResponse:
    """How one's request stands, and the form where none waits."""
    if scope not in LOCKED_SCOPES:
        raise Http404
    form = AskForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            access_requests.ask_for_scope(user=request.user, scope=scope, reason=form.cleaned_data["reason"])
            messages.success(request, "You have asked. Staff will answer by mail and on this page.")
            return redirect("ask_for_scope", scope)
        except ValidationError as error:
            form.add_error(None, error.messages)
    context = {
        "form": form,
        "scope": SCOPES[scope],
        "asked": app_facts.scope_requests(request.user).get(scope),
        "is_unlocked": scope in request.user.unlocked_scopes,
    }
    return render(request, "dashboard/apps/ask_for_scope.html", context)


@access.signed_in
@require_POST
def withdraw(request: SignedInRequest, pk: int) -> HttpResponse:
    asked = access.request_of(request, pk)
    if asked.subject not in LOCKED_SCOPES:
        raise Http404
    try:
        access_requests.withdraw(request=asked, by=request.user)
        messages.success(request, "Your request is withdrawn.")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("ask_for_scope", asked.subject)
