"""What the pages of one app share: the links between them, and how they show it."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag(takes_context=True)
def app_tab(context: dict[str, Any], name: str, text: str) -> SafeString:
    """A link to another page of `application`, marked where it is this one.

    Any: a template's context.
    """
    try:
        url = reverse(name, args=[context["application"].client_id])
    except NoReverseMatch:
        return SafeString("")
    path = context["request"].path
    is_here = path == url or (name != "application" and path.startswith(url))
    current = format_html(' aria-current="{}"', "page" if path == url else "true") if is_here else ""
    return format_html('<li><a href="{}"{}>{}</a></li>', url, current, text)
