"""GET /{username}/moderation: the owner switches comments and votes on and off, and sees who is blocked."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.http import SignedInRequest
from lookup.models import Profile, ProfileBlock
from lookup.shapes import settings_schema
from lookup.social import feedback

MAX_SHOWN = 200
NAMES = {"comments": "Comments", "votes": "Votes"}


@never_cache
@login_required
@require_safe
def show(request: SignedInRequest, name: str) -> HttpResponse:
    _check_own(request, name)
    stored = Profile.objects.values_list("settings", flat=True).get(user=request.user, is_main=True)
    chosen = settings_schema.filled(stored)
    parts = [(part, NAMES[part], chosen[key]["enabled"]) for part, key in feedback.PARTS.items()]
    blocks = ProfileBlock.objects.filter(user=request.user).select_related("blocked").order_by("-created_at", "pk")
    known = {"parts": parts, "blocks": blocks[:MAX_SHOWN]}
    return render(request, "lookup/moderation.html", known)


@login_required
@require_POST
def act(request: SignedInRequest, name: str, act: str) -> HttpResponse:
    """Show or hide (`show`, `hide`) a part of the profile; `unblock` a user."""
    _check_own(request, name)
    value = request.POST.get("value", "")
    if act in {"show", "hide"} and value in feedback.PARTS:
        feedback.switch(part=value, is_on=act == "show", by=request.user)
        messages.success(request, f"{NAMES[value]} are switched {'on' if act == 'show' else 'off'}.")
    elif act == "unblock" and len(value) <= 32 and "\x00" not in value:
        feedback.unblock(blocked_id=value, by=request.user)
        messages.success(request, "User unblocked.")
    else:
        raise Http404
    return HttpResponseRedirect(reverse("profile_moderation", args=[request.user.username]))


def _check_own(request: SignedInRequest, name: str) -> None:
    """Raise Http404 for another user's page."""
    if name.upper() != request.user.username.upper():
        raise Http404
