"""The card of live presence, for the templates of apps that do not import presence."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils import timezone

from presence.answer import card

register = template.Library()


@register.filter
def has_presence_place(chat_id: str | None, chosen: dict[str, Any]) -> bool:
    """Return whether the page has a place for the card. `chosen` (Any: a JSON value): as `card.of_user` wants it."""
    return card.is_wanted(chat_id, chosen)


@register.inclusion_tag("presence/place.html")
def presence_card(name: str, chat_id: str | None, chosen: dict[str, Any], *, is_mirrored: bool) -> dict[str, Any]:
    """Return the card on the page of `name`, which a script refreshes; nothing where there never is one.

    `chosen` (Any: a JSON value) and `is_mirrored`: as `card.of_user` wants them.
    """
    if not card.is_wanted(chat_id, chosen):
        return {"is_wanted": False}
    found = card.of_user(chat_id, chosen, is_mirrored=is_mirrored, now=timezone.now())
    return {"is_wanted": True, "name": name, "card": found}
