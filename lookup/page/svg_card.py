"""Cards to embed: pictures (SVG) without script and without anything from elsewhere, drawn from a few lines of text.

They are seen on pages of others, through proxies that pass no script and load nothing further. The fonts are those of
the reader's system, so widths are estimates, upwards, and every line is clipped to its place.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree as ET

from django.utils.http import urlencode

from lookup.page import colors, icons, palette
from lookup.page.colors import Settings
from lookup.page.palette import Chosen, Color

MAX_CHARACTERS = 300  # of a text that is measured: more than the widest card shows
MAX_MARKS, MAX_PARTS = 4, 12  # marks on a letter, parts of an emoji: stacks of hundreds are drawn over all else
FONTS = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif, "
    "'Apple Color Emoji', 'Segoe UI Emoji', 'Noto Color Emoji'"
)
ELLIPSIS = "…"
_JOINER, _EMOJI = "\u200d", "\ufe0f"
_JOINERS = frozenset(f"\u200c{_JOINER}")
# Widths of characters in em, of the widest of the fonts (DejaVu Sans). Others: _LETTER, and 1 for wide ones.
_WIDTHS = {
    character: width
    for characters, width in (
        ("ijl'", 0.3),
        (" .,:;|!I`", 0.33),
        ("fJ()[]/\\-", 0.4),
        ('rt"', 0.44),
        ("wmMOQ", 0.87),
        ("W%@", 1.0),
        ("ABCDEFGHKLNPRSTUVXYZ&", 0.73),
        ("abcdeghknopqsuvxyz0123456789_~+<>=#", 0.64),
    )
    for character in characters
}
_LETTER, _WIDE, _SPACING_MARK, _BOLD = 0.75, 1.0, 0.5, 1.15
_STATUSES = ("online", "idle", "dnd", "streaming")  # as `palette.STATUSES` has their colors
_FIRST_EMOJI, _WIDTH_OF_EMOJI = "\U0001f000", 1.35


class Size(NamedTuple):
    """Of a card, in pixels of CSS. `place`: the center of the circle, across and down. `radius`: its own. `fonts`: of
    the name, of the text below it, of the lines. `first`, `step`: where lines begin, and their distance. `lines`: how
    many it has, `wrapped`: how many of them a long text may take."""

    width: int
    height: int
    place: int
    radius: int
    fonts: tuple[int, int, int]
    first: int = 0
    step: int = 0
    lines: int = 0
    wrapped: int = 0


SIZES = {
    "small": Size(320, 72, 36, 22, (16, 13, 13)),
    "medium": Size(400, 152, 44, 28, (18, 14, 14), first=96, step=21, lines=3, wrapped=1),
    "large": Size(480, 240, 54, 34, (22, 15, 15), first=122, step=24, lines=5, wrapped=3),
}
THEMES = ("auto", "light", "dark")  # auto: as the reader's system, light where that says nothing


@dataclass(frozen=True, slots=True)
class Look:
    """`theme`: of THEMES. `name`: of SIZES."""

    theme: str = "auto"
    name: str = "medium"

    @property
    def size(self) -> Size:
        return SIZES[self.name]

    @property
    def query(self) -> str:
        """Return the query of the address, empty for the default."""
        chosen = {"theme": self.theme, "size": self.name}
        return urlencode({key: value for key, value in chosen.items() if value != _DEFAULT[key]})


_DEFAULT = {"theme": "auto", "size": "medium"}


def look_of(query: Mapping[str, str]) -> Look:
    """Return the look that a query asks for; the default of each value that is not known, now or any longer."""
    theme, name = query.get("theme", ""), query.get("size", "")
    return Look(theme if theme in THEMES else _DEFAULT["theme"], name if name in SIZES else _DEFAULT["size"])


@dataclass(frozen=True, slots=True)
class Line:
    """`color`: a name of `_scheme`. `is_wrapped`: it may take several lines."""

    text: str
    color: str = "ink"
    is_bold: bool = False
    is_wrapped: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """`title`: for those who do not see the card. `below`: the line below the name. `lines`: further ones, the most
    important first. `dot`: a color of `_scheme`, empty for none. `settings`: of the profile, whose colors these are."""

    title: str
    name: str
    below: Line
    lines: tuple[Line, ...]
    settings: Settings
    dot: str = ""


def draw(shown: Contents, look: Look) -> bytes:
    """Return the card as a document of its own, UTF-8."""
    size = look.size
    schemes = _schemes(colors.chosen_of(colors.parameters(shown.settings)))
    drawing = _Drawing(size, schemes[look.theme == "dark"])
    texts = [clean(shown.name), clean(shown.below.text), *(clean(line.text) for line in shown.lines)]
    drawing.add("title").text = clean(shown.title)
    drawing.add("desc").text = ". ".join(text.rstrip(".") for text in texts if text)
    if look.theme == "auto":
        drawing.add("style").text = _dark_style(schemes[1])
    _draw_head(drawing, shown, size)
    rows = [row for line in shown.lines for row in _rows(line, size)]
    for place, row in enumerate(rows[: size.lines]):
        edge = size.place - size.radius
        drawing.write(row, edge, size.first + place * size.step, size.width - 2 * edge, size.fonts[2])
    return ET.tostring(drawing.root, encoding="unicode").encode()


def _draw_head(drawing: _Drawing, shown: Contents, size: Size) -> None:
    """Draw the ground, the circle with the first letter and the status, the name, and the line below it."""
    box = {"x": "0.5", "y": "0.5", "width": f"{size.width - 1}", "height": f"{size.height - 1}", "rx": "12"}
    drawing.shape("rect", "surface", stroke="line", **box)
    drawing.circle("accent", size.place, size.place, size.radius)
    initial = next(iter(clusters(clean(shown.name).upper())), "")
    letter = drawing.write(
        Line(initial, "surface", is_bold=True), size.place, round(size.place + size.radius * 0.33), 0, size.radius
    )
    letter.set("text-anchor", "middle")
    if shown.dot:
        side = size.place + round(size.radius * 0.72)
        drawing.circle(shown.dot, side, side, round(size.radius * 0.26), stroke="surface")
    left = size.place + size.radius + 14
    width = size.width - left - 16
    for line, font, offset in (
        (Line(shown.name, "ink", is_bold=True), size.fonts[0], -4),
        (shown.below, size.fonts[1], 17),
    ):
        drawing.write(line, left, size.place + offset, width, font)


class _Drawing:
    """A document that grows. Colors are attributes, which every program reads; a style replaces them by class."""

    def __init__(self, size: Size, scheme: Mapping[str, str]) -> None:
        self.scheme = scheme
        measures = {"width": f"{size.width}", "height": f"{size.height}", "viewBox": f"0 0 {size.width} {size.height}"}
        self.root = ET.Element("svg", {"xmlns": icons.NAMESPACE, "role": "img", "font-family": FONTS, **measures})

    def add(self, tag: str, **attributes: str) -> ET.Element:
        return ET.SubElement(self.root, tag, attributes)

    def shape(self, tag: str, color: str, *, stroke: str = "", **attributes: str) -> ET.Element:
        """Add a shape. `color`, `stroke`: names of colors."""
        made = self.add(tag, **{"class": f"{color} {stroke}-line".removesuffix(" -line")}, fill=self.scheme[color])
        made.attrib |= attributes | ({"stroke": self.scheme[stroke]} if stroke else {})
        return made

    def circle(self, color: str, x: int, y: int, radius: int, *, stroke: str = "") -> None:
        circle = self.shape("circle", color, stroke=stroke, cx=f"{x}", cy=f"{y}", r=f"{radius}")
        if stroke:
            circle.set("stroke-width", "3")

    def write(self, line: Line, x: int, y: int, width: int, font: int) -> ET.Element:
        """Add a line of text, its baseline at `y`, clipped to `width` where that is not 0; return its element."""
        place, left, baseline = self.root, x, y
        if width:  # an inner document clips what is in it, without a reference
            top = y - round(font * 1.15)
            box = {"x": f"{x}", "y": f"{top}", "width": f"{width}", "height": f"{round(font * 1.6)}"}
            place, left, baseline = ET.SubElement(self.root, "svg", box), 0, y - top
        attributes = {"class": line.color, "fill": self.scheme[line.color], "font-size": f"{font}"}
        made = ET.SubElement(place, "text", {"x": f"{left}", "y": f"{baseline}", **attributes})
        if line.is_bold:
            made.set("font-weight", "600")
        text = clean(line.text)
        made.text = cut(text, width / font, is_bold=line.is_bold) if width else text
        if _is_rtl(text):  # it ends at the left
            made.attrib |= {"direction": "rtl", "text-anchor": "end"}
        return made


@functools.lru_cache(maxsize=1_000)
def _schemes(chosen: Chosen) -> tuple[dict[str, str], dict[str, str]]:
    """Return the colors in light and in dark. To find readable ones takes longer than everything else in a card."""
    light, dark = (_scheme(chosen.scheme(is_dark=is_dark), is_dark=is_dark) for is_dark in (False, True))
    return light, dark


def _scheme(found: Mapping[str, Color], *, is_dark: bool) -> dict[str, str]:
    """Return the colors of a card, by name: surface, line, ink, ink-soft, accent and the statuses."""
    used = {name: found[name] for name in ("surface", "ink", "ink-soft", "accent")}
    used |= {"line": palette.mixed(found["surface"], found["ink"], 0.18), "offline": found["ink-soft"]}
    used |= {name: pair[is_dark] for name, pair in zip(_STATUSES, palette.STATUSES, strict=True)}
    return {name: palette.hexadecimal(color) for name, color in used.items()}


def _dark_style(scheme: Mapping[str, str]) -> str:
    rules = [f".{name}{{fill:{color}}}" for name, color in scheme.items()]
    rules += [f".{name}-line{{stroke:{scheme[name]}}}" for name in ("line", "surface")]
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


def _rows(line: Line, size: Size) -> Iterator[Line]:
    """Yield the lines of a text, none for an empty one."""
    text, edge = clean(line.text), size.place - size.radius
    width = (size.width - 2 * edge) / size.fonts[2]
    most = size.wrapped if line.is_wrapped else 1
    while text and most:
        most -= 1
        row = _first_row(text, width) if most else text
        yield Line(row, line.color, line.is_bold)
        text = text[len(row) :].strip()


def _first_row(text: str, width: float) -> str:
    """Return the words from the beginning of a text that fit into a line; a word that is too long for one is parted."""
    fitting = "".join(_fitting(clusters(text), width, 1))
    if len(fitting) == len(text):
        return text
    words, space, _ = fitting.rpartition(" ")
    return words if space else fitting


def cut(text: str, width: float, *, is_bold: bool = False) -> str:
    """Return a text that takes at most `width` em, with an ellipsis where it goes on."""
    found = list(clusters(text))
    factor = _BOLD if is_bold else 1.0
    if sum(map(_width, found)) * factor <= width:
        return text
    return "".join(_fitting(found, width - factor, factor)).rstrip() + ELLIPSIS


def _fitting(found: Iterable[str], width: float, factor: float) -> Iterator[str]:
    for cluster in found:
        width -= _width(cluster) * factor
        if width < 0:
            return
        yield cluster


def clean(text: str) -> str:
    """Return a text on one line: without what XML cannot hold (XML 1.0 §2.2), without controls and bidirectional
    overrides, with at most MAX_CHARACTERS, and with at most MAX_MARKS marks on a letter."""
    line = " ".join(text[: 4 * MAX_CHARACTERS].split())
    kept = (character for character in line if _is_joined(character) or _is_shown(character))
    return "".join(clusters(unicodedata.normalize("NFC", "".join(kept))[:MAX_CHARACTERS]))


def _is_shown(character: str) -> bool:
    """Return whether a character may stand in a card: no control, no format, no half of a pair, no noncharacter."""
    return unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Cn"}


def clusters(text: str) -> Iterator[str]:
    """Yield what a reader takes for one character: a letter with its marks, an emoji of several parts, a flag."""
    if text.isascii():
        yield from text
        return
    found, marks = "", 0
    for character in text:
        if found and (_is_joined(character) or found.endswith(_JOINER) or _is_flag(found, character)):
            marks += 1
            found += character if marks <= (MAX_MARKS if found < _FIRST_EMOJI else MAX_PARTS) else ""
            continue
        if found:
            yield found
        found, marks = character, 0
    if found:
        yield found


def _is_joined(character: str) -> bool:
    """Return whether a character belongs to the one before it: a mark, a joiner, a skin color, a tag of a flag."""
    return (
        unicodedata.category(character) in {"Mn", "Me", "Mc"}
        or character in _JOINERS
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_flag(before: str, character: str) -> bool:
    """Return whether a character ends a flag, which two letters of their own make."""
    return len(before) == 1 and all("\U0001f1e6" <= letter <= "\U0001f1ff" for letter in (before, character))


def _width(cluster: str) -> float:
    """Return the width of a cluster in em."""
    first = cluster[0]
    if first >= _FIRST_EMOJI or _EMOJI in cluster:
        return _WIDTH_OF_EMOJI
    if unicodedata.east_asian_width(first) in {"W", "F"}:
        return _WIDE
    if len(cluster) == 1:
        return _WIDTHS.get(first, _LETTER)
    spacing = sum(unicodedata.category(character) == "Mc" for character in cluster[1:])
    return _WIDTHS.get(first, _LETTER) + spacing * _SPACING_MARK


def _is_rtl(text: str) -> bool:
    """Return whether the first letter with a direction is written from right to left."""
    strong = (unicodedata.bidirectional(character) for character in text)
    return next((kind for kind in strong if kind in {"L", "R", "AL"}), "L") != "L"
