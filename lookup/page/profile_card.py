"""The card of a profile for other sites: name, username, the first line of its text, and how much there is to see."""

from __future__ import annotations

from django.conf import settings

from lookup.page import svg_card
from lookup.page.context import Figure, ProfilePage
from lookup.page.svg_card import Contents, Line, Look


def draw(page: ProfilePage, look: Look) -> bytes:
    """Return the card. It shows only what the page shows."""
    return svg_card.draw(contents(page), look)


def contents(page: ProfilePage) -> Contents:
    counted = (Figure(len(page.badges), "badge", "badges"), Figure(len(page.links), "link", "links"))
    figures = [*page.figures[:1], *counted] if page.chosen["viewsSettings"]["enabled"] else counted
    facts = " · ".join(f"{figure.text} {figure.caption}" for figure in figures if figure.count)
    about = next(iter(page.description.splitlines()), "") or next(iter(page.lines), "")
    return Contents(
        title=f"{page.display_name} on {settings.SITE_NAME}",
        name=page.display_name,
        below=Line(page.handle or page.location, "ink-soft"),
        lines=(
            Line(about, is_wrapped=True),
            Line(facts, "accent", is_bold=True),
            Line(page.location if page.handle else "", "ink-soft"),
        ),
        settings=page.chosen,
    )
