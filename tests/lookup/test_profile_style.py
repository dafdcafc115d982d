"""The owner's colours: a style sheet that says nothing but colours and numbers, readable whatever was chosen."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from lookup.page import colors
from lookup.shapes import settings_schema
from tests.factories.accounts import UserFactory
from tests.lookup.profile_pages import change, page

STYLE = "//link[@rel='stylesheet'][contains(@href, '/profile/style.css')]/@href"
EMPTY = "@layer owner {\n}\n"


def sheet(**asked: str) -> str:
    return colors.sheet(asked)


def test_a_sheet_is_kept_by_browsers_for_ever() -> None:
    response = Client().get("/profile/style.css", {"radius": "3"})
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/css; charset=utf-8"
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response.content.decode() == sheet(radius="3")


@pytest.mark.django_db
def test_a_page_links_the_sheet_of_its_settings() -> None:
    change(UserFactory(username="ada"), settings={"colorsSettings": {"accentColor": "#Fa0"}})
    assert page("/ada").xpath(STYLE) == ["/profile/style.css?v=1&accent=Fa0"]
    assert page(f"/{UserFactory().username}").xpath(STYLE) == []


def asked_for(settings: dict[str, Any]) -> dict[str, str]:
    """The parameters of the address for a profile with these settings."""
    address = colors.address(settings_schema.filled(settings))
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {}),
        ({"cardSettings": {"borderColor": "#fff", "borderWidth": 3}}, {}),  # no border without its switch
        ({"colorsSettings": {"gradient": True, "secondaryColor": "#fff"}}, {}),  # one colour is no gradient
        ({"colorsSettings": {"accentColor": "#Fa0"}}, {"v": "1", "accent": "Fa0"}),
        ({"colorsSettings": {"primaryColor": "#112233"}}, {"v": "1", "accent": "112233"}),
        (
            {
                "colorsSettings": {
                    "primaryColor": "#000",
                    "secondaryColor": "#fff",
                    "gradient": True,
                    "gradientAngle": 4.5,
                },
                "cardSettings": {
                    "blur": 12,
                    "border": True,
                    "borderColor": "#abc",
                    "borderWidth": 2,
                    "borderRadius": 0,
                },
            },
            {"v": "1", "accent": "000", "ground": "000", "ground2": "fff", "angle": "4.5"}
            | {"border": "abc", "blur": "12", "radius": "0", "width": "2"},
        ),
    ],
)
def test_the_address_holds_what_differs_from_the_theme(settings: dict[str, Any], expected: dict[str, str]) -> None:
    assert asked_for(settings) == expected


def test_a_sheet_says_what_its_address_says() -> None:
    assert sheet(ground="000", ground2="220033", angle="45.5", radius="0", border="abc", width="2") == (
        "@layer owner {\n"
        "  :root { --card-radius: 0px; --card-width: 2px; --card-border: #aabbcc; color-scheme: only dark; }\n"
        "  body { background: linear-gradient(45.5deg, #000000, #220033) fixed; }\n"
        "  .site-header, .site-footer { background: color-mix(in srgb, var(--surface) 90%, transparent); }\n"
        "}\n"
    )
    assert "color-scheme: only light" in sheet(ground="fff")
    assert sheet() == EMPTY


@pytest.mark.parametrize(
    "asked",
    [
        {"accent": "fff;}body{display:none"},
        {"accent": "fff\n"},
        {"accent": "\u0661\u0661\u0661"},
        {"radius": "1px"},
        {"radius": "\u0661"},
        {"angle": "45"},
        {"ground2": "fff"},
        {"other": "</style><script>alert(1)</script>"},
    ],
)
def test_what_is_no_colour_and_no_number_is_left_out(asked: dict[str, str]) -> None:
    assert sheet(**asked) == EMPTY


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"opacity": "0"}, "--card-opacity: 70%"),
        ({"opacity": "100"}, "--card-opacity: 100%"),
        ({"blur": "999"}, "--card-blur: 40px"),
        ({"radius": "99.5"}, "--card-radius: 40px"),
        ({"width": "100"}, "--card-width: 8px"),
    ],
)
def test_numbers_stay_where_a_page_can_be_read(asked: dict[str, str], expected: str) -> None:
    assert f"{{ {expected}; }}" in sheet(**asked)


@pytest.mark.parametrize("chosen", ["000000", "ffffff", "00ff00", "0000ff", "808080"])
@pytest.mark.parametrize("part", ["accent", "text"])
def test_text_can_be_read_on_light_and_on_dark_whatever_was_chosen(part: str, chosen: str) -> None:
    names = {"accent": ("accent", "accent-strong"), "text": ("ink", "ink-soft")}[part]
    said = sheet(**{part: chosen})
    for name in names:
        light, dark = re.findall(rf"--{name}: light-dark\(#(\w+), #(\w+)\)", said)[0]
        assert colors.contrast(_rgb(light), colors.LIGHT) >= 4.5
        assert colors.contrast(_rgb(dark), colors.DARK) >= 4.5
        assert colors.contrast(_rgb(light), colors.WHITE) >= 4.5
        assert colors.contrast(_rgb(dark), colors.BLACK) >= 4.5


def _rgb(digits: str) -> tuple[int, int, int]:
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def test_a_readable_colour_stays_as_it_was_chosen() -> None:
    assert "--accent: light-dark(#1b5e4b," in sheet(accent="1b5e4b")
    assert "--ink: light-dark(#222222," in sheet(text="222222")
