"""The buttons "Sign in with …": pictures that other sites use, and the page that shows them."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from django.test import Client
from lxml import etree
from pytest_django import Settings

from dashboard.client_apps import code_samples, sign_in_buttons
from dashboard.documentation import button_kit
from tests.pages.markup import page_of, problems_of

NAMES = [
    f"{variant}-{size}{icon}"
    for variant, size, icon in itertools.product(("light", "dark", "neutral"), (32, 40, 48), ("", "-icon"))
]
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "A&B <'\"`${x}\\%s>"


def drawn(client: Client, name: str) -> Any:
    response = client.get(f"/docs/sign-in/buttons/{name}.svg")
    assert response.status_code == 200, name
    return etree.fromstring(response.content)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_has_the_size_of_its_name_and_says_what_the_button_does(client: Client, name: str) -> None:
    root = drawn(client, name)
    height = re.findall(r"\d+", name)[0]
    assert (root.get("height"), root.get("role")) == (height, "img")
    assert root.get("aria-label") == "Sign in with Hearth"
    texts = root.findall(f"{SVG}text")
    if name.endswith("-icon"):
        assert (root.get("width"), texts) == (height, [])
    else:
        (text,) = texts
        assert text.text == "Sign in with Hearth"
        end = float(text.get("x")) + float(text.get("textLength"))
        assert 8 <= float(root.get("width")) - end <= 24


@pytest.mark.parametrize("name", NAMES)
def test_mark_and_text_are_in_the_middle_of_a_picture_with_the_same_space_on_both_sides(
    client: Client, name: str
) -> None:
    root = drawn(client, name)
    width, height = int(root.get("width")), int(root.get("height"))
    assert root.get("viewBox") == f"0 0 {width} {height}"
    rect, mark, text = (root.find(f"{SVG}{kind}") for kind in ("rect", "image", "text"))
    # The line is one unit wide: half of it would be cut off at the edge.
    assert [float(rect.get(side)) for side in ("x", "y", "width", "height")] == [0.5, 0.5, width - 1, height - 1]
    left, top, side = (int(mark.get(key)) for key in ("x", "y", "width"))
    assert (int(mark.get("height")), 2 * top + side) == (side, height)
    end = left + side
    if text is not None:
        assert 8 <= float(text.get("x")) - end <= 12
        assert float(text.get("y")) == pytest.approx(height / 2 + 0.36 * float(text.get("font-size")))
        end = int(text.get("x")) + int(text.get("textLength"))
    assert left == width - end


@pytest.mark.parametrize(
    ("text", "width"), [("Sign in", 278 * 3 + 667 + 611 * 3), ("é", 556), ("火", 1000), ("Ж", 640)]
)
def test_a_text_is_measured_by_its_letters(text: str, width: int) -> None:
    assert sign_in_buttons.measured(text) == width


def test_a_long_name_makes_a_wide_button(client: Client, settings: Settings) -> None:
    before = int(drawn(client, "light-40").get("width"))
    settings.SITE_NAME = "The Harbour Master's House"
    assert int(drawn(client, "light-40").get("width")) > before + 80


@pytest.mark.parametrize("name", ["light", "light-41", "pink-40", "light-40-text", "LIGHT-40"])
def test_another_variant_or_size_is_404(client: Client, name: str) -> None:
    assert client.get(f"/docs/sign-in/buttons/{name}.svg").status_code == 404


def test_a_picture_may_be_cached_and_used_by_any_site(client: Client) -> None:
    response = client.get("/docs/sign-in/buttons/dark-48.svg")
    assert response.headers["Content-Type"] == "image/svg+xml"
    assert response.headers["Cache-Control"] == "public, max-age=86400"
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert response.headers["Content-Security-Policy"] == "default-src 'none'; img-src data:; sandbox"
    assert "Vary" not in response.headers
    assert not response.cookies
    again = client.get("/docs/sign-in/buttons/dark-48.svg", headers={"If-None-Match": response.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["Cache-Control"] == "public, max-age=86400"
    assert client.post("/docs/sign-in/buttons/dark-48.svg").status_code == 405


def luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("variant", sign_in_buttons.VARIANTS)
def test_colours_contrast_as_the_rules_of_use_say(variant: str) -> None:
    colours = sign_in_buttons.VARIANTS[variant]
    assert contrast(colours.text, colours.ground) >= 13
    assert variant == "neutral" or contrast(colours.line, colours.ground) >= 3


def test_the_styles_have_the_colours_of_the_pictures() -> None:
    """Light is the base; the dark ones are there twice, once for the reader's theme."""
    found = re.findall(r"--sign-in-(ground|line|text): (#\w+);", button_kit.STYLES.read_text())
    variants = sign_in_buttons.VARIANTS
    light, dark = ([each.ground, each.line, each.text] for each in (variants["light"], variants["dark"]))
    neutral = [variants["neutral"].ground, variants["neutral"].line]
    assert [colour for _, colour in found] == [*light, *dark, *neutral, *dark]


def test_the_page_shows_each_picture_with_its_html(client: Client, settings: Settings) -> None:
    response = client.get("/docs/sign-in/buttons")
    assert problems_of(response) == []
    page = page_of(response)
    paths = [f"/docs/sign-in/buttons/{name}.svg" for name in NAMES]
    assert sorted(page.xpath("//fieldset//img/@src")) == sorted(paths)
    assert set(page.xpath("//fieldset//img/@alt")) == {"Sign in with Hearth"}
    assert sorted(page.xpath("//a[@download]/@href")) == sorted(paths)
    codes = [code.text_content() for code in page.xpath("//fieldset//pre/code")]
    assert all(f"{settings.BASE_URL}{path}" in "".join(codes) for path in paths)
    assert '<a href="/login"><img src="http' in codes[0]
    assert 'alt="Sign in with Hearth" width="' in codes[0]


def test_the_page_shows_the_styles_that_it_uses(client: Client) -> None:
    page = page_of(client.get("/docs/sign-in/buttons"))
    assert button_kit.STYLES.read_text().rstrip() in [code.text_content() for code in page.xpath("//pre/code")]
    assert any("css/sign_in_button" in href for href in page.xpath("//link/@href"))
    buttons = page.xpath("//button[contains(@class, 'sign-in-with')]")
    assert {button.text_content() for button in buttons} == {"Sign in with Hearth"}
    assert len([button for button in buttons if button.get("disabled") is not None]) == 3


def test_a_name_with_special_characters_breaks_neither_pictures_nor_programs(
    client: Client, settings: Settings
) -> None:
    settings.SITE_NAME = HOSTILE
    assert drawn(client, "light-32").get("aria-label") == f"Sign in with {HOSTILE}"
    html = sign_in_buttons.sample()
    assert [character for character in "'`$\\%{}" if character in html] == []
    assert f"home = `{html}`" in code_samples.open_code(
        next(s for s in code_samples.STACKS if s.name == "openid-client")
    )
