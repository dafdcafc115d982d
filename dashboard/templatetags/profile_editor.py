"""Tags of the profile editor: its menu, its addresses, its files and icons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template

from dashboard import navigation
from dashboard.navigation import Entry, Link
from dashboard.profile import OF_THE_USER, PAGES, editing
from dashboard.profile.kinds import KINDS, menu_groups
from lookup.models import Asset, Badge, Profile
from lookup.models import Link as LinkRow
from lookup.page import icons, url_policy
from lookup.shapes import addresses

register = template.Library()


@dataclass(frozen=True)
class Menu:
    """`groups`: a link to the first page of each; `pages`: of the group that is open."""

    groups: list[Link]
    pages: list[Link]


@register.simple_tag(takes_context=True)
def profile_menu(context: dict[str, Any]) -> Menu:
    """Return the menu of the edited profile; for the main one with the pages of the user too."""
    profile: Profile = context["profile"]
    menu = Menu([], [])
    for title, names in menu_groups().items():
        entries = [_entry(name) for name in names if profile.is_main or name not in OF_THE_USER]
        links = [navigation.link(entry, context["request"].path, **editing.path_of(profile)) for entry in entries]
        if links:
            is_open = any(link.current for link in links)
            menu.groups.append(Link(links[0].url, title, "true" if is_open else ""))
            menu.pages.extend(links if is_open else ())
    return menu


@register.simple_tag(takes_context=True)
def profiles_to_edit(context: dict[str, Any]) -> list[Link]:
    """Return a link for each profile of the user. 1 query."""
    here: Profile = context["profile"]
    return [
        Link(editing.url_of(each, "profile_editor"), _title(each), "true" if each.pk == here.pk else "")
        for each in editing.profiles_of(here.user)
    ]


@register.simple_tag(takes_context=True)
def profile_url(context: dict[str, Any], name: str, **kwargs: Any) -> str:
    """Return a page of the editor for the edited profile."""
    return editing.url_of(context["profile"], name, **kwargs)


@register.filter
def drawing(link: LinkRow) -> str:
    """Return the id of our drawing for a link without an icon."""
    return icons.drawing(link.platform_id, "" if link.is_text else url_policy.host(link.url))


@register.filter
def asset_url(asset: Asset | None) -> str:
    """Return where the page finds an uploaded file; empty for none."""
    return url_policy.on_page(addresses.upload(asset.path)) if asset else ""


@register.filter
def drawn(svg: str, color: str = "") -> str:
    """Return a data URL of the icon, in `color` where it has none of its own; empty for what may not be shown."""
    return icons.picture(svg, color)


@register.filter
def badge_url(badge: Badge) -> str:
    """Return where the page finds the artwork of a badge of the catalogue."""
    return url_policy.on_page(addresses.badge_image(badge.catalog, badge.image))


def _entry(name: str) -> Entry:
    return PAGES.get(name) or Entry(f"profile_{name}", KINDS[name].title)


def _title(profile: Profile) -> str:
    return "Main profile" if profile.is_main else f"Profile of {profile.alias.name.name}"
