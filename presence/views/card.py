"""GET /presence/card/{username}: the card of live presence on a profile page, for the script that refreshes it."""

from __future__ import annotations

import json

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from accounts import content_security
from lookup import resolve
from lookup.errors import ProfilePrivate, UserNotFound
from lookup.registry import DOCUMENT_COLUMNS
from lookup.sql import UserRow
from presence import card
from presence.card import Card

# Opened by itself it is text: whatever stands in it, nothing of it is loaded, sent or framed.
POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@csrf_exempt  # no cookie decides anything: a POST is 405
@require_safe
def show(request: HttpRequest, name: str) -> HttpResponse:
    """200 with HTML, 204 where there is no card now, 404 where the name shows no profile, whyever."""
    try:
        user = resolve.find("username", name, [DOCUMENT_COLUMNS["profile"]], timezone.now(), is_alias_profile=True)
    except (UserNotFound, ProfilePrivate):
        return _answer("", status=404)
    found = _card_of(user)
    return (
        _answer("", status=204) if found is None else _answer(render_to_string("presence/card.html", {"card": found}))
    )


def _card_of(user: UserRow) -> Card | None:
    chosen = json.loads(user.texts[0])["settings"]
    is_mirrored = chosen["avatarSettings"]["enabled"] and user.mirrors_chat
    if user.chat_id is None:
        return None
    return card.of_user(user.chat_id, chosen, is_mirrored=is_mirrored, now=user.now)


def _answer(html: str, *, status: int = 200) -> HttpResponse:
    """Nobody keeps it, and no other site's page reads it."""
    response = HttpResponse(html, status=status)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers[content_security.HEADER] = POLICY
    return response
