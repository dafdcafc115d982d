"""Tags of the frame of the pages: the menu, the tabs of an app, the error guide, and the deletion of the account."""

from __future__ import annotations

from typing import Any

from django import template
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
)
from dashboard.account import queries as account_queries
from dashboard.client_apps import error_guide
from dashboard.navigation import Entry, Link

register = template.Library()
register.simple_tag(account_queries.deletion_of)

MENU: dict[str, tuple[Entry, ...]] = {
    "": (*home.NAVIGATION, *profile.NAVIGATION, *imagehost.NAVIGATION),
    "Developers": (*client_apps.NAVIGATION, *api_keys.NAVIGATION, *documentation.NAVIGATION),
    "Account": account.NAVIGATION,
}


@register.simple_tag(takes_context=True)
def menu(context: dict[str, Any]) -> list[tuple[str, list[Link]]]:
    """Return the groups of the menu: a title, empty for the first, and links. 1 query for staff who answer requests,
    and one for their permissions."""
    user, path = context["user"], context["request"].path
    groups = {**MENU, "Staff": staff.NAVIGATION} if user.is_staff else MENU
    return [
        (title, [navigation.link(entry, path) for entry in entries if _is_open(entry, user)])
        for title, entries in groups.items()
    ]


@register.simple_tag(takes_context=True)
def app_tabs(context: dict[str, Any]) -> list[Link]:
    """Return links to the pages of `application`."""
    client_id = context["application"].client_id
    return [navigation.link(entry, context["request"].path, client_id=client_id) for entry in client_apps.TABS]


@register.simple_tag(takes_context=True)
def imagehost_tabs(context: dict[str, Any]) -> list[Link]:
    """Return links to the pages of the image host."""
    return [navigation.link(entry, context["request"].path) for entry in imagehost.TABS]


@register.simple_tag
def error_guide_url(code: str, description: str) -> str:
    """Return the place in the documentation that explains an error page of authorize, or the empty string."""
    guide = error_guide.explain(endpoint="authorize", code=code, description=description)
    return f"{reverse('docs_page', args=['errors'])}#{guide.anchor}" if guide else ""


@register.inclusion_tag("_components/meter.html")
def meter(value: int, maximum: int, label: str, text: str = "") -> dict[str, Any]:
    """Show how much of something is used, as a bar and in words."""
    share = 100 * value / maximum if maximum else 0
    return {"value": min(value, maximum), "maximum": maximum, "label": label, "text": text, "is_high": share >= 90}


def _is_open(entry: Entry, user: User) -> bool:
    return not entry.permissions or access.may(user, *entry.permissions)
