"""The lists of a profile, the choice and entries of sections, and aliases."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_POST, require_safe

from accounts.http import SignedInRequest
from dashboard.access import form_page
from dashboard.forms import confirm
from dashboard.profile import content_forms, editing, forms, kinds, previews
from dashboard.profile.forms import AliasAddForm, AliasChangeForm
from dashboard.profile.kinds import KINDS, Kind, name_of
from dashboard.profile.section_forms import FORMS, SearchForm, SkillForm
from infrastructure.requests import content_security
from lookup.editing import aliases, content, section_entries
from lookup.editing.content import Deleted
from lookup.models import Alias, Profile, Section
from lookup.page import url_policy
from lookup.shapes.sections import DEFINITIONS, MAX_CUSTOM_SKILLS, MAX_ITEMS, SectionType

P = ParamSpec("P")
ListPage = Callable[Concatenate[SignedInRequest, Profile, Kind, P], HttpResponseBase]
STEPS = {"up": -1, "down": 1}


def of_list(view: ListPage[P]) -> Callable[..., HttpResponseBase]:
    """Return a page behind login about one list of the user's own profile. The URL argument `kind` names the list."""

    @functools.wraps(view)
    def checked(request: SignedInRequest, profile: Profile, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        return view(request, profile, KINDS[str(kwargs.pop("kind"))], *args, **kwargs)

    return editing.of_profile(checked)


@of_list
@require_safe
def show(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    groups = kinds.groups_of(kind, profile)
    count = sum(shown.is_own for _, rows in groups for shown in rows)
    context = {"groups": groups, "count": count, "is_full": count >= kind.content.limit}
    undo = kinds.last_deleted(request, profile, kind)
    return _page(request, profile, "list", kind.title, has_frames=True, kind=kind, **context, undo=undo)


@form_page
@of_list
def add(request: SignedInRequest, profile: Profile, kind: Kind, type: str = "") -> HttpResponse:
    """Show and save the form of a new row; `type`: of a section."""
    return _edit_row(request, profile, kind, _new_row(kind, type))


def _new_row(kind: Kind, type_: str) -> Any:
    """Raises Http404: there is no such type of section."""
    if kind.content.model is not Section:
        return kind.content.model()
    if type_ not in DEFINITIONS:
        raise Http404
    return Section(type=type_)


@form_page
@of_list
def edit(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    return _edit_row(request, profile, kind, kind.content.row_of(profile.pk, pk))


def _edit_row(request: SignedInRequest, profile: Profile, kind: Kind, row: Any) -> HttpResponse:
    """Show and save the form of a row, new or stored. A new section with a catalogue leads on to its entries."""
    is_new = row._state.adding
    form = FORMS[type(row)](request.POST or None, request.FILES or None, instance=row, profile=profile)
    if form.is_valid() and form.write(by=request.user):
        saved = form.instance
        said = f"{name_of(saved)}: {'added' if is_new else 'saved'}.{form.note}"
        messages.success(request, said, extra_tags=saved.pk)
        if is_new and isinstance(saved, Section) and saved.type in section_entries.CATALOGUES:
            return redirect(_entries_url(profile, saved.pk))
        return redirect(f"{kind.url_of(profile)}#row-{saved.pk}")
    has_entries = not is_new and isinstance(row, Section) and row.type in section_entries.PATHS
    entries_url = _entries_url(profile, row.pk) if has_entries else ""
    title = f"New {kind.verbose_name}" if is_new else name_of(row)
    context = {"kind": kind, "form": form, "is_new": is_new, "entries_url": entries_url}
    preview_url = kinds.preview_address(kind, profile, row)
    return _page(request, profile, "row", title, has_frames=True, **context, preview_url=preview_url)


@of_list
@xframe_options_sameorigin
@require_POST
def preview(request: SignedInRequest, profile: Profile, kind: Kind, pk: str = "", type: str = "") -> HttpResponse:
    """Show the public page with the row as it was typed, without files that were chosen; nothing is saved."""
    row = kind.content.row_of(profile.pk, pk) if pk else _new_row(kind, type)
    return previews.of_row(request, FORMS[row.__class__](request.POST, instance=row, profile=profile, is_preview=True))


@of_list
@require_POST
def read_address(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    """Return what follows from the address that is typed into the form of a link, as JSON. Nothing is read or saved."""
    is_text = request.POST.get("is_text") == "True"
    return JsonResponse(content_forms.read_address(request.POST.get("url", ""), is_text=is_text))


@form_page
@of_list
def delete(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    """Delete a row; 404 for badges that staff gave, which the user can only switch off."""
    row = kind.content.row_of(profile.pk, pk)
    if not isinstance(row, kind.content.model):
        raise Http404
    name, list_url = name_of(row), kind.url_of(profile)
    if request.method == "POST":
        deleted = content.delete(content=kind.content, profile=profile, pk=pk, is_undoable=True, by=request.user)
        of = {"profile": profile.pk, "list": kind.name, "pk": pk, "name": name}
        request.session[kinds.DELETED] = {**of, "at": int(time.time()), "row": asdict(deleted)}
        return redirect(list_url)
    minutes = kinds.UNDO_SECONDS // 60
    effects = [f"It disappears from your page and from lookups at once. You can undo this for {minutes} minutes."]
    if isinstance(row, Section) and row.type == SectionType.GALLERY:
        effects.append("Its pictures stay in your gallery, in no section.")
    return confirm(request, f"Delete {name}?", effects, "Delete", back_url=list_url)


@of_list
@require_POST
def restore(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    """Restore `pk`, the row that was deleted last. Idempotent."""
    pk = request.POST.get("pk", "")
    kept = kinds.last_deleted(request, profile, kind)
    if kept and kept["pk"] == pk:
        deleted = Deleted(**kept["row"])
        try:
            row = content.restore(content=kind.content, profile=profile, deleted=deleted, by=request.user)
        except ValidationError as refusal:
            messages.error(request, " ".join(refusal.messages))
            return redirect(kind.url_of(profile))
        request.session.pop(kinds.DELETED)
        messages.success(request, f"{name_of(row)}: restored.", extra_tags=pk)
    elif not any(row.pk == pk for row in kind.content.rows_of(profile.pk)):
        messages.error(request, "This deletion cannot be undone any more.")
    return redirect(f"{kind.url_of(profile)}#row-{pk}")


@of_list
@require_POST
def move(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    """Move the row by `places`: up or down."""
    step = STEPS.get(request.POST.get("places", ""), 0)
    content.move(content=kind.content, profile=profile, pk=pk, places=step, by=request.user)
    messages.success(request, "The new order is saved.", extra_tags=pk)
    return redirect(f"{kind.url_of(profile)}#row-{pk}")


@of_list
@require_POST
def switch(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    """Switch the row: `is_on` "1" shows it."""
    is_on = request.POST.get("is_on") == "1"
    row = content.switch(content=kind.content, profile=profile, pk=pk, is_on=is_on, by=request.user)
    messages.success(request, f"{name_of(row)} is {'on' if is_on else 'off'}.", extra_tags=pk)
    return redirect(f"{kind.url_of(profile)}#row-{pk}")


@of_list
@require_POST
def reorder(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    """Reorder the list. `pk`: once for each row, in the new order. 204, or 409 where the list has changed since."""
    try:
        content.reorder(content=kind.content, profile=profile, pks=request.POST.getlist("pk"), by=request.user)
    except ValidationError as refusal:
        return HttpResponse(" ".join(refusal.messages), status=409, content_type="text/plain; charset=utf-8")
    return HttpResponse(status=204)


def _page(
    request: SignedInRequest,
    profile: Profile,
    template: str,
    title: str,
    *,
    has_frames: bool = False,
    **context: object,
) -> HttpResponse:
    """Return a page with pictures of the profile. `has_frames`: it shows the preview."""
    policy = content_security.header(images=url_policy.media_sources(), has_frames=has_frames)
    return editing.page(request, profile, f"profile_content/{template}", title, policy=policy, **context)


def _entries_url(profile: Profile, pk: str) -> str:
    return editing.url_of(profile, "profile_section_entries", pk=pk)


@of_list
@require_safe
def choose_type(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    types = [(one.label, DEFINITIONS[one].meaning, one.value) for one in SectionType]
    return _page(request, profile, "section_types", "New section", kind=kind, types=types)


@form_page
@of_list
def entries(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    """Show the entries of the section. `?q=…` searches the catalogue; a POST adds a custom skill. At most 4 queries
    plus the frame's: the section, what it lists, what was found."""
    section: Section = kind.content.row_of(profile.pk, pk)
    more: dict[str, Any]
    if section.type in section_entries.CATALOGUES:
        search = SearchForm(request.GET if "q" in request.GET else None)
        sought = search.cleaned_data["q"] if search.is_valid() else ""
        found = section_entries.search(section.type, sought) if sought else None
        more = {"search": search, "found": found, "sought": sought, "most": MAX_ITEMS}
    elif section.type in section_entries.PATHS:
        form = SkillForm(request.POST or None)
        if form.is_valid():
            try:
                section_entries.add_skill(profile=profile, pk=pk, **form.cleaned_data, by=request.user)
            except ValidationError as refusal:
                form.add_error(None, " ".join(refusal.messages))
            else:
                messages.success(request, f"{form.cleaned_data['label']}: added.")
                return redirect(_entries_url(profile, pk))
        more = {"form": form, "most": MAX_CUSTOM_SKILLS}
    else:
        raise Http404
    listed = section_entries.entries_of(section)
    more |= {"kind": kind, "section": section, "section_name": name_of(section), "listed": listed}
    title = f"{name_of(section)}: {'skills of your own' if 'form' in more else 'entries'}"
    return _page(request, profile, "entries", title, keys={entry.key for entry in listed}, **more)


ACTS: dict[str, Callable[..., None]] = {
    "add": section_entries.add_row,
    "remove": section_entries.remove,
    "up": functools.partial(section_entries.move, places=-1),
    "down": functools.partial(section_entries.move, places=1),
}


@of_list
@require_POST
def change_entries(request: SignedInRequest, profile: Profile, kind: Kind, pk: str, act: str) -> HttpResponse:
    """Change entries. `act`: add (a row of the catalogue), remove, up or down; `key`: which entry."""
    if act not in ACTS:
        raise Http404
    try:
        ACTS[act](profile=profile, pk=pk, key=request.POST.get("key", ""), by=request.user)
    except ValidationError as refusal:
        messages.error(request, " ".join(refusal.messages))
    sought = request.POST.get("q", "")
    return redirect(_entries_url(profile, pk) + (f"?{urlencode({'q': sought})}#found" if sought else ""))


@editing.of_main_profile
@require_safe
def show_aliases(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Show the aliases. 1 query plus the frame's."""
    held = [(alias, forms.shown_by(alias).label) for alias in _aliases_of(request).order_by("created_at", "pk")]
    return _page(request, profile, "aliases", "Aliases", aliases=held, most=aliases.MAX_ALIASES)


@form_page
@editing.of_main_profile
def add_alias(request: SignedInRequest, profile: Profile) -> HttpResponse:
    form = AliasAddForm(request.POST or None)
    if form.is_valid():
        name, by = form.cleaned_data["name"], request.user
        try:
            aliases.add(user=request.user, name=name, **form.choices_of_operation(), by=by)
        except ValidationError as refusal:
            form.add_error(None if refusal.code == "limit" else "name", refusal)
        else:
            messages.success(request, f"Alias {name} added.")
            return redirect("profile_aliases")
    return _page(request, profile, "alias", "New alias", form=form)


@form_page
@editing.of_main_profile
def change_alias(request: SignedInRequest, profile: Profile, name: str) -> HttpResponse:
    """Change an alias, after a confirmation page where that deletes a profile."""
    alias = _alias_of(request, name)
    form = AliasChangeForm(request.POST or None, initial={"shows": forms.shown_by(alias)})
    if form.is_valid():
        arguments = form.choices_of_operation()
        if alias.profile_id and not arguments["has_own_profile"] and "confirmed" not in request.POST:
            asked = forms.AliasConfirmForm(initial={"shows": form.cleaned_data["shows"], "confirmed": True})
            title = f"Delete the profile of {alias.name.name}?"
            effects = ["The alias stays; the profile that it shows is deleted with all content. This cannot be undone."]
            list_url = reverse("profile_aliases")
            return confirm(request, title, effects, "Delete the profile", back_url=list_url, form=asked)
        aliases.change(alias=alias, **arguments, by=request.user)
        messages.success(request, f"{alias.name.name}: saved.")
        return redirect("profile_aliases")
    return _page(request, profile, "alias", f"Alias {alias.name.name}", form=form, alias=alias)


@form_page
@editing.of_main_profile
def remove_alias(request: SignedInRequest, profile: Profile, name: str) -> HttpResponse:
    alias = _alias_of(request, name)
    if request.method == "POST":
        aliases.remove(alias=alias, by=request.user)
        messages.success(request, f"{alias.name.name}: deleted.")
        return redirect("profile_aliases")
    effects = ["Anyone can take the name afterwards. Links to it no longer lead to you."]
    if alias.profile_id:
        effects.append("The profile that it shows is deleted with all content. This cannot be undone.")
    title = f"Delete the alias {alias.name.name}?"
    return confirm(request, title, effects, "Delete", back_url=reverse("profile_aliases"))


def _aliases_of(request: SignedInRequest) -> QuerySet[Alias]:
    return Alias.objects.filter(name__user=request.user).select_related("name__user", "profile")


def _alias_of(request: SignedInRequest, name: str) -> Alias:
    """Return the user's alias with this name, in any case of its letters."""
    return get_object_or_404(_aliases_of(request), pk=name.upper())
