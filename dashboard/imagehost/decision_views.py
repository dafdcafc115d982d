"""What staff decided about a file, an album or a folder, for its owner, who appeals there."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from accounts.http import SignedInRequest
from dashboard.forms import is_done
from dashboard.imagehost.forms import AppealForm
from dashboard.imagehost.views import form_view
from imagehost import moderation
from imagehost.models import File
from imagehost.moderation import Row
from lookup.models import Report
from lookup.social import decisions

_PAGES = {Report.Kind.ALBUM: "imagehost_album", Report.Kind.FOLDER: "imagehost_folder"}


@form_view
def decision(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show a decision, and take the appeal. 2 queries: the decision, what it is about."""
    found = request.user.decisions.get(pk=pk)
    row = moderation.find(found.kind, found.thing)
    form = AppealForm(request.POST if request.method == "POST" else None)

    def send() -> None:
        if row is None:
            raise ValidationError("It has been deleted, so there is nothing to appeal.")
        decisions.appeal(decision=found, text=form.cleaned_data["text"], by=request.user)

    if is_done(form, send):
        messages.success(request, "Appeal sent. Another member of staff will answer it.")
        return redirect("imagehost_decision", pk)
    context = {
        "decision": found,
        "row_url": _page_of(row),
        "form": form,
        "may_appeal": row is not None and found.may_be_appealed,
    }
    return render(request, "dashboard/imagehost/decision.html", context)


def _page_of(row: Row | None) -> str:
    """Return the owner's page of it; empty where it was deleted."""
    if row is None:
        return ""
    if isinstance(row, File):
        return reverse("imagehost_file", args=[row.name])
    return reverse(_PAGES[moderation.thing_of(row).kind], args=[row.pk])
