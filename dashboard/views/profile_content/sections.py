"""What sections have beside the pages of every list: the choice of a type, and the entries that some of them list."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts.http import SignedInRequest
from dashboard import editing
from dashboard.forms.profile_content.sections import SearchForm, SkillForm
from dashboard.views.profile_content import lists
from dashboard.views.profile_content.kinds import Kind, name_of
from dashboard.views.profile_content.lists import of_list
from lookup import section_entries
from lookup.models import Profile, Section
from lookup.sections import MAX_CUSTOM_SKILLS, MAX_ITEMS, SectionType

# What each type shows, where somebody chooses one.
TYPES = {
    SectionType.ABOUT_ME: "A text about you, with widgets and skills.",
    SectionType.PROJECTS: "Some of your projects.",
    SectionType.CUSTOM_TEXT: "Any text under a title of its own.",
    SectionType.GALLERY: "Pictures.",
    SectionType.AUDIO_PLAYER: "A player for your songs.",
    SectionType.GAMES: "Games that you like.",
    SectionType.ANIME: "Anime that you like.",
    SectionType.MEDIA: "Films and series that you like.",
    SectionType.MUSIC: "Tracks, albums and artists that you like.",
}

ACTS: dict[str, Callable[..., Section]] = {
    "add": section_entries.add_row,
    "remove": section_entries.remove,
    "up": functools.partial(section_entries.move, places=-1),
    "down": functools.partial(section_entries.move, places=1),
}


@of_list
@require_safe
def choose_type(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    types = [
        (type_.label, told, editing.url_of(profile, "profile_sections_add_type", type=type_.value))
        for type_, told in TYPES.items()
    ]
    context = {"kind": kind, "types": types, "list_url": kind.url_of(profile)}
    return lists.page(request, profile, "section_types", "New section", context)


@of_list
def add_of_type(request: SignedInRequest, profile: Profile, kind: Kind, type: str) -> HttpResponse:
    if type not in TYPES:
        raise Http404
    return lists.edit_row(request, profile, kind, Section(type=type))


@of_list
def entries(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    """What the section lists. `?q=…` looks for more in the catalogue; a POST adds a skill of one's own."""
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
    """`act`: add (a row of the catalogue), remove, up or down; `key`: which entry."""
    if act not in ACTS:
        raise Http404
    try:
        ACTS[act](profile=profile, pk=pk, key=request.POST.get("key", ""), by=request.user)
    except ValidationError as refusal:
        messages.error(request, " ".join(refusal.messages))
    sought = request.POST.get("q", "")
    return redirect(_url(profile, pk) + (f"?{urlencode({'q': sought})}#found" if sought else ""))


def _catalogue_page(request: SignedInRequest, profile: Profile, kind: Kind, section: Section) -> HttpResponse:
    """At most 4 queries beside those of the frame: the section, what it lists, what was found."""
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
    return lists.page(request, profile, "entries", title, context | more)


def _section_of(kind: Kind, profile: Profile, pk: str) -> Section:
    """ObjectDoesNotExist: the profile has no such section, or one that lists nothing."""
    section: Section = kind.content.row_of(profile.pk, pk)
    if section.type not in section_entries.PATHS:
        raise ObjectDoesNotExist
    return section


def _add_skill(request: SignedInRequest, profile: Profile, section: Section, form: SkillForm) -> bool:
    """False: it was refused, and the form says why."""
    try:
        section_entries.add_skill(profile=profile, pk=section.pk, **form.cleaned_data, by=request.user)
    except ValidationError as refusal:
        form.add_error(None, " ".join(refusal.messages))
        return False
    return True


def _url(profile: Profile, pk: str) -> str:
    return editing.url_of(profile, "profile_section_entries", pk=pk)
