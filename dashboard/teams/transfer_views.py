"""The page that transfers an app: to a team or to oneself at once, to another person by an invitation."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.forms import confirm, show_error, with_error_message
from dashboard.teams import actions, queries
from dashboard.teams.forms import TransferForm
from oidc_provider.applications import invitations
from oidc_provider.models import Application, Role


@access.recently_signed_in
@access.form_page
def transfer(request: SignedInRequest, client_id: str) -> HttpResponse:
    """Ask where the app goes, show what that means, and carry it out once the reader is sure."""
    application = access.application_of(request, client_id, Role.OWNER)
    if application.staging_of is not None:
        return redirect("application_transfer", application.staging_of.client_id)
    destinations = queries.destinations_of(application, request.user)
    form = TransferForm(request.POST or None, destinations=destinations)
    if form.is_valid():
        destination = form.destination()
        if not form.cleaned_data["is_sure"]:
            return _ask(request, application, form)
        try:
            done = actions.transfer(application=application, to=destination, by=request.user)
        except ValidationError as error:
            show_error(form, error)
        else:
            messages.success(request, done)
            return redirect("application", application.client_id)
    context = {"application": application, "form": form, "offer": invitations.offer_of(application, timezone.now())}
    return render(request, "dashboard/teams/transfer.html", context)


@access.signed_in
@require_POST
def withdraw_offer(request: SignedInRequest, client_id: str) -> HttpResponse:
    application = access.application_of(request, client_id, Role.OWNER)
    offer = get_object_or_404(application.invitations)
    with_error_message(request, "Offer withdrawn.", lambda: invitations.withdraw(invitation=offer, by=request.user))
    return redirect("application_transfer", application.client_id)


def _ask(request: SignedInRequest, application: Application, form: TransferForm) -> HttpResponse:
    to = form.destination()
    return confirm(
        request,
        f"Transfer {application.name} to {to.name}?",
        queries.effects_of_transfer(application, to),
        "Send the offer" if to.email else "Transfer the app",
        back_url=reverse("application_transfer", args=[application.client_id]),
        template="dashboard/client_apps/confirm.html",
        application=application,
        form=form.asked(),
    )
