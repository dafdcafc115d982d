"""The colors of a page from the few that its owner has chosen: everything that can be read stays readable.

Where the owner has a background, cards, lines and quiet grounds are tinted by it; else they are those of every page
(static/css/base.css). Colors of text are moved towards black or white until they can be read on all that may lie
below them (WCAG 2.2, 1.4.3 and 1.4.11), also on a card that a dark or bright picture shines through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Color = tuple[int, int, int]
WHITE, BLACK = (255, 255, 255), (0, 0, 0)
READABLE, ENOUGH = 5.0, 4.6  # contrast of text, on plain grounds and where something shines through
SEEN = 3.1  # of controls
VEIL = 0.35  # how much of the page's ground lies over a picture behind it (static/css/profile.css)
HEADER = 0.1  # how much shines through the header and the footer
PRESENCE = 0.13  # how much of a status' color lies in the card of presence (static/css/profile.css)
_MIDDLE = 0.18  # luminance: as far from black as from white


def color(digits: str) -> Color:
    """Return the color of six hexadecimal digits."""
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)


# Of pages without an owner's colors, light and dark (static/css/base.css).
STANDARD: dict[str, tuple[Color, Color]] = {
    name: (color(light), color(dark))
    for name, light, dark in (
        ("paper", "f6f3ec", "131615"),
        ("surface", "fffdf9", "1b1f1d"),
        ("sunken", "eeeae0", "0f1211"),
        ("ink", "1c2420", "edece6"),
        ("ink-soft", "525d57", "aab4ae"),
        ("accent", "1b5e4b", "86d3b4"),
        ("ember", "ad4317", "f2a077"),
    )
}


# Of the statuses of presence, light and dark (static/css/profile.css).
STATUSES = tuple(
    (color(light), color(dark))
    for light, dark in (("1f7a4d", "6fd39b"), ("94610a", "edc36f"), ("b3362c", "f69c91"), ("6b3fa0", "c9aef5"))
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the owner has chosen, None where nothing. `grounds`: the two ends of the background. `opacity`: of cards,
    from 0 to 1."""

    accent: Color | None = None
    second: Color | None = None
    text: Color | None = None
    icon: Color | None = None
    grounds: tuple[Color, ...] = ()
    opacity: float = 1.0

    @property
    def is_dark(self) -> bool:
        """Whether the background is a dark one."""
        return sum(luminance(ground) for ground in self.grounds) / max(len(self.grounds), 1) < _MIDDLE

    def tokens(self) -> dict[str, tuple[Color, Color]]:
        """Return the custom properties that differ from those of other pages, for light and for dark."""
        if self == Chosen():
            return {}
        light, dark = self.scheme(is_dark=False), self.scheme(is_dark=True)
        return {name: (light[name], dark[name]) for name in light if name not in STANDARD or self._sets(name)}

    def _sets(self, name: str) -> bool:
        """Whether a property of every page is written again: grounds where the owner has one, text in any case."""
        return bool(self.grounds) or name not in ("paper", "surface", "sunken")

    def scheme(self, *, is_dark: bool) -> dict[str, Color]:
        """Return the colors in light or in dark."""
        found = {name: pair[is_dark] for name, pair in STANDARD.items()}
        pole = WHITE if is_dark else BLACK  # text goes to one, its ground lies at the other
        grounds = self.grounds if self.is_dark == is_dark else ()
        if grounds:
            found |= _grounds(mixed(grounds[0], grounds[-1], 0.5), is_dark=is_dark)
        surface, sunken = found["surface"], found["sunken"]
        # Below a card: the background, and the picture that makes text hardest to read.
        below = [*grounds, mixed(pole, found["paper"], VEIL)]
        through = [mixed(surface, one, max(1 - self.opacity, HEADER)) for one in below]
        plain = [(one, READABLE) for one in (surface, sunken)] + [(one, ENOUGH) for one in through]
        words = [*plain, *((mixed(sunken, status[is_dark], PRESENCE), ENOUGH) for status in STATUSES)]
        ink = readable(self.text or found["ink"], words, pole)
        soft = mixed(ink, surface, 0.25) if self.text or grounds else found["ink-soft"]
        found |= {"ink": ink, "ink-soft": readable(soft, words, pole)}
        found |= self._signs(found, plain, grounds, is_dark=is_dark)
        if self.grounds:
            controls = [(one, SEEN) for one in (surface, sunken)]
            found["line"] = mixed(surface, ink, 0.16)
            found["line-strong"] = readable(mixed(surface, ink, 0.4), controls, pole)
        return found

    def _signs(
        self, found: Mapping[str, Color], plain: list[tuple[Color, float]], grounds: tuple[Color, ...], *, is_dark: bool
    ) -> dict[str, Color]:
        """Return the colors of what can be pressed, of small signs and of decoration. `plain`: what text must be read
        on."""
        pole, far, share = (WHITE, BLACK, 0.18) if is_dark else (BLACK, WHITE, 0.12)
        surface, is_light_gradient = found["surface"], len(set(grounds)) == 2 and not is_dark
        accent, second = self.accent or found["accent"], self.second or self.icon or found["ember"]
        accent_soft, ember_soft = mixed(surface, accent, share), mixed(surface, second, share)
        own = readable(accent, [*plain, (accent_soft, ENOUGH)], pole)
        signs = {
            "accent": own,
            "accent-strong": mixed(own, pole, 0.25),
            "accent-soft": accent_soft,
            "on-accent": far,
            "ember": readable(second, [*plain, (ember_soft, ENOUGH)], pole),
            "ember-soft": ember_soft,
            "bloom": grounds[0] if is_light_gradient else second,
        }
        if self.accent:
            signs["glow"] = mixed(surface, accent, 0.25 if is_dark else 0.3)
        if self.icon:
            signs["icon"] = readable(self.icon, [(found["sunken"], READABLE)], pole)
        return signs


def _grounds(ground: Color, *, is_dark: bool) -> dict[str, Color]:
    """Return the colors of page, cards and quiet grounds: mixed from the background, and readable below any text."""
    if is_dark:
        steps = (mixed(ground, BLACK, step / 20) for step in range(21))
        deep = next(one for one in steps if luminance(one) <= 0.02)
        surface = deep if deep != ground else mixed(ground, WHITE, 0.06)
        return {"paper": ground, "surface": surface, "sunken": mixed(surface, BLACK, 0.35)}
    steps = (mixed(ground, WHITE, 0.6 + step / 50) for step in range(21))
    surface = next(one for one in steps if luminance(one) >= 0.88)
    quiet = (mixed(surface, mixed(ground, BLACK, 0.2), step / 100) for step in range(20, -1, -1))
    return {"paper": ground, "surface": surface, "sunken": next(one for one in quiet if luminance(one) >= 0.8)}


def readable(wanted: Color, on: Iterable[tuple[Color, float]], pole: Color) -> Color:
    """Return the color, or the nearest one on its way to the pole that has each contrast on its ground."""
    asked = list(on)
    steps = (mixed(wanted, pole, step / 20) for step in range(21))
    return next((one for one in steps if all(contrast(one, ground) >= least for ground, least in asked)), pole)


def contrast(first: Color, second: Color) -> float:
    """Return the contrast, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def luminance(shown: Color) -> float:
    parts = (part / 255 for part in shown)
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def mixed(first: Color, second: Color, share: float) -> Color:
    """Return the mix with this share of the second color, as `color-mix(in srgb, …)`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def written(tokens: Mapping[str, tuple[Color, Color]]) -> list[str]:
    """Return the declarations of custom properties."""
    pairs = {name: f"{hexadecimal(light)}, {hexadecimal(dark)}" for name, (light, dark) in tokens.items()}
    return [f"--{name}: light-dark({pair})" for name, pair in pairs.items()]


def hexadecimal(shown: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*shown)
