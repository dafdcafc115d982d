"""The form of a link: title and platform follow from the address, unless the owner writes others."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from lookup.models import Link, Profile
from tests.dashboard.profile.editor import ROOT, Editor
from tests.factories.lookup import SVG, LinkFactory
from tests.lookup import statements

LINKS = f"{ROOT}/links/"
GITHUB = {"title": "@ada on GitHub", "platform_id": "github", "platform_type": "profile"}
MASTODON = {"title": "@ada on Mastodon", "platform_id": "mastodon", "platform_type": "profile"}
NOTHING = {"title": "", "platform_id": "", "platform_type": ""}
OWN = {"title": "My code", "platform_id": "forge", "platform_type": "page"}


def columns(link: Link) -> dict[str, str]:
    link.refresh_from_db()
    return {name: getattr(link, name) for name in NOTHING}


@pytest.mark.parametrize(
    ("typed", "saved", "said"),
    [
        ({"url": "github.com/ada"}, GITHUB, "@ada on GitHub: added. Taken from the address: title, platform, type."),
        ({"url": "https://github.com/ada", **OWN}, OWN, "My code: added."),
        (
            {"url": "github.com/ada", "title": "My code"},
            GITHUB | {"title": "My code"},
            "My code: added. Taken from the address: platform, type.",
        ),
        ({"url": "https://lamps.example/"}, NOTHING, "https://lamps.example/: added."),
        ({"url": "https://github.com.lamps.example/ada"}, NOTHING, "https://github.com.lamps.example/ada: added."),
        ({"url": "ada@github.com"}, NOTHING, "mailto:ada@github.com: added."),
        ({"url": "github.com/ada", "is_text": "True"}, NOTHING, "github.com/ada: added."),
        ({"url": "ada#1843", "is_text": "True", "title": "Play"}, NOTHING | {"title": "Play"}, "Play: added."),
    ],
)
def test_a_new_link_takes_from_its_address_what_was_left_empty(
    typed: dict[str, str], saved: dict[str, str], said: str, editor: Editor, profile: Profile
) -> None:
    editor.fill(f"{LINKS}add/", **typed)
    assert columns(profile.links.get()) == saved
    assert editor.page.xpath("//*[contains(@class, 'row__message')]/text()") == [said]


@pytest.mark.parametrize(
    ("stored", "typed", "saved"),
    [
        (GITHUB, {"url": "https://mastodon.social/@ada"}, MASTODON),
        (GITHUB, {"url": "https://lamps.example/"}, NOTHING),
        (GITHUB, {"is_text": "True"}, NOTHING),
        (OWN, {"url": "https://mastodon.social/@ada"}, OWN),
        (GITHUB | {"title": "Mine"}, {"url": "https://mastodon.social/@ada"}, MASTODON | {"title": "Mine"}),
        (GITHUB, {"url": "https://mastodon.social/@ada", "title": "Mine"}, MASTODON | {"title": "Mine"}),
        (GITHUB, NOTHING, NOTHING),  # with the same address, an emptied field stays empty
        (NOTHING, {"color": "#1b5e4b"}, NOTHING),
        (NOTHING, {"url": "https://github.com/Ada"}, GITHUB | {"title": "@Ada on GitHub"}),
    ],
)
def test_what_followed_from_the_address_follows_a_new_one_and_own_words_stay(
    stored: dict[str, str], typed: dict[str, str], saved: dict[str, str], editor: Editor, profile: Profile
) -> None:
    link = LinkFactory.create(profile=profile, url="https://github.com/ada", **stored)
    editor.fill(f"{LINKS}{link.pk}/", **typed)
    assert columns(link) == saved


def test_the_form_begins_with_the_address(editor: Editor) -> None:
    form = editor.open(f"{LINKS}add/").page.xpath("//form[@data-address]")[0]
    names = [one.get("name") for one in form.xpath(".//*[@name][not(@type='hidden')]")]
    folded = [one.get("name") for one in form.xpath(".//details[not(@open)]//*[@name]")]
    assert list(dict.fromkeys(names)) == ["url", "is_text", "title", "is_own", *folded]
    assert folded == ["platform_id", "platform_type", "icon", "icon_svg", "color", "recolor"]


@pytest.mark.parametrize("address", ["mailto:ada@example.org", "AE-1843"])
def test_only_a_web_address_is_marked_as_an_own_page(address: str, editor: Editor, profile: Profile) -> None:
    editor.fill(f"{LINKS}add/", url="https://social.example/@ada", is_own=True)
    link = profile.links.get()
    assert (link.is_own, link.url) == (True, "https://social.example/@ada")
    editor.fill(f"{LINKS}{link.pk}/", url=address, is_text=str("@" not in address))
    assert "Only a web address can be marked as a page of yours." in editor.page.text_content()
    assert profile.links.get().url == "https://social.example/@ada"
    editor.fill(f"{LINKS}{link.pk}/", url=address, is_text=str("@" not in address), is_own=False)
    assert not profile.links.get().is_own


def test_a_link_is_not_marked_until_its_owner_does(editor: Editor, profile: Profile) -> None:
    editor.fill(f"{LINKS}add/", url="https://social.example/@ada")
    assert not profile.links.get().is_own


@pytest.mark.parametrize(
    ("stored", "is_open"),
    [
        (GITHUB, False),
        (GITHUB | {"title": "Mine"}, False),
        (NOTHING, False),
        (GITHUB | {"platform_id": "forge"}, True),
        (GITHUB | {"icon_svg": SVG}, True),
        (GITHUB | {"color": "#1b5e4b"}, True),
        (GITHUB | {"recolor": True}, True),
    ],
)
def test_more_is_open_where_it_says_something_else_than_the_address(
    stored: dict[str, Any], is_open: bool, editor: Editor, profile: Profile
) -> None:
    link = LinkFactory.create(profile=profile, url="https://github.com/ada", **stored)
    assert bool(editor.open(f"{LINKS}{link.pk}/").page.xpath("//details[@id='more'][@open]")) is is_open


def test_more_is_open_where_it_was_refused(editor: Editor) -> None:
    editor.fill(f"{LINKS}add/", url="github.com/ada", color="green")
    assert editor.page.xpath("//details[@id='more'][@open]//*[@class='errorlist']/li/text()") == [
        "Use a color such as #1b5e4b."
    ]
    assert not editor.fill(f"{LINKS}add/", url="ftp://github.com/").page.xpath("//details[@id='more'][@open]")


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ({"url": "github.com/ada"}, {"name": "GitHub", **GITHUB}),
        ({"url": " https://github.com/ada ", "is_text": "False"}, {"name": "GitHub", **GITHUB}),
        ({"url": "github.com/ada", "is_text": "True"}, {"name": "", **NOTHING}),
        ({"url": "github.com/" + "a" * 100_000}, {"name": "", **NOTHING}),
        ({}, {"name": "", **NOTHING}),
    ],
)
def test_the_script_reads_the_address_with_the_same_table(
    typed: dict[str, str], answer: dict[str, str], signed_in: Client
) -> None:
    assert signed_in.post(f"{LINKS}address/", typed).json() == answer


@pytest.mark.embedded
def test_only_its_owner_asks_what_an_address_says_and_it_reads_no_rows(signed_in: Client, profile: Profile) -> None:
    assert Client().post(f"{LINKS}address/", {"url": "github.com/ada"}).status_code == 302
    assert signed_in.get(f"{LINKS}address/").status_code == 405
    LinkFactory.create(profile=profile)
    ask = {"url": "github.com/ada"}
    assert len(statements.names(lambda: signed_in.post(f"{LINKS}address/", ask))) <= 3  # session, user, profile
