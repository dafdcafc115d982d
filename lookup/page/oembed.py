"""oEmbed (https://oembed.com): what a consumer shows in place of an address of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse

from lookup.errors import ProfilePrivate, UserNotFound
from lookup.page import context, embeds, profile_card, svg_card
from lookup.page.context import Elsewhere, Head
from lookup.page.embeds import Embedded
from lookup.page.svg_card import Look

CACHE_SECONDS = 60
Json = dict[str, Any]  # Any: a JSON value


@dataclass(frozen=True, slots=True)
class Room:
    """How much room the consumer has, in pixels; None: any."""

    width: int | None = None
    height: int | None = None

    def holds(self, width: int, height: int) -> bool:
        return width <= (self.width or width) and height <= (self.height or height)

    def fitted(self, width: int, height: int) -> tuple[int, int]:
        """Return the size of a picture that is made smaller where it must be; its sides keep their proportion."""
        scale = min(1.0, (self.width or width) / max(width, 1), (self.height or height) / max(height, 1))
        return max(int(width * scale), 1), max(int(height * scale), 1)


def answer(kind: str, title: str, author: str, username: str, **parts: Any) -> Json:
    """Return an answer (oEmbed §2.3.4). `kind`: its `type`. `parts`: what this type has besides (Any: JSON values)."""
    return {
        "version": "1.0",
        "type": kind,
        "title": title,
        "author_name": author,
        "author_url": f"{settings.BASE_URL}{reverse('profile_page', args=[username])}",
        "provider_name": settings.SITE_NAME,
        "provider_url": f"{settings.BASE_URL}/",
        "cache_age": CACHE_SECONDS,
        **parts,
    }


def thumbnail(url: str, width: int, height: int, room: Room) -> Json:
    """Return the picture beside an answer; empty where it is larger than the room (oEmbed §2.3.4)."""
    if not (width and height and room.holds(width, height)):
        return {}
    return {"thumbnail_url": url, "thumbnail_width": width, "thumbnail_height": height}


def of_profile(name: str, room: Room, now: datetime) -> Json | None:
    """Return the answer for a profile, its card; None where visitors see none. 1 query."""
    try:
        page = context.find(name, now, number=None)
        if isinstance(page, Elsewhere):
            page = context.find(page.username, now, number=None)
    except (UserNotFound, ProfilePrivate):
        return None
    if isinstance(page, Elsewhere):
        return None
    fitting = [size for size, one in svg_card.SIZES.items() if room.holds(one.width, one.height)]
    look = Look(name=(fitting or list(svg_card.SIZES))[-1 if fitting else 0])
    width, height = room.fitted(look.size.width, look.size.height)
    picture = profile_card.url(page.name, look)
    shown = Embedded(page.head.title, page.head.canonical, picture=picture, width=width, height=height)
    parts = {"html": embeds.html(shown), "width": width, "height": height, **_picture(page.head, room)}
    return answer("rich", page.head.title, page.display_name, page.name, **parts)


def _picture(head: Head, room: Room) -> Json:
    picture = head.image
    return thumbnail(picture.url, picture.width or 0, picture.height or 0, room) if picture else {}


def size_of(given: Sequence[str]) -> tuple[int | None, ...]:
    """Return sizes in pixels from a query, None for empty ones. Raises ValueError for what is none."""
    if not all(one.isascii() and one.isdecimal() and len(one) <= 6 and int(one) for one in given if one):
        raise ValueError
    return tuple(int(one) if one else None for one in given)
