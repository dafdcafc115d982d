"""The drawings of links without an icon."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from django.conf import settings
from django.test import Client

from lookup.page import icons
from tests.factories.accounts import UserFactory
from tests.factories.lookup import LinkFactory, main_profile, shown
from tests.pages.markup import page_of

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


def test_every_drawing_is_in_the_sprite_and_has_no_colour_of_its_own() -> None:
    root = ET.parse(SPRITE).getroot()  # noqa: S314 - ours
    drawn = {symbol.get("id") for symbol in root}
    assert drawn == {*icons._NAMES, icons.TEXT, icons.MAIL, icons.WEB}
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
