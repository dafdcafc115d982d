"""The staff's part of the side navigation, and what every staff page tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from allauth.mfa.utils import is_mfa_enabled
from django import template
from django.urls import reverse

from accounts.models import User
from dashboard import access
from dashboard.models import AccessRequest
from dashboard.staff import actions as staff_actions

register = template.Library()


@dataclass(frozen=True)
class StaffPage:
    """An entry. `current`: for `aria-current`; `waiting`: how many requests wait for an answer."""

    url: str
    text: str
    current: str
    waiting: int = 0


@register.simple_tag(takes_context=True)
def staff_links(context: dict[str, Any]) -> list[StaffPage]:
    """The staff pages that the person may open. 1 query for those who answer requests, beside their permissions.

    Any: a template's context.
    """
    user, path = context["user"], context["request"].path
    queue, applications, people = reverse("staff_queue"), reverse("staff_applications"), reverse("staff_people")
    pages = []
    if access.may(user, *staff_actions.QUEUE):
        current = "page" if path == queue else _current(path, f"{queue}requests/")
        pages.append(StaffPage(queue, "Requests", current, AccessRequest.objects.pending().count()))
    if access.may(user, *staff_actions.APPLICATIONS):
        pages.append(StaffPage(applications, "Find apps", _current(path, applications)))
    if access.may(user, *staff_actions.PEOPLE):
        pages.append(StaffPage(people, "Find people", _current(path, people)))
    return pages


@register.simple_tag
def has_second_factor(user: User) -> bool:
    """1 query."""
    return bool(is_mfa_enabled(user))


def _current(path: str, url: str) -> str:
    if path == url:
        return "page"
    return "true" if path.startswith(url) else ""
