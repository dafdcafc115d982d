"""The page before an act of staff: what will happen, and why it is done."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts.errors import sentences
from accounts.http import SignedInRequest
from dashboard import access
from dashboard.forms.staff import ReasonForm
from dashboard.staff import acts
from dashboard.staff.acts import Act


def answer(request: SignedInRequest, act: Act, subject: Any, *, name: str, back_url: str) -> HttpResponse:
    """GET asks, POST acts; either way what cannot be done now leads back with a message. 403 without the right."""
    if not access.may(request.user, act.permission):
        raise PermissionDenied
    refusal = act.refusal(subject)
    if refusal:
        messages.warning(request, refusal)
        return redirect(back_url)
    form = ReasonForm(request.POST if request.method == "POST" else None, hint=act.hint)
    if not form.is_valid():
        return render(request, "dashboard/confirm.html", _context(act, subject, form, name, back_url))
    try:
        acts.perform(act, subject, by=request.user, reason=form.cleaned_data["reason"])
    except (ValidationError, PermissionDenied) as refused:
        messages.error(request, sentences(refused))
    else:
        messages.success(request, act.done.format(name))
    return redirect(back_url)


def _context(act: Act, subject: Any, form: ReasonForm, name: str, back_url: str) -> dict[str, Any]:
    return {
        "title": act.title.format(name),
        "effects": act.effects(subject),
        "button": act.label,
        "is_harmless": act.is_harmless,
        "form": form,
        "back_url": back_url,
    }
