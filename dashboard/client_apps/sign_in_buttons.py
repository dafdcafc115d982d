"""The buttons "Sign in with <name of this service>": an SVG for each variant and size.

A picture names no font of its own. Its text is measured by the widths of Arial and Liberation Sans, and `textLength`
fits any other font into that width.
"""

from __future__ import annotations

import base64
import functools
import html
import itertools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from django.conf import settings
from django.utils.safestring import SafeString

PATH = "/docs/sign-in/buttons"
MARK = "mark"  # the name of the logo without a button around it
_LOGO = Path(settings.BASE_DIR, "static/img/logo.svg")


class Variant(NamedTuple):
    title: str
    use: str
    ground: str
    line: str
    text: str


class Size(NamedTuple):
    """Pixels. `text`: of the font."""

    mark: int
    padding: int
    gap: int
    text: int


VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        "light": Variant("Light", "for light pages", "#ffffff", "#78817b", "#1c2420"),
        "dark": Variant("Dark", "for dark pages", "#1c2420", "#7d8882", "#ffffff"),
        "neutral": Variant("Neutral", "for pages of either kind, and for pictures", "#eeeae0", "#eeeae0", "#1c2420"),
    }
)
SIZES: Mapping[int, Size] = MappingProxyType(
    {
        32: Size(mark=18, padding=10, gap=8, text=13),
        40: Size(mark=22, padding=14, gap=10, text=15),
        48: Size(mark=26, padding=18, gap=12, text=17),
    }
)
# Advance widths of the bold face, in thousandths of the font's size.
_WIDTHS = {
    character: width
    for width, characters in (
        (238, "'"),
        (278, " ,./I\\ijl|"),
        (333, "!()-:;[]`ft"),
        (389, "*r{}"),
        (474, '"'),
        (500, "z"),
        (584, "+<=>^~"),
        (611, "?FLTZbdghnopqu"),
        (667, "EPSVXY"),
        (722, "&ABCDHKNRU"),
        (778, "GOQw"),
        (833, "M"),
        (889, "%m"),
        (944, "W"),
        (975, "@"),
    )
    for character in characters
}
_DIGITS, _OTHERS, _WIDE = 556, 640, 1000  # digits and most small letters; other alphabets; characters of East Asia


def label() -> str:
    return f"Sign in with {settings.SITE_NAME}"


@dataclass(frozen=True)
class Button:
    """`name`: of its file, without the ending."""

    name: str
    variant: Variant
    height: int
    has_text: bool

    @property
    def width(self) -> int:
        if not self.has_text:
            return self.height
        size = SIZES[self.height]
        return 2 * size.padding + size.mark + size.gap + self.text_width

    @property
    def text_width(self) -> int:
        return ceil(measured(label()) * SIZES[self.height].text / 1000)

    @property
    def path(self) -> str:
        return f"{PATH}/{self.name}.svg"

    def image(self, origin: str = "") -> SafeString:
        """Return the picture as HTML."""
        return SafeString(
            f'<img src="{origin}{self.path}" alt="{label_html()}" width="{self.width}" height="{self.height}">'
        )


def measured(text: str) -> int:
    """Return the width of a text in thousandths of the font's size."""
    return sum(_width_of(character) for character in unicodedata.normalize("NFD", text))


def _width_of(character: str) -> int:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return _WIDE
    return _DIGITS if character.isascii() else _OTHERS


@functools.cache
def buttons() -> Mapping[str, Button]:
    """Return the buttons by name: `light-40`, and `light-40-icon` without text."""
    found = (
        Button(f"{name}-{height}{'' if has_text else '-icon'}", variant, height, has_text)
        for (name, variant), has_text, height in itertools.product(VARIANTS.items(), (True, False), SIZES)
    )
    return MappingProxyType({button.name: button for button in found})


class Picture(NamedTuple):
    svg: str
    etag: str


def picture(name: str) -> Picture:
    """Return the SVG of a button, or the logo for MARK. Raises KeyError."""
    return _picture(name, label())


@functools.lru_cache(maxsize=64)
def _picture(name: str, text: str) -> Picture:
    """Return the SVG. `text`: of the button, for the cache."""
    logo = _LOGO.read_text(encoding="utf-8")
    svg = logo if name == MARK else _drawn(buttons()[name], logo)
    return Picture(svg, f'"{blake2b(svg.encode(), digest_size=12).hexdigest()}"')


def _drawn(button: Button, logo: str) -> str:
    size, colors = SIZES[button.height], button.variant
    place = size.padding if button.has_text else (button.height - size.mark) // 2
    mark = base64.b64encode(logo.encode()).decode()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{button.width}" height="{button.height}" '
        f'viewBox="0 0 {button.width} {button.height}" role="img" aria-label="{label_html()}">',
        f'<rect x="0.5" y="0.5" width="{button.width - 1}" height="{button.height - 1}" rx="7.5" '
        f'fill="{colors.ground}" stroke="{colors.line}"/>',
        f'<image x="{place}" y="{(button.height - size.mark) // 2}" width="{size.mark}" height="{size.mark}" '
        f'href="data:image/svg+xml;base64,{mark}"/>',
    ]
    if button.has_text:
        parts.append(
            f'<text x="{size.padding + size.mark + size.gap}" y="{button.height / 2 + size.text * 0.36:g}" '
            f'textLength="{button.text_width}" lengthAdjust="spacingAndGlyphs" fill="{colors.text}" '
            f'font-family="Arial, \'Liberation Sans\', Helvetica, sans-serif" font-size="{size.text}" '
            f'font-weight="700">{label_html()}</text>'
        )
    return "\n  ".join(parts) + "\n</svg>\n"


def sample() -> str:
    """Return the link with a picture that the ready programs show. A string of any of their languages can hold it."""
    return linked(buttons()["light-40"], "/start")


def linked(button: Button, href: str) -> str:
    return f'<a href="{href}">{button.image(settings.BASE_URL)}</a>'


def label_html() -> str:
    """Return HTML and XML of the label, without characters that end or fill in a string of a program."""
    return re.sub(r"[`$\\%{}]", lambda found: f"&#{ord(found[0])};", html.escape(label()))
