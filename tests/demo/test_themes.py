"""Every theme, with every demo profile's own changes on top, can be read (WCAG 2.2, 1.4.3 and 1.4.11)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from demo.invented import seeded
from lookup.models import Profile
from lookup.page import colors, palette
from lookup.page.palette import BLACK, WHITE, Color, contrast, mixed
from lookup.shapes import themes

CSS = Path(settings.BASE_DIR) / "static" / "css"
PAIR = re.compile(r"--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)")
TEXT, LARGE = 4.5, 3.0  # large text and controls
Tokens = dict[str, tuple[Color, Color]]


def tokens_of(css: str) -> Tokens:
    return {name: (palette.color(light), palette.color(dark)) for name, light, dark in PAIR.findall(css)}


STANDARD = tokens_of((CSS / "base.css").read_text())
PRESENCE = [
    (palette.color(light), palette.color(dark))
    for light, dark in re.findall(r"--presence: light-dark\(#(\w+), #(\w+)\)", (CSS / "profile.css").read_text())
]


def test_the_usual_colors_are_those_of_the_style_sheet() -> None:
    assert {name: STANDARD[name] for name in palette.STANDARD} == palette.STANDARD
    assert tuple(PRESENCE) == palette.STATUSES
    assert f"var(--presence) {palette.PRESENCE:.0%}" in (CSS / "profile.css").read_text()
    assert f"var(--paper) {palette.VEIL:.0%}" in (CSS / "profile.css").read_text()


def sheet_of(look: themes.Look, name: str) -> str:
    dressed = themes.picked(look, name)
    fonts = {column: dressed[column] for column in themes.COLUMNS}
    return colors.sheet(colors.parameters(dressed["settings"], **fonts))


def grounds_of(css: str) -> list[Color]:
    found = re.findall(r"linear-gradient\([\d.]+deg, #(\w+), #(\w+)\)", css)
    return [palette.color(end) for ends in found for end in ends]


def schemes_of(css: str) -> tuple[int, ...]:
    """0 for light and 1 for dark; paper shows every page in light."""
    return (0, 1) if "only dark" in css or "color-scheme" not in css else (0,)


def pairs(css: str, scheme: int) -> Iterator[tuple[str, float, Color, Color]]:
    """Yield each pair of a color and the color behind it: its name, the contrast that it needs, and both colors."""
    shown = {name: pair[scheme] for name, pair in (STANDARD | tokens_of(css)).items()}
    grounds = grounds_of(css) if f"only {('light', 'dark')[scheme]}" in css else []
    share = re.search(r"--card-opacity: ([\d.]+)%", css)
    shines = 1 - (float(share[1]) if share else 100) / 100
    surface, sunken, pole = shown["surface"], shown["sunken"], (BLACK, WHITE)[scheme]
    below = [*grounds, mixed(pole, shown["paper"], palette.VEIL), shown["paper"]]
    cards = [surface, sunken, *(mixed(surface, one, part) for one in below for part in (shines, palette.HEADER))]
    for name in ("ink", "ink-soft", "accent", "accent-strong", "ember"):
        yield from ((f"{name} on a card", TEXT, shown[name], card) for card in cards)
    for name in ("accent", "ember", "danger"):
        yield f"{name} on its soft color", TEXT, shown[name], shown[f"{name}-soft"]
        yield f"{name} on a card", TEXT, shown[name], surface
    for name in ("accent", "accent-strong"):
        yield f"text on {name}", TEXT, shown["on-accent"], shown[name]
    yield "a link's icon", TEXT, shown.get("icon", shown["accent"]), sunken
    for status in PRESENCE:
        word, card = mixed(status[scheme], pole, 0.2), mixed(sunken, status[scheme], palette.PRESENCE)
        yield "a status in words", TEXT, word, card
        yield from ((f"{name} on the card of presence", TEXT, shown[name], card) for name in ("ink", "ink-soft"))
        yield "the dot of a status", LARGE, status[scheme], sunken
    yield from (("the edge of a button", LARGE, shown["line-strong"], one) for one in (surface, sunken))
    yield "the ring of the focus, which lies on the color of the cards", LARGE, shown["ember"], surface


def unreadable(css: str) -> list[str]:
    return [
        f"{what}: {contrast(first, second):.2f} of {least}, {('light', 'dark')[scheme]}, {css[:400]}"
        for scheme in schemes_of(css)
        for what, least, first, second in pairs(css, scheme)
        if contrast(first, second) < least
    ]


def test_every_choice_of_colors_can_be_read() -> None:
    rng = seeded("colors")
    names = ("accent", "second", "text", "icon", "ground", "ground2")
    for _ in range(400):
        asked = {name: f"{rng.getrandbits(24):06x}" for name in names if rng.chance(0.6)}
        css = colors.sheet(asked | {"opacity": str(rng.randint(0, 100))})
        assert unreadable(css) == [], asked


@pytest.mark.django_db
@pytest.mark.usefixtures("entry")
def test_every_theme_can_be_read_with_the_own_changes_of_every_demo_profile() -> None:
    profiles = list(Profile.objects.all())
    assert len(profiles) > 40
    assert {profile.theme for profile in profiles} <= {"", *themes.THEMES}
    assert sum(bool(themes.own_changes(profile)) for profile in profiles) > 5, "some have changes of their own"
    sheets = {sheet_of(profile, name) for profile in profiles for name in themes.THEMES}
    sheets |= {sheet_of(Profile(), name) for name in themes.THEMES}
    assert len(sheets) > 100
    assert [problem for css in sheets for problem in unreadable(css)] == []


@pytest.mark.django_db
@pytest.mark.usefixtures("entry")
def test_demo_profiles_show_themes_as_they_are_and_with_changes_on_top() -> None:
    profiles = list(Profile.objects.exclude(theme=themes.STARTER.name))
    assert len({profile.theme for profile in profiles}) >= 6
    plain = [profile for profile in profiles if not themes.own_changes(profile)]
    assert 0 < len(plain) < len(profiles)
