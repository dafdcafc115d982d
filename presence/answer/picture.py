"""The card of live presence as a picture for other sites: what the card on the profile page says, in text."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.timesince import timesince

from lookup.page import svg_card
from lookup.page.svg_card import Contents, Line, Look
from presence.answer.card import WORDS, Card
from presence.fields import Json


def draw(card: Card, chosen: Json, look: Look, now: datetime) -> bytes:
    """Return the card. `chosen`: the profile's settings objects."""
    return svg_card.draw(contents(card, chosen, now), look)


def contents(card: Card, chosen: Json, now: datetime) -> Contents:
    says, doing, status = card.says, card.doing, card.status
    said = f"{says.emoji} {says.text}" if says else ""
    done = f"{doing.verb} {doing.name}" if doing else ""
    details = [doing.title, doing.line, _elapsed(doing.since, now)] if doing else []
    below = f"{status.word}, last online {status.last_seen}" if status and status.last_seen else status and status.word
    is_known = status is not None and status.key in WORDS
    return Contents(
        title=f"Live presence of {card.name}",
        name=card.name,
        below=Line(below or done, status.key if status and is_known else "ink-soft"),
        lines=(
            Line(said),
            Line(done if status else "", "accent", is_bold=True),
            *(Line(text, "ink-soft") for text in details),
        ),
        settings=chosen,
        dot=status.key if status and is_known else "",
    )


def _elapsed(since: datetime | None, now: datetime) -> str:
    return f"For {timesince(since, now)}" if since and now - since >= timedelta(minutes=1) else ""
