"""The card of a profile for other sites: name, username, the first line of its text, and how much there is to see."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.conf import settings
from django.urls import reverse

from lookup.page import embeds, svg_card, url_policy
from lookup.page.context import Figure, ProfilePage
from lookup.page.embeds import Code, Embedded
from lookup.page.svg_card import Contents, Line, Look


def url(name: str, look: Look, kind: str = "profile_card") -> str:
    """Return the whole address of a card. `name`: of its profile. `kind`: the name of its URL."""
    path = f"{settings.BASE_URL}{reverse(kind, args=[name])}"
    return f"{path}?{look.query}" if look.query else path


@dataclass(frozen=True, slots=True)
class Offer:
    """A card with its codes. `kind`: the name of its URL. `src`: its address on a page of ours."""

    kind: str
    title: str
    src: str
    alt: str
    codes: list[Code]


KINDS = {"profile_card": "Profile card", "presence_picture": "Live presence card"}


def offers(page: ProfilePage, look: Look) -> list[Offer]:
    """Return the cards of a profile, also that of live presence, which only some profiles show."""
    return [_offer(page, look, kind, title) for kind, title in KINDS.items()]


def _offer(page: ProfilePage, look: Look, kind: str, title: str) -> Offer:
    size, picture = look.size, url(page.name, look, kind)
    alt = f"{title} of {page.display_name}"
    shown = Embedded(alt, page.head.canonical, direct=picture, picture=picture, width=size.width, height=size.height)
    # The link to the page stands above all cards.
    codes = [replace(code, key=f"{kind}-{code.key}") for code in embeds.codes(shown) if code.key != "page"]
    return Offer(kind, title, url_policy.on_page(picture), alt, codes)


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
