"""The files of a profile: its picture, banner, fonts, sounds and the like."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import content_security
from accounts.http import SignedInRequest
from dashboard import access, editing
from dashboard.forms.profile import MediaForm
from dashboard.views.profile import media_cards
from dashboard.views.profile.media_cards import PLACES
from lookup import profiles, uploads
from lookup.models import Profile
from lookup.page import places


@access.signed_in
@editing.of_profile
@require_safe
def files(request: SignedInRequest, profile: Profile) -> HttpResponse:
    return _page(request, profile)


@access.signed_in
@editing.of_profile
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: SignedInRequest, profile: Profile, place: str) -> HttpResponse:
    if place not in PLACES:
        raise Http404
    back = redirect(editing.url_of(profile, "profile_media"))
    if request.method != "POST":  # somebody came back after a login
        return back
    form = MediaForm(request.POST, request.FILES, profile=profile, place=place)
    if form.is_valid() and form.write(by=request.user):
        messages.success(request, f"{PLACES[place].title}: the new file is shown.")
        return back
    return _page(request, profile, form)


@access.signed_in
@editing.of_profile
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: SignedInRequest, profile: Profile, place: str) -> HttpResponse:
    if place not in PLACES or getattr(profile, f"{place}_id") is None:
        raise Http404
    title, back_url = PLACES[place].title, editing.url_of(profile, "profile_media")
    if request.method == "POST":
        profiles.change(profile=profile, values={place: None}, by=request.user)
        messages.success(request, f"{title}: the file is gone.")
        return redirect(back_url)
    context = {
        "title": f"Remove “{title}”?",
        "effects": ["Your page no longer shows the file, and it is deleted unless something else shows it."],
        "button": "Remove",
        "back_url": back_url,
    }
    return render(request, "dashboard/confirm.html", context)


@access.signed_in
@editing.of_profile
@require_POST
def mirror(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Show the picture of the chat platform, or one's own again."""
    is_mirrored = request.POST.get("mirror") == "on"
    profiles.mirror_chat(profile=profile, is_mirrored=is_mirrored, by=request.user)
    told = "Your page shows the picture of your chat account." if is_mirrored else "Your page shows your own picture."
    messages.success(request, told)
    return redirect(editing.url_of(profile, "profile_media"))


def _page(request: SignedInRequest, profile: Profile, refused: MediaForm | None = None) -> HttpResponse:
    """With the form that was refused in its place."""
    used = uploads.used_by(request.user)
    context: dict[str, Any] = {
        "profile": profile,
        "page_title": "Media",
        "cards": media_cards.of(profile, refused),
        "used": used,
        "quota": uploads.QUOTA,
        "used_in_words": f"{used / uploads.MIB:.1f} of {uploads.QUOTA // uploads.MIB} MiB",
        "chat_picture": media_cards.chat_picture_of(profile),
    }
    response = render(request, "dashboard/profile/media.html", context)
    sources = places.media_sources()
    response.headers[content_security.HEADER] = content_security.header(images=sources, media=sources)
    return response
