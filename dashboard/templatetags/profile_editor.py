"""What the pages of the profile editor share: their tabs, their addresses, the files that they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template
from django.urls import NoReverseMatch

from dashboard.profile import editing
from lookup import addresses
from lookup.models import Asset, Profile
from lookup.page import places

register = template.Library()

_TABS = (
    ("profile_editor", "Profile"),
    ("profile_appearance", "Appearance"),
    ("profile_media", "Media"),
    ("profile_links", "Links"),
    ("profile_badges", "Badges"),
    ("profile_widgets", "Widgets"),
    ("profile_audios", "Audio"),
    ("profile_backgrounds", "Backgrounds"),
    ("profile_projects", "Projects"),
    ("profile_gallery", "Gallery"),
    ("profile_sections", "Sections"),
)
_TABS_OF_THE_USER = (
    ("profile_aliases", "Aliases"),
    ("profile_privacy", "Privacy"),
    ("profile_transfer", "Export and import"),
)


@dataclass(frozen=True)
class Tab:
    """`is_here`: the page itself (`is_page`), or one below it."""

    name: str
    url: str
    is_here: bool
    is_page: bool


@register.simple_tag(takes_context=True)
def profile_tabs(context: dict[str, Any]) -> list[Tab]:
    """The tabs of the edited profile; beside the main one those of the user too. Any: a template's context."""
    profile: Profile = context["profile"]
    names = _TABS + (_TABS_OF_THE_USER if profile.is_main else ())
    return [_tab(context, profile, name, title) for name, title in names if _exists(profile, name)]


@register.simple_tag(takes_context=True)
def profiles_to_edit(context: dict[str, Any]) -> list[Tab]:
    """Each profile of the user, in words. 1 query. Any: a template's context."""
    here: Profile = context["profile"]
    return [
        Tab(_title(profile), editing.url_of(profile, "profile_editor"), profile.pk == here.pk, is_page=False)
        for profile in editing.profiles_of(here.user)
    ]


@register.simple_tag(takes_context=True)
def profile_url(context: dict[str, Any], name: str, **kwargs: Any) -> str:
    """A page of the editor for the edited profile. Any: a template's context; what else stands in the path."""
    return editing.url_of(context["profile"], name, **kwargs)


@register.filter
def asset_url(asset: Asset | None) -> str:
    """Where the page finds an uploaded file; empty for none."""
    return places.on_page(addresses.upload(asset.path)) if asset else ""


def _tab(context: dict[str, Any], profile: Profile, name: str, title: str) -> Tab:
    url, path = editing.url_of(profile, name), context["request"].path
    is_above = path.startswith(url) and name != "profile_editor"  # which is above all of them
    return Tab(title, url, path == url or is_above, is_page=path == url)


def _exists(profile: Profile, name: str) -> bool:
    try:
        editing.url_of(profile, name)
    except NoReverseMatch:
        return False
    return True


def _title(profile: Profile) -> str:
    return "Main profile" if profile.is_main else f"Profile of {profile.alias.name.name}"
