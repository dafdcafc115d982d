"""Who may see the profile."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.http import SignedInRequest
from dashboard import access, editing
from dashboard.forms.profile import PrivacyForm
from lookup import profiles
from lookup.models import Profile


@access.signed_in
@editing.of_main_profile
@require_http_methods(["GET", "HEAD", "POST"])
def privacy(request: SignedInRequest, profile: Profile) -> HttpResponse:
    initial = {"public_api_access": request.user.public_api_access}
    form = PrivacyForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        is_public = form.cleaned_data["public_api_access"]
        profiles.set_public_access(user=request.user, is_public=is_public, by=request.user)
        messages.success(request, "Your profile is public." if is_public else "Your profile is private.")
        return redirect("profile_privacy")
    context = {"profile": profile, "page_title": "Privacy", "form": form}
    return render(request, "dashboard/profile/privacy.html", context)
