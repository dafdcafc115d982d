"""The profile's own fields and settings with previews, its files, privacy, export and import."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_POST, require_safe

from accounts.http import SignedInRequest
from accounts.models import LinkedAccount
from dashboard import access
from dashboard.forms import confirm, is_done
from dashboard.profile import editing, import_preview, previews
from dashboard.profile import media as media_files
from dashboard.profile.forms import (
    PLACES,
    ConfirmForm,
    ImportForm,
    LinksForm,
    MediaForm,
    Place,
    PrivacyForm,
    ProfileForm,
    accepted_files,
)
from dashboard.profile.settings_form import TITLES, SettingsForm
from dashboard.profile.theme_form import ThemeForm
from infrastructure.requests import content_security
from lookup.documents import registry
from lookup.editing import profiles, uploads
from lookup.editing.uploads import MIB, Kind
from lookup.models import Asset, Profile
from lookup.page import url_policy
from lookup.shapes import settings_schema, themes
from lookup.transfer import own, own_links
from lookup.transfer.reading import LineRefused

# The forms of the profile's own columns: by the name of their page, with its title and template.
FORMS: dict[str, tuple[type[ProfileForm | SettingsForm | ThemeForm], str, str]] = {
    "profile_editor": (ProfileForm, "Profile", "fields"),
    "profile_theme": (ThemeForm, "Theme", "theme"),
    "profile_appearance": (SettingsForm, "Appearance", "appearance"),
}


@editing.of_profile
@access.form_page
def edit(request: SignedInRequest, profile: Profile, page: str) -> HttpResponse:
    """Save a valid form and show it again; otherwise explain its errors. The preview is in a frame."""
    form_class, title, template = FORMS[page]
    form = form_class(request.POST or None, instance=profile)
    if form.is_valid() and form.write(by=request.user):
        messages.success(request, "Profile saved.")
        return redirect(editing.url_of(profile, page))
    policy = content_security.header(images=url_policy.media_sources(), has_frames=True)
    return editing.page(request, form.profile, f"profile/{template}", title, policy=policy, form=form)


@editing.of_profile
@xframe_options_sameorigin
@require_POST
def preview(request: SignedInRequest, profile: Profile, page: str) -> HttpResponse:
    """Show the public page as it would be with the typed values; nothing is saved."""
    return previews.of_columns(request, FORMS[page][0](request.POST, instance=profile))


@editing.of_profile
@xframe_options_sameorigin
@require_safe
def preview_saved(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Show the stored page next to the lists, only to its owner: a private one too."""
    return previews.show(request, profile)


@editing.of_profile
@access.form_page
def reset_appearance(request: SignedInRequest, profile: Profile, key: str) -> HttpResponse:
    if key not in TITLES:
        raise Http404
    title, back_url = TITLES[key], editing.url_of(profile, "profile_appearance")
    if request.method == "POST":
        settings = settings_schema.filled(profile.settings)
        settings[key] = themes.given(profile)["settings"][key]
        profiles.change(profile=profile, values={"settings": settings}, by=request.user)
        messages.success(request, f"{title}: reset.")
        return redirect(back_url)
    effects = ["Every setting under this title goes back to what your theme says, or else to its default."]
    return confirm(request, f"Reset “{title}”?", effects, "Reset", back_url=back_url)


@dataclass(frozen=True)
class Card:
    """A place of the page and the file that it shows. `form`: for another file."""

    place: Place
    asset: Asset | None
    form: MediaForm

    @property
    def facts(self) -> str:
        """Return the facts of the file, in words."""
        if self.asset is None:
            return ""
        parts = [media_files.type_in_words(self.asset.mime)]
        if self.asset.width and self.asset.height:
            parts.append(f"{self.asset.width} \N{MULTIPLICATION SIGN} {self.asset.height} px")
        if self.asset.duration is not None:
            parts.append(f"{self.asset.duration:.1f} seconds")
        if self.asset.size is not None:
            parts.append(filesizeformat(self.asset.size))
        return ", ".join(parts)


@editing.of_profile
@require_safe
def media(request: SignedInRequest, profile: Profile) -> HttpResponse:
    return _media_page(request, profile)


@editing.of_profile
@access.form_page
def upload_file(request: SignedInRequest, profile: Profile, place: str) -> HttpResponse:
    if place not in PLACES:
        raise Http404
    back = redirect(editing.url_of(profile, "profile_media"))
    if request.method != "POST":  # a login in between leads here
        return back
    form = MediaForm(request.POST, request.FILES, profile=profile, place=place)
    if form.is_valid() and form.write(by=request.user):
        messages.success(request, f"{PLACES[place].title}: file saved.")
        return back
    return _media_page(request, profile, form)


@editing.of_profile
@access.form_page
def remove_file(request: SignedInRequest, profile: Profile, place: str) -> HttpResponse:
    if place not in PLACES or getattr(profile, f"{place}_id") is None:
        raise Http404
    title, back_url = PLACES[place].title, editing.url_of(profile, "profile_media")
    if request.method == "POST":
        profiles.change(profile=profile, values={place: None}, by=request.user)
        messages.success(request, f"{title}: file removed.")
        return redirect(back_url)
    effects = ["Your page no longer shows the file. It is deleted unless it is used elsewhere."]
    return confirm(request, f"Remove “{title}”?", effects, "Remove", back_url=back_url)


@editing.of_profile
@require_POST
def mirror_chat(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Show the picture of the chat platform, or one's own again."""
    is_mirrored = request.POST.get("mirror") == "on"
    profiles.change_setting(profile, "avatarSettings", "mirrorChat", value=is_mirrored, by=request.user)
    text = "Your page shows the picture of your chat account." if is_mirrored else "Your page shows your own picture."
    messages.success(request, text)
    return redirect(editing.url_of(profile, "profile_media"))


def _media_page(request: SignedInRequest, profile: Profile, refused: MediaForm | None = None) -> HttpResponse:
    """Show the files; `refused` replaces the empty form of its own place. 4 queries."""
    assets = Asset.objects.in_bulk([pk for place in PLACES if (pk := getattr(profile, f"{place}_id"))])
    forms = {place: MediaForm(profile=profile, place=place) for place in PLACES}
    if refused:
        forms[refused.place] = refused
    cards = {name: Card(PLACES[name], assets.get(getattr(profile, f"{name}_id")), form) for name, form in forms.items()}
    backgrounds = registry.BACKGROUNDS.rows_of(profile.pk)
    used = uploads.used_by(request.user)
    sources = url_policy.media_sources()
    return editing.page(
        request,
        profile,
        "profile/media",
        "Media",
        policy=content_security.header(images=sources, media=sources),
        cards=[card for card in cards.values() if card.place.on_page],
        client_cards=[card for card in cards.values() if not card.place.on_page],
        is_client_file_refused=refused is not None and not PLACES[refused.place].on_page,
        drawn={name: card.asset for name, card in cards.items() if card.place.on_page},
        background=next((row.asset for row in backgrounds if row.is_active), None),
        used=used,
        quota=uploads.QUOTA,
        used_in_words=f"{filesizeformat(used) if used else 'Nothing yet,'} of {uploads.QUOTA // MIB} MB",
        picture_files=accepted_files(Kind.IMAGE),
        is_chat_picture_shown=settings_schema.filled(profile.settings)["avatarSettings"]["mirrorChat"],
        is_chat_linked=LinkedAccount.objects.filter(user=profile.user_id, kind=LinkedAccount.Kind.CHAT).exists(),
    )


@editing.of_main_profile
@access.form_page
def privacy(request: SignedInRequest, profile: Profile) -> HttpResponse:
    initial = {"public_api_access": request.user.public_api_access}
    form = PrivacyForm(request.POST if request.method == "POST" else None, initial=initial)
    if is_done(form, lambda: _set_public_access(request, form)):
        is_public = form.cleaned_data["public_api_access"]
        messages.success(request, "Your profile is public." if is_public else "Your profile is private.")
        return redirect("profile_privacy")
    return editing.page(request, profile, "profile/privacy", "Privacy", form=form)


def _set_public_access(request: SignedInRequest, form: PrivacyForm) -> None:
    is_public = form.cleaned_data["public_api_access"]
    profiles.set_public_access(user=request.user, is_public=is_public, by=request.user)


MAX_SHOWN = 100  # problems


@editing.of_main_profile
@require_safe
def transfer(request: SignedInRequest, profile: Profile) -> HttpResponse:
    return _transfer_page(request, profile)


@editing.of_main_profile
@require_safe
def export(request: SignedInRequest, profile: Profile) -> HttpResponse:
    line = own.exported(request.user)
    name = f"{request.user.username}-{timezone.now():%Y-%m-%d}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(line + b"\n", content_type="application/json", headers=headers)


@editing.of_main_profile
@access.form_page
def check_import(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Show what the file would change; nothing is changed."""
    if request.method != "POST":
        return redirect("profile_transfer")
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _transfer_page(request, profile, form)
    text = form.cleaned_data["file"]
    try:
        outcome = own.look(user=request.user, text=text.encode())
    except LineRefused as refused:
        return _transfer_page(request, profile, refused=refused)
    return _import_page(request, profile, text, outcome)


@editing.of_main_profile
@access.form_page
def restore_import(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Make the changes that the page has shown; if they would differ now, show the new ones first."""

    def restore(text: bytes, digest: str) -> own.Outcome:
        return own.restore(user=request.user, text=text, digest=digest, by=request.user)

    return _confirmed(request, profile, restore, "Profile imported.", "profile_editor")


@editing.of_main_profile
@access.form_page
def check_links(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Show which links the file would add; nothing is changed."""
    if request.method != "POST":
        return redirect("profile_transfer")
    form = LinksForm(request.POST, request.FILES)
    if not form.is_valid():
        return _transfer_page(request, profile, links_form=form)
    try:
        outcome = own_links.look(profile=profile, file=form.cleaned_data["links"])
    except LineRefused as refused:
        return _transfer_page(request, profile, refused=refused)
    return _import_page(request, profile, own_links.text_of(outcome), outcome, is_links=True)


@editing.of_main_profile
@access.form_page
def add_links(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Add the links that the page has shown; if others would be added now, show these first."""

    def add(text: bytes, digest: str) -> own.Outcome:
        return own_links.add(profile=profile, file=text, digest=digest, by=request.user)

    return _confirmed(request, profile, add, "Links added.", "profile_links", is_links=True)


def _confirmed(
    request: SignedInRequest,
    profile: Profile,
    write: Callable[[bytes, str], own.Outcome],
    said: str,
    next_page: str,
    *,
    is_links: bool = False,
) -> HttpResponse:
    """Write what a page has shown: `write` takes its text and its digest. Say `said` on the next page."""
    form = ConfirmForm(request.POST)
    if request.method != "POST" or not form.is_valid():
        return redirect("profile_transfer")
    text, digest = form.cleaned_data["text"], form.cleaned_data["digest"]
    try:
        outcome = write(text.encode(), digest)
    except LineRefused as refused:
        return _transfer_page(request, profile, refused=refused)
    if outcome.changes.is_empty:
        messages.info(request, "Your profile already has the content of this file.")
    elif not outcome.is_written:
        return _import_page(request, profile, text, outcome, is_links=is_links, is_outdated=True)
    else:
        messages.success(request, said)
    return redirect(next_page)


def _import_page(
    request: SignedInRequest,
    profile: Profile,
    text: str,
    outcome: own.Outcome,
    *,
    is_links: bool = False,
    is_outdated: bool = False,
) -> HttpResponse:
    """Show what the text would change, with the form that confirms exactly that. `is_links`: it is one of links."""
    return editing.page(
        request,
        profile,
        "profile/import",
        "Check the import",
        form=ConfirmForm(initial={"text": text, "digest": outcome.changes.digest}),
        preview=import_preview.of(outcome.changes),
        is_empty=outcome.changes.is_empty,
        notes=outcome.notes[:MAX_SHOWN],
        more=max(len(outcome.notes) - MAX_SHOWN, 0),
        is_links=is_links,
        is_outdated=is_outdated,
    )


def _transfer_page(
    request: SignedInRequest,
    profile: Profile,
    form: ImportForm | None = None,
    *,
    links_form: LinksForm | None = None,
    refused: LineRefused | None = None,
) -> HttpResponse:
    problems = refused.problems if refused else []
    return editing.page(
        request,
        profile,
        "profile/transfer",
        "Export and import",
        form=form or ImportForm(),
        links_form=links_form or LinksForm(),
        problems=problems[:MAX_SHOWN],
        more=max(len(problems) - MAX_SHOWN, 0),
    )
