"""Our own pictures of statuses and badges: all there, light, readable on both grounds, different without color."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from PIL import Image, ImageChops, ImageStat

from lookup.shapes import svg
from presence.answer import presentation

READABLE = 3.0  # WCAG 2.2, 1.4.11: graphical objects
PROMISED = {
    *(f"status/{name}.png" for name in ("online", "idle", "dnd", "streaming", "offline")),
    *(f"badges/chat/{key}.svg" for key in presentation.BADGE_NAMES),
}


def file(path: str) -> Path:
    found = finders.find(path)
    assert isinstance(found, str)
    return Path(found)


def luminance(color: tuple[int, ...]) -> float:
    """WCAG 2.2, "relative luminance"."""
    red, green, blue = (
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in color[:3]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def rgb(hexadecimal: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(hexadecimal.removeprefix("#")))


def grounds() -> list[tuple[int, ...]]:
    """What cards and pages lie on, in the light and in the dark theme."""
    tokens = file("css/base.css").read_text()
    found = [
        rgb(color)
        for name in ("paper", "surface")
        for color in re.findall(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", tokens)[0]
    ]
    assert len(found) == 4
    return found


def test_every_promised_picture_is_there_and_no_other() -> None:
    static = Path(settings.BASE_DIR) / "static"
    there = {path.relative_to(static).as_posix() for path in (*static.glob("status/*"), *static.glob("badges/chat/*"))}
    assert there == PROMISED
    assert {f"status/{name}.png" for name in presentation.STATUSES} < PROMISED


@pytest.mark.parametrize("name", presentation.STATUSES)
def test_a_status_picture_is_a_small_transparent_png(name: str) -> None:
    path = file(f"status/{name}.png")
    assert path.stat().st_size < 4096
    with Image.open(path) as picture:
        assert (picture.format, picture.mode, picture.size) == ("PNG", "RGBA", (64, 64))
        corners = [picture.getpixel((x, y)) for x in (0, 63) for y in (0, 63)]
        assert [corner[3] for corner in corners if isinstance(corner, tuple)] == [0, 0, 0, 0]
        colors = {color[:3] for _, color in picture.getcolors(4096) or [] if isinstance(color, tuple) and color[3]}
        assert all(contrast(color, ground) >= READABLE for color in colors for ground in grounds())


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(presentation.STATUSES, 2)))
def test_statuses_differ_in_shape_even_when_they_are_small(one: str, other: str) -> None:
    """Of the 12 by 12 pixels of their masks, more than a tenth on average."""
    masks = []
    for name in (one, other):
        with Image.open(file(f"status/{name}.png")) as picture:
            masks.append(picture.getchannel("A").resize((12, 12), Image.Resampling.BOX))
    assert ImageStat.Stat(ImageChops.difference(*masks)).mean[0] > 25.5


@pytest.mark.parametrize("key", presentation.BADGE_NAMES)
def test_a_badge_is_a_small_drawing_that_loads_nothing_and_is_seen_on_light_and_dark(key: str) -> None:
    text = file(f"badges/chat/{key}.svg").read_text()
    assert svg.svg_problems(text) == []
    assert len(text) < 1024
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">\n')
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    drawing = re.sub("<mask.*</mask>", "", text, flags=re.DOTALL)  # black and white are no colors in a mask
    colors = set(re.findall(r"(?:fill|stroke)=\"(?!none)([^\"]*)\"", drawing))
    assert colors
    assert all(contrast(rgb(color), ground) >= READABLE for color in colors for ground in grounds())
