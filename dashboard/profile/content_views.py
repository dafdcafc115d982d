"""The lists of a profile, the choice and entries of sections, and aliases."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.forms import confirm
from dashboard.profile import editing, forms, kinds
from dashboard.profile.content_forms import RowForm
from dashboard.profile.forms import AliasAddForm, AliasChangeForm
from dashboard.profile.kinds import KINDS, Kind, name_of
from dashboard.profile.section_forms import FORMS, SearchForm, SkillForm
from infrastructure.requests import content_security
from lookup.editing import aliases, content, section_entries
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

    return access.signed_in(editing.of_profile(checked))


@of_list
@require_safe
def show(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    groups = kinds.groups_of(kind, profile)
    own = sum(shown.is_own for group in groups for shown in group.rows)
    context = {
        "kind": kind,
        "groups": groups,
        "count": own,
        "is_full": own >= kind.content.limit,
        "add_url": kind.url_of(profile, "add"),
        "order_url": kind.url_of(profile, "order"),
        "undo": kinds.restorable(request, profile, kind),
    }
    return page(request, profile, "list", kind.title, context, has_frames=True)


@of_list
def add(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    return edit_row(request, profile, kind, kind.content.model())


def edit_row(request: SignedInRequest, profile: Profile, kind: Kind, row: Any) -> HttpResponse:
    """Show and save the form of a row, new or stored."""
    is_new = row._state.adding
    form = FORMS[type(row)](request.POST or None, request.FILES or None, instance=row, profile=profile)
    if form.is_valid() and form.write(by=request.user):
        said = f"{kinds.name_of(form.instance)}: {'added' if is_new else 'saved'}."
        messages.success(request, said, extra_tags=form.instance.pk)
        return redirect(_next(profile, kind, form, is_new=is_new))
    title = f"New {kind.verbose_name}" if is_new else kinds.name_of(row)
    context = {"kind": kind, "form": form, "is_new": is_new, "list_url": kind.url_of(profile)}
    return page(request, profile, "row", title, {**context, "entries_url": entries_url(profile, row)})


@of_list
def edit(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    return edit_row(request, profile, kind, kind.content.row_of(profile.pk, pk))


@of_list
def delete(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    """Delete a row; 404 for badges that staff gave, which the user can only switch off."""
    row = kind.content.row_of(profile.pk, pk)
    if not isinstance(row, kind.content.model):
        raise Http404
    name = kinds.name_of(row)
    if request.method == "POST":
        deleted = content.delete(content=kind.content, profile=profile, pk=pk, is_undoable=True, by=request.user)
        kinds.keep_deleted(request, profile, kind, pk=pk, name=name, deleted=deleted)
        return redirect(kind.url_of(profile))
    return confirm(request, f"Delete {name}?", _effects(row), "Delete", back_url=kind.url_of(profile))


@of_list
@require_POST
def restore(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    """Restore `pk`, the row that was deleted last. Idempotent."""
    pk = request.POST.get("pk", "")
    if deleted := kinds.deleted(request, profile, kind, pk):
        try:
            row = content.restore(content=kind.content, profile=profile, deleted=deleted, by=request.user)
        except ValidationError as refusal:
            messages.error(request, " ".join(refusal.messages))
            return redirect(kind.url_of(profile))
        kinds.forget_deleted(request)
        messages.success(request, f"{kinds.name_of(row)}: restored.", extra_tags=pk)
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
    messages.success(request, f"{kinds.name_of(row)} is {'on' if is_on else 'off'}.", extra_tags=pk)
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


def page(
    request: SignedInRequest,
    profile: Profile,
    template: str,
    title: str,
    context: dict[str, Any],
    *,
    has_frames: bool = False,
) -> HttpResponse:
    """Show a page of the editor with pictures of the profile. `has_frames`: it shows the preview."""
    frame = {"profile": profile, "page_title": title}
    response = render(request, f"dashboard/profile_content/{template}.html", {**frame, **context})
    policy = content_security.header(images=url_policy.media_sources(), has_frames=has_frames)
    response.headers[content_security.HEADER] = policy
    return response


def entries_url(profile: Profile, row: Any) -> str:
    """Return where the entries of a section are chosen; empty for one that lists none."""
    if not isinstance(row, Section) or row._state.adding or row.type not in section_entries.PATHS:
        return ""
    return editing.url_of(profile, "profile_section_entries", pk=row.pk)


def _effects(row: Any) -> list[str]:
    minutes = kinds.UNDO_SECONDS // 60
    effects = [f"It disappears from your page and from lookups at once. You can undo this for {minutes} minutes."]
    if isinstance(row, Section) and row.type == SectionType.GALLERY:
        effects.append("Its pictures stay in your gallery, in no section.")
    return effects


def _next(profile: Profile, kind: Kind, form: RowForm, *, is_new: bool) -> str:
    """Return where a saved form leads: the list, or the page of entries of a new section."""
    row = form.instance
    if is_new and row._meta.model is Section and row.type in section_entries.CATALOGUES:
        return entries_url(profile, row)
    return f"{kind.url_of(profile)}#row-{row.pk}"


ACTS: dict[str, Callable[..., None]] = {
    "add": section_entries.add_row,
    "remove": section_entries.remove,
    "up": functools.partial(section_entries.move, places=-1),
    "down": functools.partial(section_entries.move, places=1),
}


@of_list
@require_safe
def choose_type(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    types = [
        (
            type_.label,
            DEFINITIONS[type_].meaning,
            editing.url_of(profile, "profile_sections_add_type", type=type_.value),
        )
        for type_ in SectionType
    ]
    context = {"kind": kind, "types": types, "list_url": kind.url_of(profile)}
    return page(request, profile, "section_types", "New section", context)


@of_list
def add_of_type(request: SignedInRequest, profile: Profile, kind: Kind, type: str) -> HttpResponse:
    if type not in DEFINITIONS:
        raise Http404
    return edit_row(request, profile, kind, Section(type=type))


@of_list
def entries(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    """Show the entries of the section. `?q=…` searches the catalogue; a POST adds a custom skill."""
    section = _section_of(kind, profile, pk)
    if section.type in section_entries.CATALOGUES:
        return _catalogue_page(request, profile, kind, section)
    form = SkillForm(request.POST or None)
    if form.is_valid() and _add_skill(request, profile, section, form):
        messages.success(request, f"{form.cleaned_data['label']}: added.")
        return redirect(_url(profile, pk))
    return _entries_page(request, profile, kind, section, {"form": form, "most": MAX_CUSTOM_SKILLS})


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
    return redirect(_url(profile, pk) + (f"?{urlencode({'q': sought})}#found" if sought else ""))


def _catalogue_page(request: SignedInRequest, profile: Profile, kind: Kind, section: Section) -> HttpResponse:
    """Show entries. At most 4 queries plus the frame's: the section, what it lists, what was found."""
    search = SearchForm(request.GET if "q" in request.GET else None)
    found, sought = None, ""
    if search.is_valid():
        sought = search.cleaned_data["q"]
        found = section_entries.search(section.type, sought)
    more = {"search": search, "found": found, "sought": sought, "most": MAX_ITEMS}
    return _entries_page(request, profile, kind, section, more)


def _entries_page(
    request: SignedInRequest, profile: Profile, kind: Kind, section: Section, more: dict[str, Any]
) -> HttpResponse:
    listed = section_entries.entries_of(section)
    context = {
        "kind": kind,
        "listed": listed,
        "keys": {entry.key for entry in listed},
        "section_name": name_of(section),
        "row_url": kind.url_of(profile, "row", pk=section.pk),
        "list_url": kind.url_of(profile),
        "act_urls": {
            act: editing.url_of(profile, "profile_section_entries_act", pk=section.pk, act=act) for act in ACTS
        },
    }
    title = f"{name_of(section)}: {'skills of your own' if 'form' in more else 'entries'}"
    return page(request, profile, "entries", title, context | more)


def _section_of(kind: Kind, profile: Profile, pk: str) -> Section:
    """Return the section. Raises ObjectDoesNotExist: the profile has no such section, or one that lists nothing."""
    section: Section = kind.content.row_of(profile.pk, pk)
    if section.type not in section_entries.PATHS:
        raise ObjectDoesNotExist
    return section


def _add_skill(request: SignedInRequest, profile: Profile, section: Section, form: SkillForm) -> bool:
    """Add a skill. Return False if refused; the form has the errors."""
    try:
        section_entries.add_skill(profile=profile, pk=section.pk, **form.cleaned_data, by=request.user)
    except ValidationError as refusal:
        form.add_error(None, " ".join(refusal.messages))
        return False
    return True


def _url(profile: Profile, pk: str) -> str:
    return editing.url_of(profile, "profile_section_entries", pk=pk)


@access.signed_in
@editing.of_main_profile
@require_safe
def show_aliases(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """Show the aliases. 1 query plus the frame's."""
    held = list(_aliases_of(request).order_by("created_at", "pk"))
    context = {
        "aliases": [_shown(alias) for alias in held],
        "count": len(held),
        "most": aliases.MAX_ALIASES,
        "is_full": len(held) >= aliases.MAX_ALIASES,
    }
    return page(request, profile, "aliases", "Aliases", context)


@access.signed_in
@editing.of_main_profile
def add_alias(request: SignedInRequest, profile: Profile) -> HttpResponse:
    form = AliasAddForm(request.POST or None)
    if form.is_valid() and _add(request, form):
        messages.success(request, f"Alias {form.cleaned_data['name']} added.")
        return redirect("profile_aliases")
    return page(request, profile, "alias", "New alias", {"form": form, "list_url": reverse("profile_aliases")})


@access.signed_in
@editing.of_main_profile
def change_alias(request: SignedInRequest, profile: Profile, name: str) -> HttpResponse:
    """Change an alias, after a confirmation page where that deletes a profile."""
    alias = _alias_of(request, name)
    form = AliasChangeForm(request.POST or None, initial={"shows": forms.shown_by(alias)})
    if form.is_valid():
        arguments = form.choices_of_operation()
        if alias.profile_id and not arguments["has_own_profile"] and "confirmed" not in request.POST:
            return _ask_before_deletion(request, alias, form)
        aliases.change(alias=alias, **arguments, by=request.user)
        messages.success(request, f"{alias.name.name}: saved.")
        return redirect("profile_aliases")
    context = {"form": form, "alias": alias, "list_url": reverse("profile_aliases")}
    return page(request, profile, "alias", f"Alias {alias.name.name}", context)


@access.signed_in
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


def _shown(alias: Alias) -> dict[str, str]:
    """Return a row of the list, without a query."""
    name, edit_url = alias.name.name, ""
    if alias.profile is not None:
        edit_url = editing.url_of(alias.profile, "profile_editor")
    urls = {of: reverse(f"profile_alias_{of}", kwargs={"name": name}) for of in ("change", "remove")}
    page_url = reverse("profile_page", args=[name])
    return {"name": name, "shows": forms.shown_by(alias).label, "page_url": page_url, "edit_url": edit_url, **urls}


def _add(request: SignedInRequest, form: AliasAddForm) -> bool:
    """Add an alias. Return False if refused; the form has the errors."""
    try:
        aliases.add(user=request.user, name=form.cleaned_data["name"], **form.choices_of_operation(), by=request.user)
    except ValidationError as refusal:
        form.add_error(None if refusal.code == "limit" else "name", refusal)
        return False
    return True


def _ask_before_deletion(request: SignedInRequest, alias: Alias, form: AliasChangeForm) -> HttpResponse:
    asked = forms.AliasConfirmForm(initial={"shows": form.cleaned_data["shows"], "confirmed": True})
    title = f"Delete the profile of {alias.name.name}?"
    effects = ["The alias stays; the profile that it shows is deleted with all content. This cannot be undone."]
    return confirm(request, title, effects, "Delete the profile", back_url=reverse("profile_aliases"), form=asked)
