"""The profile's own fields, and its 22 settings keys, with a preview of each."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods, require_POST

from accounts import content_security
from accounts.http import SignedInRequest
from dashboard import access, editing
from dashboard.forms import profile_labels
from dashboard.forms.profile import ProfileForm
from dashboard.forms.profile_settings import SettingsForm, without
from lookup import profiles, settings_schema
from lookup.models import Profile
from lookup.page import whole
from lookup.views import profile_page

SAVED = "Your profile has been saved."


@access.signed_in
@editing.of_profile
@require_http_methods(["GET", "HEAD", "POST"])
def own_fields(request: SignedInRequest, profile: Profile) -> HttpResponse:
    form = ProfileForm(request.POST or None, instance=profile)
    if request.method == "POST" and form.is_valid() and form.write(by=request.user):
        messages.success(request, SAVED)
        return redirect(editing.url_of(profile, "profile_editor"))
    context = {"profile": form.profile, "page_title": "Profile", "form": form}
    return _with_preview(render(request, "dashboard/profile/fields.html", context))


@access.signed_in
@editing.of_profile
@xframe_options_sameorigin
@require_POST
def preview_fields(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """The page as it would be with what was typed; nothing is saved."""
    form = ProfileForm(request.POST, instance=profile)
    if not form.is_valid():
        return _no_preview(request, form)
    return _preview(request, form.instance)


@access.signed_in
@editing.of_profile
@require_http_methods(["GET", "HEAD", "POST"])
def appearance(request: SignedInRequest, profile: Profile) -> HttpResponse:
    form = SettingsForm(request.POST or None, profile=profile)
    if request.method == "POST" and form.is_valid() and form.write(by=request.user):
        messages.success(request, SAVED)
        return redirect(editing.url_of(profile, "profile_appearance"))
    context = {"profile": profile, "page_title": "Appearance", "form": form}
    return _with_preview(render(request, "dashboard/profile/appearance.html", context))


@access.signed_in
@editing.of_profile
@xframe_options_sameorigin
@require_POST
def preview_appearance(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """The page as it would be with what was typed; nothing is saved."""
    form = SettingsForm(request.POST, profile=profile)
    if not form.is_valid():
        return _no_preview(request, form)
    profile.settings = settings_schema.validated(form.chosen())
    return _preview(request, profile)


@access.signed_in
@editing.of_profile
@require_http_methods(["GET", "HEAD", "POST"])
def reset_appearance(request: SignedInRequest, profile: Profile, key: str) -> HttpResponse:
    if key not in settings_schema.KEYS:
        raise Http404
    title, back_url = profile_labels.title_of(key), editing.url_of(profile, "profile_appearance")
    if request.method == "POST":
        profiles.change(profile=profile, values={"settings": without(profile, key)}, by=request.user)
        messages.success(request, f"{title}: everything is as it was at first.")
        return redirect(back_url)
    context = {
        "title": f"Reset “{title}”?",
        "effects": ["Every setting under this title goes back to what a new profile has."],
        "button": "Reset",
        "back_url": back_url,
    }
    return render(request, "dashboard/confirm.html", context)


def _with_preview(response: HttpResponse) -> HttpResponse:
    """The page shows its preview in a frame."""
    response.headers[content_security.HEADER] = content_security.header(has_frames=True)
    return response


def _preview(request: SignedInRequest, profile: Profile) -> HttpResponse:
    page = whole.preview(profile, timezone.now())
    response = render(request, "dashboard/profile/preview.html", {"page": page})
    response.headers[content_security.HEADER] = profile_page.policy(page, is_framed=True)
    return response


def _no_preview(request: SignedInRequest, form: ProfileForm | SettingsForm) -> HttpResponse:
    response = render(request, "dashboard/profile/preview_refused.html", {"form": form})
    response.headers[content_security.HEADER] = content_security.header(is_framed=True)
    return response
