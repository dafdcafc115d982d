"""Hostile values in a profile: its page runs no script, loads nothing from other origins and does not fail; its style
sheet and the drawings of its links.

The rows are written past every check, as an import or an earlier release may have left them.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as ET

import pytest
from django.conf import settings
from django.test import Client

from lookup import models
from lookup.page import colors, icons, palette, presenters, url_policy
from lookup.shapes import platforms, settings_schema, themes
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.factories.lookup import LinkFactory, main_profile, shown
from tests.lookup.profile_pages import change, filled, page
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

MARKUP = [
    "\"'><svg/onload=alert(1)>",
    "</title></style></script>{{7|add:7}}",
    "<!-- ]]> {% debug %}",
    "\u200fgnp.exe\u200b\ufeff \U0001d56c\U0001f469\u200d\U0001f467 \u05e2\u05d1 \u0e01\u0e47\u0e47",
]
# Texts that people write, by model: every column of each that a page shows.
WRITTEN: list[tuple[type[Any], tuple[str, ...]]] = [
    (models.Profile, ("display_name", "description", "location")),
    (models.BadgeTier, ("title", "description")),
    (models.CustomBadge, ("name",)),
    (models.Link, ("title", "platform_type")),
    (models.Project, ("title", "description")),
    (models.Audio, ("title", "artist")),
    (models.Section, ("title", "description")),
    (models.GalleryItem, ("caption",)),
    (models.Widget, ("platform", "identifier")),
    (models.Game, ("name",)),
    (models.Anime, ("title", "format")),
    (models.MediaTitle, ("title", "media_type")),
    (models.MusicItem, ("title", "artist", "album")),
    (models.Comment, ("content",)),
]


@pytest.mark.parametrize("markup", MARKUP)
def test_markup_in_any_text_is_text(markup: str) -> None:
    ada = filled(
        settings={
            "typewriterSettings": {"enabled": True, "descriptions": [markup]},
            "metadataSettings": {"title": markup[:64], "description": markup},
        }
    )
    for model, columns in WRITTEN:
        model.objects.update(**dict.fromkeys(columns, markup[:32]))
    models.Project.objects.update(tags=[markup])
    models.Link.objects.filter(is_text=True).update(url=markup)
    for section in models.Section.objects.filter(type__in=["ABOUT_ME", "CUSTOM_TEXT"]):
        section.config["content"] = markup
        if section.type == "ABOUT_ME":
            section.config["skills"]["core"] = [markup]
            section.config["skills"]["custom"][0]["label"] = markup
        section.save()
    type(ada).objects.update(display_name=markup[:64])
    make.shown(ada)

    response = Client().get("/ada")
    assert response.status_code == 200
    assert problems_of(response) == []
    found = page_of(response)
    data, *scripts = found.xpath("//script")
    assert data.get("type") == "application/ld+json"  # which browsers do not run
    assert json.loads(data.text)["mainEntity"]["name"] == markup[:32]
    assert [(script.get("src"), script.text) for script in scripts] == [
        ("/static/js/copy.js", None),
        ("/static/js/field-errors.js", None),
    ]
    assert found.xpath("//h1/span[1]")[0].text_content() == markup[:32]
    assert found.xpath("//ul[@class='identity-card__lines']/li")[0].text_content() == markup
    assert found.xpath("//code[contains(@class, 'copy-text')]")[0].text_content() == markup
    assert found.xpath("//meta[@property='og:description']/@content") == [" ".join(markup.split())]


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "//evil.example/",
        "\\\\evil.example\\",
        "/relative",
        "#fragment",
        "http://",
        "https:evil.example",
        "http://[",
        "https://x.example/\r\nSet-Cookie: a=b",
        "https://good.example\\@evil.example/",
        "mailto:",
        "",
    ],
)
def test_an_address_that_no_browser_should_follow_is_none(address: str) -> None:
    assert url_policy.outside(address, url_policy.LINKS) == ""


def test_a_link_that_no_browser_should_follow_is_not_shown() -> None:
    ada = UserFactory(username="ada")
    link = make.LinkFactory(profile=make.main_profile(ada), url="javascript:alert(1)")
    make.ProjectFactory(profile=make.main_profile(ada), title="A project", url="mailto:ada@example.org")
    make.shown(ada)
    found = page("/ada")
    assert found.xpath("//main//ul[@aria-label='Links']") == []
    assert found.xpath("//h3//a") == []
    assert Client().get(f"/ada/links/{link.pk}").status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        "https://tracker.example/pixel.gif",
        "//tracker.example/pixel.gif",
        "data:image/svg+xml,<svg onload=alert(1)>",
        "http://127.0.0.1:8000/accounts/logout/",
        "http://127.0.0.1:8000/static/../accounts/logout/",
        "http://127.0.0.1:8000/static/%2e%2e/accounts",
        "http://127.0.0.1:8000/static.evil.example/x.png",
        "http://127.0.0.1:8000/static/a.png?b=c#d",
        'http://127.0.0.1:8000/static/"onerror="alert(1)',
        "/static/a.png",
        "",
    ],
)
def test_a_picture_from_elsewhere_is_none(address: str) -> None:
    assert url_policy.own(address) == ""


def test_a_catalogue_picture_from_elsewhere_is_a_placeholder() -> None:
    ada = UserFactory(username="ada")
    addresses = ("https://tracker.example/pixel.gif", "http://127.0.0.1:8000/static/a.png")
    games = [make.GameFactory(name="Game", image=address) for address in addresses]
    make.SectionFactory(profile=make.main_profile(ada), type="GAMES", config={"gameIds": [game.pk for game in games]})
    make.shown(ada)
    assert page("/ada").xpath("//main//section//img/@src") == ["/static/a.png"]


@pytest.mark.parametrize("mime", ["text/html", "image", "", "IMAGE/PNG", "video/mp4"])
def test_an_avatar_that_is_no_picture_is_an_initial(mime: str) -> None:
    url = "http://127.0.0.1:8000/uploads/a.png"
    asset = {"url": url, "mime": "image/png", "width": None, "height": None}
    assert presenters.avatar(asset, "0" * 32) == "/uploads/a.png"
    assert presenters.avatar({**asset, "mime": mime}, "0" * 32) == ""


UNSAFE = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'


def test_an_icon_is_a_picture_and_never_part_of_the_page() -> None:
    ada = UserFactory(username="ada")
    make.LinkFactory(profile=make.main_profile(ada), icon_svg=make.SVG)
    make.CustomBadgeFactory(profile=make.main_profile(ada), icon_svg=UNSAFE)
    make.shown(ada)
    found = page("/ada")
    assert found.xpath("//main//svg") == []
    (source,) = found.xpath("//main//img/@src")
    assert drawn(source) == (
        '<svg viewBox="0 0 8 8" xmlns="http://www.w3.org/2000/svg" color="#6d7d75" fill="#6d7d75">'
        '<path d="M0 0h8v8z" /></svg>'
    )


@pytest.mark.parametrize(
    ("svg", "expected"),
    [
        ('<svg fill="none" color="red"/>', '<svg fill="none" color="red" xmlns="http://www.w3.org/2000/svg" />'),
        (
            '<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:g/></s:svg>',
            '<svg xmlns="http://www.w3.org/2000/svg" color="#abcdef" fill="#abcdef"><g /></svg>',
        ),
        (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink"><g id="a"/>'
            '<use x:href="#a"/></svg>',
            '<svg xmlns="http://www.w3.org/2000/svg" color="#abcdef" fill="#abcdef"><g id="a" />'
            '<use href="#a" /></svg>',
        ),
    ],
)
def test_an_icon_is_written_so_that_every_browser_draws_it(svg: str, expected: str) -> None:
    assert drawn(icons.picture(svg, "#abcdef")) == expected


def drawn(source: str) -> str:
    kind, _, data = source.partition(";base64,")
    assert kind == "data:image/svg+xml"
    return base64.b64decode(data).decode()


SPRITE = Path(settings.BASE_DIR, "static", "img", "platforms.svg")


@pytest.mark.parametrize(
    ("platform", "host", "drawing"),
    [
        ("", "lamps.example", "web"),
        ("", "me@lamps.example", "mail"),
        ("", "", "text"),
        ("steam", "", "game"),
        (" Apple Music", "lamps.example", "music"),
        ("mastodon", "github.com", "people"),  # the named platform wins
        ("lamps", "gist.GitHub.com", "code"),
        ("", "x.com", "people"),
        ("", "x.example", "web"),
        ("", "lamps.music", "web"),  # the last label is no platform
        ("", "localhost", "web"),
    ],
)
def test_the_platform_decides_then_the_host(platform: str, host: str, drawing: str) -> None:
    assert icons.drawing(platform, host) == drawing


def test_every_drawing_is_in_the_sprite_and_has_no_color_of_its_own() -> None:
    root = ET.parse(SPRITE).getroot()  # noqa: S314 - ours
    drawn = {symbol.get("id") for symbol in root}
    assert drawn == {*platforms._WORDS.values(), icons.TEXT, icons.MAIL, icons.WEB}
    assert not any(name in SPRITE.read_text() for name in ("style", "fill", "stroke"))


@pytest.mark.django_db
def test_a_link_with_an_icon_shows_it_and_one_without_shows_the_drawing() -> None:
    user = UserFactory(username="Ada")
    LinkFactory(profile=main_profile(user), url="https://music.example/ada", platform_id="")
    LinkFactory(profile=main_profile(user), icon_svg='<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h8"/></svg>')
    shown(user)
    links = page_of(Client().get("/Ada")).xpath("//*[@class='link-card__icon']")
    found = [link.xpath(".//use/@href") or link.xpath("./img/@src") for link in links]
    assert [href.partition("#")[2] or href.partition(":")[0] for (href,) in found] == ["music", "data"]


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
    assert page("/ada").xpath(STYLE) == ["/profile/style.css?v=2&accent=Fa0"]
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
        (
            {"colorsSettings": {"gradient": True, "secondaryColor": "#fff"}},
            {"v": "2", "second": "fff"},
        ),
        ({"colorsSettings": {"accentColor": "#Fa0"}}, {"v": "2", "accent": "Fa0"}),
        ({"colorsSettings": {"primaryColor": "#112233"}}, {"v": "2", "accent": "112233"}),
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
            {"v": "2", "accent": "000", "ground": "000", "ground2": "fff", "angle": "4.5"}
            | {"border": "abc", "blur": "12", "radius": "0", "width": "2"},
        ),
    ],
)
def test_the_address_holds_what_differs_from_the_theme(settings: dict[str, Any], expected: dict[str, str]) -> None:
    assert asked_for(settings) == expected


def test_the_address_names_fonts_and_effects_that_our_page_has() -> None:
    settings = settings_schema.filled({"backgroundSettings": {"effect": "stars"}})
    assert "effect=stars&font=mono&name=slab" in colors.address(settings, font="mono", font_username="slab")
    settings["backgroundSettings"]["effect"] = "snow"
    assert colors.address(settings, font="Inter", font_username="<b>") == ""


def test_a_sheet_says_what_its_address_says() -> None:
    said = sheet(
        ground="000", ground2="220033", angle="45.5", radius="0", border="abc", width="2", font="mono", light="40"
    )
    root, *rules = said.splitlines()[1:-1]
    for declaration in (
        *("--card-radius: 0px", "--card-width: 2px", "--card-border: #aabbcc", "color-scheme: only dark"),
        *("--font-text: var(--font-code)", "--text-m: 0.9375rem"),
    ):
        assert f"; {declaration};" in root
    assert rules == [
        "  body { background: linear-gradient(45.5deg, #000000, #220033) fixed; }",
        "  .site-header, .site-footer { background: color-mix(in srgb, var(--surface) 90%, transparent); }",
        "  body { line-height: 1.6; }",
        "  .identity-card__name, .section-card h2 "
        "{ text-shadow: 0 0 0.4em color-mix(in srgb, var(--accent) 75%, transparent); }",
    ]
    assert "color-scheme: only light" in sheet(ground="fff")
    assert "body { background: radial-gradient(" in sheet(effect="dots")
    assert ", var(--paper); }" in sheet(effect="dots"), "light and dark, as the reader has it"
    assert sheet() == EMPTY


def test_the_sheet_of_the_themes_is_kept_for_ever_under_its_digest() -> None:
    address = colors.themes_address()
    response = Client().get(address)
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response.content.decode() == colors.themes_sheet()
    assert len(response.content) < 30_000
    drawn = re.findall(r"\.theme-look--(\w+) \{", colors.themes_sheet())
    assert drawn == [name for name in themes.THEMES if name != themes.STARTER.name]


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
        {"effect": "snow"},
        {"font": "x;}body{display:none"},
        {"name": "Inter"},
        {"other": "</style><script>alert(1)</script>"},
    ],
)
def test_what_is_no_color_and_no_number_is_left_out(asked: dict[str, str]) -> None:
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
    assert f" {expected}; }}" in sheet(**asked)


@pytest.mark.parametrize("chosen", ["000000", "ffffff", "00ff00", "0000ff", "808080"])
@pytest.mark.parametrize("part", ["accent", "text"])
def test_text_can_be_read_on_light_and_on_dark_whatever_was_chosen(part: str, chosen: str) -> None:
    names = {"accent": ("accent", "accent-strong"), "text": ("ink", "ink-soft")}[part]
    said = sheet(**{part: chosen})
    for name in names:
        light, dark = re.findall(rf"--{name}: light-dark\(#(\w+), #(\w+)\)", said)[0]
        for ground in ("surface", "sunken"):
            on_light, on_dark = palette.STANDARD[ground]
            assert palette.contrast(_rgb(light), on_light) >= 4.5
            assert palette.contrast(_rgb(dark), on_dark) >= 4.5


def _rgb(digits: str) -> tuple[int, int, int]:
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def test_a_readable_color_stays_as_it_was_chosen() -> None:
    assert "--accent: light-dark(#1b5e4b," in sheet(accent="1b5e4b")
    assert "--ink: light-dark(#222222," in sheet(text="222222")
