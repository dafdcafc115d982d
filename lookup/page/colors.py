"""The owner's colours and shapes, as a style sheet of their own: the policy of the page knows no inline style.

The content of the sheet is in its address, so it needs no database, and browsers keep it for ever. Every value is
parsed into a number or a colour and written again from that. Text stays readable with every choice: colours are moved
towards black or white until they are (WCAG 2.2, 1.4.3).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

VERSION = "1"  # to raise when values are written in another way
_HEX = re.compile(r"[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8}")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})?")
READABLE = 5.0  # contrast
WHITE, BLACK = (255, 255, 255), (0, 0, 0)
# The least favourable backgrounds of text, light and dark (static/css/base.css).
LIGHT, DARK = (238, 234, 224), (27, 31, 29)
LIGHT_CARD, DARK_CARD = (255, 253, 249), (27, 31, 29)
_MIDDLE = 0.18  # luminance: as far from black as from white

Color = tuple[int, int, int]
Settings = Mapping[str, Mapping[str, Any]]  # Any: a JSON value
# Where each parameter of the address comes from, and its default, which is left out.
_COLORS = {
    "accent": ("colorsSettings", "accentColor"),
    "text": ("colorsSettings", "textColor"),
    "ground": ("colorsSettings", "backgroundColor"),
    "border": ("cardSettings", "borderColor"),
}
_NUMBERS = {
    "blur": ("cardSettings", "blur", 0),
    "opacity": ("cardSettings", "opacity", 100),
    "radius": ("cardSettings", "borderRadius", 16),
}
_LIMITS = {"angle": (0, 360), "blur": (0, 40), "opacity": (70, 100), "radius": (0, 40), "width": (0, 8)}


def address(settings: Settings) -> str:
    """Return the address of the style sheet of these settings; empty where they set nothing."""
    colors = settings["colorsSettings"]
    asked = {name: settings[key][field].removeprefix("#") for name, (key, field) in _COLORS.items()}
    asked["accent"] = asked["accent"] or colors["primaryColor"].removeprefix("#")
    if colors["gradient"] and colors["primaryColor"] and colors["secondaryColor"]:
        asked["ground"] = colors["primaryColor"].removeprefix("#")
        asked["ground2"] = colors["secondaryColor"].removeprefix("#")
        asked["angle"] = _plain(colors["gradientAngle"])
    for name, (key, field, default) in _NUMBERS.items():
        asked[name] = _plain(settings[key][field]) if settings[key][field] != default else ""
    if settings["cardSettings"]["border"]:
        asked["width"] = _plain(settings["cardSettings"]["borderWidth"])
    else:
        asked["border"] = ""
    given = {name: value for name, value in asked.items() if value}
    return f"{reverse('profile_style')}?{urlencode({'v': VERSION, **given})}" if given else ""


def _plain(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def sheet(asked: Mapping[str, str]) -> str:
    """Return the style sheet that an address asks for; its invalid values are left out."""
    colors = {
        name: color for name in ("accent", "text", "ground", "ground2", "border") if (color := _color(name, asked))
    }
    numbers = {name: number for name in _LIMITS if (number := _number(name, asked)) is not None}
    root = [*_accent(colors.get("accent")), *_text(colors.get("text")), *_shapes(numbers, colors.get("border"))]
    rules = []
    if ground := colors.get("ground"):
        end = colors.get("ground2", ground)
        is_dark = (_luminance(ground) + _luminance(end)) / 2 < _MIDDLE
        root.append(f"color-scheme: only {'dark' if is_dark else 'light'}")
        angle = f"{numbers.get('angle', 180):g}deg"
        rules += [
            f"body {{ background: linear-gradient({angle}, {_hex(ground)}, {_hex(end)}) fixed; }}",
            ".site-header, .site-footer { background: color-mix(in srgb, var(--surface) 90%, transparent); }",
        ]
    lines = [f":root {{ {'; '.join(root)}; }}", *rules] if root else []
    return "@layer owner {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def _accent(accent: Color | None) -> list[str]:
    if accent is None:
        return []
    light, dark = _readable(accent, LIGHT), _readable(accent, DARK)
    return [
        f"--accent: {_pair(light, dark)}",
        f"--accent-strong: {_pair(_mixed(light, BLACK, 0.25), _mixed(dark, WHITE, 0.25))}",
        f"--accent-soft: {_pair(_mixed(LIGHT_CARD, accent, 0.12), _mixed(DARK_CARD, accent, 0.18))}",
        f"--glow: {_pair(_mixed(LIGHT_CARD, accent, 0.3), _mixed(DARK_CARD, accent, 0.25))}",
        f"--on-accent: {_pair(WHITE, BLACK)}",
    ]


def _text(text: Color | None) -> list[str]:
    if text is None:
        return []
    light, dark = _readable(text, LIGHT), _readable(text, DARK)
    soft_light = _readable(_mixed(light, LIGHT_CARD, 0.25), LIGHT)
    soft_dark = _readable(_mixed(dark, DARK_CARD, 0.25), DARK)
    return [f"--ink: {_pair(light, dark)}", f"--ink-soft: {_pair(soft_light, soft_dark)}"]


def _shapes(numbers: Mapping[str, float], border: Color | None) -> list[str]:
    units = {"opacity": "%", "blur": "px", "radius": "px", "width": "px"}
    said = [f"--card-{name}: {numbers[name]:g}{unit}" for name, unit in units.items() if name in numbers]
    return [*said, f"--card-border: {_hex(border)}"] if border else said


def _color(name: str, asked: Mapping[str, str]) -> Color | None:
    text = asked.get(name, "")
    if not _HEX.fullmatch(text):
        return None
    if len(text) == 3:
        text = "".join(digit * 2 for digit in text)
    return int(text[:2], 16), int(text[2:4], 16), int(text[4:6], 16)


def _number(name: str, asked: Mapping[str, str]) -> float | None:
    text = asked.get(name, "")
    least, most = _LIMITS[name]
    return min(max(float(text), least), most) if text.isascii() and _NUMBER.fullmatch(text) else None


def _readable(color: Color, ground: Color) -> Color:
    """Return the colour, or the nearest one on its way to black or white that can be read on the ground."""
    target = BLACK if _luminance(ground) > _MIDDLE else WHITE
    steps = (_mixed(color, target, step / 20) for step in range(21))
    return next((mixed for mixed in steps if contrast(mixed, ground) >= READABLE), target)


def contrast(first: Color, second: Color) -> float:
    """Return the contrast, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: Color) -> float:
    parts = (part / 255 for part in color)
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _mixed(first: Color, second: Color, share: float) -> Color:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def _hex(color: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


def _pair(light: Color, dark: Color) -> str:
    return f"light-dark({_hex(light)}, {_hex(dark)})"
