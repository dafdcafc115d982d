"""Hostile values in a profile: its page runs no script, loads nothing from other origins and does not fail.

The rows are written past every check, as an import or an earlier release may have left them.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest
from django.test import Client

from lookup import models
from lookup.page import icons, presenters, url_policy
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.profile_pages import filled, page
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
    scripts = [(script.get("src"), script.text) for script in found.xpath("//script")]
    assert scripts == [("/static/js/copy.js", None), ("/static/js/field-errors.js", None)]
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
