"""The owner's colors, shapes and fonts, as a style sheet of their own: the policy of the page knows no inline style.

The content of the sheet is in its address, so it needs no database, and browsers keep it for ever. Every value is
parsed into a number, a color or a name of ours, and written again from that. Text stays readable with every choice
(`lookup.page.palette`).
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from lookup.page import palette
from lookup.page.palette import Chosen, Color
from lookup.shapes import themes

VERSION = "2"  # to raise when values are written in another way
_HEX = re.compile(r"[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8}")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})?")

Settings = Mapping[str, Mapping[str, Any]]  # Any: a JSON value
# Where each parameter of the address comes from, and its default, which is left out.
_COLORS = {
    "accent": ("colorsSettings", "accentColor"),
    "second": ("colorsSettings", "secondaryColor"),
    "text": ("colorsSettings", "textColor"),
    "icon": ("colorsSettings", "iconColor"),
    "ground": ("colorsSettings", "backgroundColor"),
    "border": ("cardSettings", "borderColor"),
}
_NUMBERS = {
    "blur": ("cardSettings", "blur", 0),
    "opacity": ("cardSettings", "opacity", 100),
    "radius": ("cardSettings", "borderRadius", 16),
    "light": ("textSettings", "glowStrength", 0),
}
_LIMITS = {
    "blur": (0, 40),
    "opacity": (70, 100),
    "radius": (0, 40),
    "width": (0, 8),
    "angle": (0, 360),
    "light": (0, 100),
}
# Fonts that systems have, by the names that profiles give: the families, the size in rem and the height of a line.
FONTS = {
    "serif": (
        'ui-serif, Charter, "Iowan Old Style", "Palatino Linotype", Palatino, "Noto Serif", Georgia, serif',
        *(1.0625, 1.6),
    ),
    "didone": ('Didot, "Bodoni MT", "Noto Serif Display", "URW Palladio L", P052, Sylfaen, serif', 1.0625, 1.6),
    "slab": ('Rockwell, "Rockwell Nova", "Roboto Slab", "Sitka Small", "DejaVu Serif", serif', 1, 1.6),
    "mono": ("var(--font-code)", 0.9375, 1.6),
    "rounded": (
        'ui-rounded, "SF Pro Rounded", "Hiragino Maru Gothic ProN", Quicksand, Nunito, "Arial Rounded MT Bold", '
        "Calibri, sans-serif",
        *(1.0625, 1.55),
    ),
    "geometric": ('Avenir, Montserrat, Corbel, "URW Gothic", "Century Gothic", sans-serif', 1, 1.6),
    "humanist": ('Optima, Candara, Seravek, "Gill Sans Nova", Ubuntu, "Noto Sans", sans-serif', 1.0625, 1.6),
    "condensed": (
        '"Avenir Next Condensed", "Roboto Condensed", Bahnschrift, "Arial Narrow", "Liberation Sans Narrow", '
        '"DejaVu Sans Condensed", sans-serif',
        *(1.0625, 1.5),
    ),
    "handwriting": ('"Segoe Print", "Bradley Hand", Chilanka, "Comic Neue", casual, cursive', 1.0625, 1.6),
}
# Patterns of the background, by the names of effects: layers above the color of the page, in its own colors.
_FAINT = "color-mix(in srgb, var(--ink) {}%, transparent)"
_LIGHT = "radial-gradient(60rem 42rem at {}, color-mix(in srgb, var(--{}) 32%, transparent), transparent) fixed"
_STAR = "radial-gradient(circle at {}, {} {}px, transparent {}px) 0 0 / {} fixed"
EFFECTS = {
    "dots": [f"radial-gradient({_FAINT.format(13)} 1.5px, transparent 2px) 0 0 / 22px 22px fixed"],
    "glow": [_LIGHT.format("8% 0%", "accent"), _LIGHT.format("95% 85%", "ember")],
    "grid": [
        f"linear-gradient({_FAINT.format(9)} 1px, transparent 1px) 0 0 / 32px 32px fixed",
        f"linear-gradient(90deg, {_FAINT.format(9)} 1px, transparent 1px) 0 0 / 32px 32px fixed",
    ],
    "scanlines": [f"repeating-linear-gradient({_FAINT.format(6)} 0 1px, transparent 1px 4px) fixed"],
    "stars": [
        _STAR.format("31% 22%", _FAINT.format(85), 1, 1.8, "260px 230px"),
        _STAR.format("74% 61%", _FAINT.format(60), 1, 1.6, "190px 270px"),
        _STAR.format("12% 83%", _FAINT.format(45), 0.8, 1.4, "130px 170px"),
    ],
}


def parameters(settings: Settings, *, font: str = "", font_username: str = "") -> dict[str, str]:
    """Return what the address says of these settings and fonts; empty where they set nothing that a page shows."""
    colors = settings["colorsSettings"]
    asked = {name: settings[key][field].removeprefix("#") for name, (key, field) in _COLORS.items()}
    asked["accent"] = asked["accent"] or colors["primaryColor"].removeprefix("#")
    if colors["gradient"] and colors["primaryColor"] and colors["secondaryColor"]:
        asked["ground"] = colors["primaryColor"].removeprefix("#")
        asked["ground2"] = colors["secondaryColor"].removeprefix("#")
        asked["angle"] = _plain(colors["gradientAngle"])
        asked["second"] = ""  # it is the other end of the background
    for name, (key, field, default) in _NUMBERS.items():
        asked[name] = _plain(settings[key][field]) if settings[key][field] != default else ""
    if settings["cardSettings"]["border"]:
        asked["width"] = _plain(settings["cardSettings"]["borderWidth"])
    else:
        asked["border"] = ""
    effect = settings["backgroundSettings"]["effect"]
    asked |= {"effect": effect if effect in EFFECTS else ""}
    asked |= {"font": font if font in FONTS else "", "name": font_username if font_username in FONTS else ""}
    return {name: value for name, value in asked.items() if value}


def has_own(settings: Settings) -> bool:
    """Return whether these settings set the colors of a page."""
    names = ("accentColor", "primaryColor", "secondaryColor", "backgroundColor")
    return any(settings["colorsSettings"][name] for name in names)


def address(settings: Settings, *, font: str = "", font_username: str = "") -> str:
    """Return the address of the style sheet of these settings and fonts; empty where they set nothing."""
    given = parameters(settings, font=font, font_username=font_username)
    return f"{reverse('profile_style')}?{urlencode({'v': VERSION, **given})}" if given else ""


def _plain(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def sheet(asked: Mapping[str, str]) -> str:
    """Return the style sheet that an address asks for; its invalid values are left out."""
    root, background = _declarations(asked)
    rules = [f":root {{ {'; '.join(root)}; }}"] if root else []
    if background:
        rules += [
            f"body {{ background: {background}; }}",
            ".site-header, .site-footer { background: color-mix(in srgb, var(--surface) 90%, transparent); }",
        ]
    if font := FONTS.get(asked.get("font", "")):
        rules.append(f"body {{ line-height: {font[2]}; }}")
    if light := _number("light", asked):
        shadow = f"0 0 {light / 100:g}em color-mix(in srgb, var(--accent) 75%, transparent)"
        rules.append(f".identity-card__name, .section-card h2 {{ text-shadow: {shadow}; }}")
    return _layer(rules)


@functools.cache
def themes_sheet() -> str:
    """Return the style sheet of the miniatures of all themes: a class `theme-look--<name>` for each."""
    rules = []
    for name in themes.THEMES:
        plain = themes.plain(name)
        fonts = {column: plain[column] for column in themes.COLUMNS}
        root, background = _declarations(parameters(plain["settings"], **fonts))
        if background:
            root.append(f"background: {background.replace(' fixed', '')}")
        if root:
            rules.append(f".theme-look--{name} {{ {'; '.join(root)}; }}")
    return _layer(rules)


@functools.cache
def themes_address() -> str:
    """Return the address of `themes_sheet`, which changes with its content."""
    digest = hashlib.blake2b(themes_sheet().encode(), digest_size=6).hexdigest()
    return f"{reverse('profile_themes_style')}?{urlencode({'v': digest})}"


def _layer(rules: list[str]) -> str:
    return "@layer owner {\n" + "".join(f"  {rule}\n" for rule in rules) + "}\n"


def _declarations(asked: Mapping[str, str]) -> tuple[list[str], str]:
    """Return custom properties and the scheme, and the background of the page, empty for that of every page."""
    numbers = {name: number for name in _LIMITS if (number := _number(name, asked)) is not None}
    chosen = chosen_of(asked)
    grounds = chosen.grounds
    root = palette.written(chosen.tokens())
    units = {"opacity": "%", "blur": "px", "radius": "px", "width": "px"}
    root += [f"--card-{name}: {numbers[name]:g}{unit}" for name, unit in units.items() if name in numbers]
    root += [f"--card-border: {palette.hexadecimal(border)}"] if (border := _color("border", asked)) else []
    if font := FONTS.get(asked.get("font", "")):
        root += [f"--font-text: {font[0]}", f"--font-display: {font[0]}", f"--text-m: {font[1]}rem"]
    if name := FONTS.get(asked.get("name", "")):
        root.append(f"--font-name: {name[0]}")
    layers = list(EFFECTS.get(asked.get("effect", ""), ()))
    if grounds:
        root.append(f"color-scheme: only {'dark' if chosen.is_dark else 'light'}")
        ends = ", ".join(palette.hexadecimal(one) for one in grounds)
        layers.append(f"linear-gradient({numbers.get('angle', 180):g}deg, {ends}) fixed")
    elif layers:
        layers.append("var(--paper)")
    return root, ", ".join(layers)


def chosen_of(asked: Mapping[str, str]) -> Chosen:
    """Return the colors that `parameters`, or an address made of them, name."""
    ground = _color("ground", asked)
    grounds = (ground, _color("ground2", asked) or ground) if ground else ()
    inks = {name: _color(name, asked) for name in ("accent", "second", "text", "icon")}
    opacity = _number("opacity", asked)
    return Chosen(**inks, grounds=grounds, opacity=1.0 if opacity is None else opacity / 100)


def _color(name: str, asked: Mapping[str, str]) -> Color | None:
    text = asked.get(name, "")
    if not _HEX.fullmatch(text):
        return None
    return palette.color("".join(digit * 2 for digit in text) if len(text) == 3 else text)


def _number(name: str, asked: Mapping[str, str]) -> float | None:
    text = asked.get(name, "")
    least, most = _LIMITS[name]
    return min(max(float(text), least), most) if text.isascii() and _NUMBER.fullmatch(text) else None
