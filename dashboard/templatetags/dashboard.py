"""Tags of the pages: the menu, the tabs of an app, the error guide, the deletion of the account; of the profile editor
its menu, its addresses, its files and icons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse

from accounts.models import User
from dashboard import (
    access,
    account,
    api_keys,
    client_apps,
    documentation,
    home,
    imagehost,
    navigation,
    profile,
    staff,
    teams,
    webhooks,
)
from dashboard.account import queries as account_queries
from dashboard.client_apps import error_guide
from dashboard.navigation import Entry, Link
from dashboard.profile import editing
from dashboard.profile.kinds import KINDS, menu_groups
from lookup.models import Asset, Badge, Profile
from lookup.models import Link as LinkRow
from lookup.page import icons, url_policy
from lookup.shapes import addresses
from oidc_provider.applications import roles
from oidc_provider.models import Application, Role

register = template.Library()
register.simple_tag(account_queries.deletion_of)

MENU: dict[str, tuple[Entry, ...]] = {
    "": (*home.NAVIGATION, *profile.NAVIGATION, *imagehost.NAVIGATION),
    "Developers": (
        *client_apps.NAVIGATION,
        *teams.NAVIGATION,
        *api_keys.NAVIGATION,
        *webhooks.NAVIGATION,
        *documentation.NAVIGATION,
    ),
    "Account": account.NAVIGATION,
}


@register.simple_tag(takes_context=True)
def menu(context: Context) -> list[tuple[str, list[Link]]]:
    """Return the groups of the menu: a title, empty for the first, and links. For staff 1 query of their permissions,
    and 1 for each count that they see. A page shows the menu twice and reads it once."""
    shown: list[tuple[str, list[Link]]] | None = context.render_context.get("menu")
    if shown is None:
        user, path = context["user"], context["request"].path
        groups = {**MENU, "Staff": staff.NAVIGATION} if user.is_staff else MENU
        shown = context.render_context["menu"] = [
            (title, [navigation.link(entry, path, user) for entry in entries if _is_open(entry, user)])
            for title, entries in groups.items()
        ]
    return shown


@register.simple_tag(takes_context=True)
def app_tabs(context: dict[str, Any]) -> list[Link]:
    """Return links to the pages of `application` that the reader's role may open."""
    application: Application = context["application"]
    shown = [entry for entry in client_apps.TABS if entry.name not in client_apps.FOR_DEVELOPERS]
    if roles.allows(application, Role.DEVELOPER):
        shown = list(client_apps.TABS)
    path = context["request"].path
    return [navigation.link(entry, path, client_id=application.client_id) for entry in shown]


register.filter("allows", roles.allows)


@register.simple_tag(takes_context=True)
def team_tabs(context: dict[str, Any]) -> list[Link]:
    """Return links to the pages of `team`."""
    team_id = str(context["team"].pk)
    return [navigation.link(entry, context["request"].path, team_id=team_id) for entry in teams.TABS]


@register.simple_tag(takes_context=True)
def imagehost_tabs(context: dict[str, Any]) -> list[Link]:
    """Return links to the pages of the image host."""
    return [navigation.link(entry, context["request"].path) for entry in imagehost.TABS]


@register.simple_tag(takes_context=True)
def webhook_url(context: dict[str, Any], name: str, **kwargs: Any) -> str:
    """Return a page of webhooks of `owner`."""
    url: str = context["owner"].url(name, **kwargs)
    return url


@register.simple_tag
def error_guide_url(code: str, description: str) -> str:
    """Return the place in the documentation that explains an error page of authorize, or the empty string."""
    guide = error_guide.explain(endpoint="authorize", code=code, description=description)
    return f"{reverse('docs_page', args=[guide.page])}#{guide.anchor}" if guide else ""


@register.inclusion_tag("_components/meter.html")
def meter(value: int, maximum: int, label: str, text: str = "") -> dict[str, Any]:
    """Show how much of something is used, as a bar and in words."""
    share = 100 * value / maximum if maximum else 0
    return {"value": min(value, maximum), "maximum": maximum, "label": label, "text": text, "is_high": share >= 90}


def _is_open(entry: Entry, user: User) -> bool:
    return not entry.permissions or access.may(user, *entry.permissions)


@dataclass(frozen=True)
class Menu:
    """`groups`: a link to the first page of each; `pages`: of the group that is open."""

    groups: list[Link]
    pages: list[Link]


@register.simple_tag(takes_context=True)
def profile_menu(context: dict[str, Any]) -> Menu:
    """Return the menu of the edited profile; for the main one with the pages of the user too."""
    edited: Profile = context["profile"]
    found = Menu([], [])
    for title, names in menu_groups().items():
        shown = [name for name in names if edited.is_main or name not in profile.OF_THE_USER]
        entries = [profile.PAGES.get(name) or Entry(f"profile_{name}", KINDS[name].title) for name in shown]
        links = [navigation.link(entry, context["request"].path, **editing.path_of(edited)) for entry in entries]
        if links:
            is_open = any(link.current for link in links)
            found.groups.append(Link(links[0].url, title, "true" if is_open else ""))
            found.pages.extend(links if is_open else ())
    return found


@register.simple_tag(takes_context=True)
def profiles_to_edit(context: dict[str, Any]) -> list[Link]:
    """Return a link for each profile of the user. 1 query."""
    here: Profile = context["profile"]
    links = []
    for each in editing.profiles_of(here.user):
        title = "Main profile" if each.is_main else f"Profile of {each.alias.name.name}"
        links.append(Link(editing.url_of(each, "profile_editor"), title, "true" if each.pk == here.pk else ""))
    return links


@register.simple_tag(takes_context=True)
def profile_url(context: dict[str, Any], name: str, **kwargs: Any) -> str:
    """Return a page of the editor for the edited profile."""
    return editing.url_of(context["profile"], name, **kwargs)


@register.simple_tag(takes_context=True)
def list_url(context: dict[str, Any], page: str = "", **kwargs: Any) -> str:
    """Return the page of the list `kind` of the edited profile, or one of its pages."""
    url: str = context["kind"].url_of(context["profile"], page, **kwargs)
    return url


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
