"""What the pages' frame needs: links that know whether they lead here."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag(takes_context=True)
def nav_link(context: dict[str, Any], name: str, text: str, *, exactly: bool = False) -> SafeString:
    """An entry of the side navigation; the page's own is marked, and, unless `exactly`, so is one above it.

    Any: a template's context.
    """
    url, path = reverse(name), context["request"].path
    is_here = path == url if exactly else path.startswith(url)
    current = format_html(' aria-current="{}"', "page" if path == url else "true") if is_here else ""
    return format_html('<a class="side-nav__link" href="{}"{}>{}</a>', url, current, text)


@register.inclusion_tag("dashboard/_meter.html")
def meter(value: int, maximum: int, label: str, text: str = "") -> dict[str, Any]:
    """A bar that tells how much of something is taken, in words too."""
    share = 100 * value / maximum if maximum else 0
    return {"value": min(value, maximum), "maximum": maximum, "label": label, "text": text, "is_high": share >= 90}
