"""Icons that users drew, in the editor."""

from __future__ import annotations

from django import template

from lookup import addresses
from lookup.models import Badge
from lookup.page import icons, places

register = template.Library()


@register.filter
def drawn(svg: str, color: str = "") -> str:
    """A data URL of the icon, painted in `color` where it has none of its own; empty for what may not be shown."""
    return icons.picture(svg, color)


@register.filter
def badge_url(badge: Badge) -> str:
    """Where the page finds the artwork of a badge of the catalogue."""
    return places.on_page(addresses.badge_image(badge.catalog, badge.image))
