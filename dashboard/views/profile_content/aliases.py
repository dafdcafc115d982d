"""Further names of the user, and what visitors get under each of them."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.http import SignedInRequest
from dashboard import access, editing
from dashboard.forms.profile_content import aliases as forms
from dashboard.forms.profile_content.aliases import AliasAddForm, AliasChangeForm
from dashboard.views.profile_content import lists
from lookup import aliases
from lookup.models import Alias, Profile


@access.signed_in
@editing.of_main_profile
@require_safe
def show(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """1 query beside those of the frame."""
    held = list(_aliases_of(request).order_by("created_at", "pk"))
    context = {
        "aliases": [_shown(alias) for alias in held],
        "count": len(held),
        "most": aliases.MAX_ALIASES,
        "is_full": len(held) >= aliases.MAX_ALIASES,
    }
    return lists.page(request, profile, "aliases", "Aliases", context)


@access.signed_in
@editing.of_main_profile
def add(request: SignedInRequest, profile: Profile) -> HttpResponse:
    form = AliasAddForm(request.POST or None)
    if form.is_valid() and _add(request, form):
        messages.success(request, f"{form.cleaned_data['name']} is yours.")
        return redirect("profile_aliases")
    return lists.page(request, profile, "alias", "New alias", {"form": form, "list_url": reverse("profile_aliases")})


@access.signed_in
@editing.of_main_profile
def change(request: SignedInRequest, profile: Profile, name: str) -> HttpResponse:
    """Where this would delete a profile, a page asks first."""
    alias = _alias_of(request, name)
    form = AliasChangeForm(request.POST or None, initial={"shows": forms.shown_by(alias)})
    if form.is_valid():
        arguments = form.choices_of_operation()
        if alias.profile_id and not arguments["has_own_profile"] and "confirmed" not in request.POST:
            return _ask(request, alias, form)
        try:
            aliases.change(alias=alias, **arguments, by=request.user)
        except ObjectDoesNotExist:
            raise Http404 from None
        messages.success(request, f"{alias.name.name}: saved.")
        return redirect("profile_aliases")
    context = {"form": form, "alias": alias, "list_url": reverse("profile_aliases")}
    return lists.page(request, profile, "alias", f"Alias {alias.name.name}", context)


@access.signed_in
@editing.of_main_profile
def remove(request: SignedInRequest, profile: Profile, name: str) -> HttpResponse:
    alias = _alias_of(request, name)
    if request.method == "POST":
        try:
            aliases.remove(alias=alias, by=request.user)
        except ObjectDoesNotExist:
            raise Http404 from None
        messages.success(request, f"{alias.name.name}: deleted.")
        return redirect("profile_aliases")
    effects = ["The name is free then: anybody may take it. Links to it no longer lead to you."]
    if alias.profile_id:
        effects.append("The profile that it shows is deleted with everything on it. This cannot be undone.")
    context = {"title": f"Delete the alias {alias.name.name}?", "effects": effects, "button": "Delete"}
    return render(request, "dashboard/confirm.html", {**context, "back_url": reverse("profile_aliases")})


def _aliases_of(request: SignedInRequest) -> QuerySet[Alias]:
    return Alias.objects.filter(name__user=request.user).select_related("name__user", "profile")


def _alias_of(request: SignedInRequest, name: str) -> Alias:
    """One's own, in any case."""
    return get_object_or_404(_aliases_of(request), pk=name.upper())


def _shown(alias: Alias) -> dict[str, str]:
    """A row of the list. The profile has the name of its alias at hand, so no row asks for more."""
    name, edit_url = alias.name.name, ""
    if alias.profile is not None:
        edit_url = editing.url_of(alias.profile, "profile_editor")
    urls = {of: reverse(f"profile_alias_{of}", kwargs={"name": name}) for of in ("change", "remove")}
    page_url = reverse("profile_page", args=[name])
    return {"name": name, "shows": forms.shown_by(alias).label, "page_url": page_url, "edit_url": edit_url, **urls}


def _add(request: SignedInRequest, form: AliasAddForm) -> bool:
    """False: it was refused, and the form says why."""
    try:
        aliases.add(user=request.user, name=form.cleaned_data["name"], **form.choices_of_operation(), by=request.user)
    except ValidationError as refusal:
        form.add_error(None if refusal.code == "limit" else "name", refusal)
        return False
    return True


def _ask(request: SignedInRequest, alias: Alias, form: AliasChangeForm) -> HttpResponse:
    asked = forms.AliasConfirmForm(initial={"shows": form.cleaned_data["shows"], "confirmed": True})
    context = {
        "title": f"Delete the profile of {alias.name.name}?",
        "effects": ["The alias stays; the profile that it shows is deleted with everything on it, for good."],
        "button": "Delete the profile",
        "form": asked,
        "back_url": reverse("profile_aliases"),
    }
    return render(request, "dashboard/confirm.html", context)
