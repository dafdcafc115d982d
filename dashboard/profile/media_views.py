"""The files of a profile: its picture, banner, fonts, sounds and the like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts import content_security
from accounts.http import SignedInRequest
from accounts.models import LinkedAccount
from dashboard import access
from dashboard.forms import confirm
from dashboard.profile import editing
from dashboard.profile.forms import PLACES, MediaForm, Place
from lookup import profiles, settings_schema, uploads
from lookup.models import Asset, Profile
from lookup.page import url_policy
from lookup.uploads import MIB


@dataclass(frozen=True)
class Card:
    """A place of the page and the file that it shows. `form`: for another file."""

    place: Place
    asset: Asset | None
    form: MediaForm

    @property
    def facts(self) -> str:
        """Of the file, in words."""
        if self.asset is None:
            return ""
        parts = [self.asset.mime]
        if self.asset.width and self.asset.height:
            parts.append(f"{self.asset.width} by {self.asset.height} pixels")
        if self.asset.duration is not None:
            parts.append(f"{self.asset.duration:.1f} seconds")
        if self.asset.size is not None:
            size = self.asset.size
            parts.append(f"{size / MIB:.1f} MB" if size >= MIB // 10 else f"{-(-size // 1024)} KB")
        return ", ".join(parts)


def _cards(profile: Profile, refused: MediaForm | None) -> list[Card]:
    """One for each place; `refused` replaces the empty form of its own place. 1 query."""
    assets = Asset.objects.in_bulk([pk for place in PLACES if (pk := getattr(profile, f"{place}_id"))])
    forms = {place: MediaForm(profile=profile, place=place) for place in PLACES}
    if refused:
        forms[refused.place] = refused
    return [Card(PLACES[name], assets.get(getattr(profile, f"{name}_id")), form) for name, form in forms.items()]


@access.signed_in
@editing.of_profile
@require_safe
def files(request: SignedInRequest, profile: Profile) -> HttpResponse:
    return _page(request, profile)


@access.signed_in
@editing.of_profile
@access.form_page
def upload(request: SignedInRequest, profile: Profile, place: str) -> HttpResponse:
    if place not in PLACES:
        raise Http404
    back = redirect(editing.url_of(profile, "profile_media"))
    if request.method != "POST":  # a login in between leads here
        return back
    form = MediaForm(request.POST, request.FILES, profile=profile, place=place)
    if form.is_valid() and form.write(by=request.user):
        messages.success(request, f"{PLACES[place].title}: file saved.")
        return back
    return _page(request, profile, form)


@access.signed_in
@editing.of_profile
@access.form_page
def remove(request: SignedInRequest, profile: Profile, place: str) -> HttpResponse:
    if place not in PLACES or getattr(profile, f"{place}_id") is None:
        raise Http404
    title, back_url = PLACES[place].title, editing.url_of(profile, "profile_media")
    if request.method == "POST":
        profiles.change(profile=profile, values={place: None}, by=request.user)
        messages.success(request, f"{title}: file removed.")
        return redirect(back_url)
    effects = ["Your page no longer shows the file. It is deleted unless it is used elsewhere."]
    return confirm(request, f"Remove “{title}”?", effects, "Remove", back_url=back_url)


@access.signed_in
@editing.of_profile
@require_POST
def mirror(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Show the picture of the chat platform, or one's own again."""
    is_mirrored = request.POST.get("mirror") == "on"
    profiles.mirror_chat(profile=profile, is_mirrored=is_mirrored, by=request.user)
    text = "Your page shows the picture of your chat account." if is_mirrored else "Your page shows your own picture."
    messages.success(request, text)
    return redirect(editing.url_of(profile, "profile_media"))


def _page(request: SignedInRequest, profile: Profile, refused: MediaForm | None = None) -> HttpResponse:
    """With the form that was refused in its place."""
    used = uploads.used_by(request.user)
    chat_accounts = LinkedAccount.objects.filter(user=profile.user_id, kind=LinkedAccount.Kind.CHAT)
    context: dict[str, Any] = {
        "profile": profile,
        "page_title": "Media",
        "cards": _cards(profile, refused),
        "used": used,
        "quota": uploads.QUOTA,
        "used_in_words": f"{used / uploads.MIB:.1f} of {uploads.QUOTA // uploads.MIB} MB",
        "is_chat_picture_shown": settings_schema.filled(profile.settings)["avatarSettings"]["mirrorChat"],
        "is_chat_linked": chat_accounts.exists(),
    }
    response = render(request, "dashboard/profile/media.html", context)
    sources = url_policy.media_sources()
    response.headers[content_security.HEADER] = content_security.header(images=sources, media=sources)
    return response
