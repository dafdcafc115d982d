"""The card of a profile for other sites: what it holds, who sees it, and what a hostile text can do to it."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import hypothesis
import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import example, given
from hypothesis import strategies as st

from accounts import bans
from accounts.models import User
from lookup.editing import aliases
from lookup.models import UserDocument
from lookup.page import svg_card
from lookup.page.svg_card import Contents, Line, Look
from lookup.shapes import settings_schema
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.profile_pages import change
from tests.pages.markup import page_of, problems_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]

SVG = "{http://www.w3.org/2000/svg}"
HEADERS = {
    "Cache-Control": "public, max-age=60",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
LOOKS = [Look(theme, size) for theme in svg_card.THEMES for size in svg_card.SIZES]
TAGS = {"svg", "title", "desc", "style", "rect", "circle", "text"}
ATTRIBUTES = set(
    "role font-family width height viewBox class fill x y rx stroke stroke-width cx cy r font-size font-weight "
    "text-anchor direction".split()
)
MAX_BYTES = 30_000


@pytest.fixture
def ada(operator: User) -> User:
    user = UserFactory(username="Ada", display_name="Ada L.")
    profile = change(user, display_name="Ada Lovelace", description="Poet of numbers\nand more", location="London")
    make.LinkFactory(profile=profile, url="https://notes.example/ada")
    make.CustomBadgeFactory(profile=profile, name="Engine")
    make.shown(user)
    UserDocument.objects.filter(pk=user.pk).update(views=1234)
    return user


def ask(query: str = "", name: str = "ada", **headers: str) -> Any:
    """The test client's response, which Django gives no public type."""
    return Client().get(f"/{name}/card.svg{query}", headers=headers)


def shown(svg: bytes) -> list[str]:
    """The lines of a card, from top to bottom, without the letter in the circle."""
    return [text.text or "" for text in _parsed(svg).iter(f"{SVG}text")][1:]


def _parsed(svg: bytes) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - ours


def is_harmless(svg: bytes) -> bool:
    """Whether a card holds only known elements and attributes, none of which names anything elsewhere."""
    root = _parsed(svg)
    styles = "".join(style.text or "" for style in root.iter(f"{SVG}style"))
    return (
        {element.tag.removeprefix(SVG) for element in root.iter()} <= TAGS
        and {name for element in root.iter() for name in element.attrib} <= ATTRIBUTES
        and not any(word in styles for word in ("url", "@import", "\\", "<"))
        and [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
        and len(svg) <= MAX_BYTES
    )


LINES = {
    "small": ["Ada Lovelace", "@Ada"],
    "medium": ["Ada Lovelace", "@Ada", "Poet of numbers", "1,234 views · 1 badge · 1 link", "London"],
}


@pytest.mark.parametrize("size", svg_card.SIZES)
def test_a_card_says_who_it_is_and_how_much_there_is_to_see(ada: User, size: str) -> None:
    response = ask(f"?size={size}")
    assert (response.status_code, response.headers["Content-Type"]) == (200, "image/svg+xml")
    assert {name: response.headers.get(name) for name in HEADERS} == HEADERS
    assert shown(response.content) == LINES.get(size, LINES["medium"])
    root = _parsed(response.content)
    assert root.findtext(f"{SVG}title") == f"Ada Lovelace on {settings.SITE_NAME}"
    assert root.findtext(f"{SVG}desc") == ". ".join(LINES["medium"])
    measures = svg_card.SIZES[size]
    assert (root.get("width"), root.get("height")) == (f"{measures.width}", f"{measures.height}")
    assert is_harmless(response.content)


def test_a_card_takes_one_query_and_reads_no_cookie(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    with CaptureQueriesContext(connection) as captured:
        response = client.get("/Ada/card.svg")
    assert (len(captured), response.status_code, response.cookies) == (1, 200, {})
    assert "Cookie" not in response.headers.get("Vary", "")
    Session.objects.all().delete()
    Client().get("/Ada/card.svg")
    assert not Session.objects.exists()


def test_a_card_counts_no_view(ada: User) -> None:
    before = ask().content
    assert [ask().content for _ in range(2)] == [before] * 2


def test_a_card_that_has_not_changed_is_304_and_a_changed_one_is_sent_again(ada: User) -> None:
    etag = ask().headers["ETag"]
    unchanged = ask(If_None_Match=etag)
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert (unchanged.headers["ETag"], unchanged.headers["Cache-Control"]) == (etag, "public, max-age=60")
    change(ada, description="Something else")
    assert ask(If_None_Match=etag).status_code == 200


@pytest.mark.parametrize(
    ("query", "alike"),
    [
        ("", "?theme=auto&size=medium"),
        ("?theme=pink&size=huge", ""),
        ("?theme=DARK", ""),
        ("?size=", ""),
        ("?theme=light&more=1", "?theme=light"),
        (f"?theme={'x' * 3000}", ""),
    ],
)
def test_a_value_that_is_not_known_is_the_default(ada: User, query: str, alike: str) -> None:
    assert ask(query).content == ask(alike).content


def test_themes_differ_and_only_auto_follows_the_reader(ada: User) -> None:
    found = {theme: ask(f"?theme={theme}").content for theme in svg_card.THEMES}
    assert len(set(found.values())) == 3
    assert [theme for theme, svg in found.items() if b"prefers-color-scheme" in svg] == ["auto"]


def test_a_card_has_the_colors_of_its_owner(ada: User) -> None:
    change(ada, settings={"colorsSettings": {"backgroundColor": "#203040"}})
    assert b'fill="#203040"' not in ask("?theme=light").content
    assert ask("?theme=dark").content != ask("?theme=light").content
    dark = ask("?theme=dark").content
    change(ada, settings={"colorsSettings": {"backgroundColor": "#402030"}})
    assert ask("?theme=dark").content != dark


@pytest.mark.parametrize(
    ("hidden", "gone"),
    [
        ({"viewsSettings": {"enabled": False}}, "1,234 views"),
        ({"linksSettings": {"enabled": False}}, "1 link"),
        ({"usernameSettings": {"enabled": False}}, "@Ada"),
    ],
)
def test_what_the_page_hides_the_card_hides(ada: User, hidden: dict[str, Any], gone: str) -> None:
    assert gone in ask().content.decode()
    change(ada, settings=hidden)
    assert gone not in ask().content.decode()


def test_unknown_private_and_banned_have_one_answer(ada: User) -> None:
    private, banned = UserFactory(username="private"), UserFactory(username="banned")
    User.objects.filter(pk=private.pk).update(public_api_access=False)
    bans.ban(user=banned, by=None, reason="x")
    answers = [ask(name=name) for name in ("private", "banned", "nobody")]
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, b"Not found.\n")}
    assert [{name: answer.headers.get(name) for name in HEADERS} for answer in answers] == [HEADERS] * 3
    assert len({tuple(sorted(set(answer.headers) - {"X-Request-ID"})) for answer in answers}) == 1


def test_an_alias_has_its_own_card_or_that_of_its_profile_or_leads_there(ada: User) -> None:
    aliases.add(user=ada, name="Mask", redirects=False, has_own_profile=True, by=ada)
    aliases.add(user=ada, name="Other", redirects=False, has_own_profile=False, by=ada)
    aliases.add(user=ada, name="Old", redirects=True, has_own_profile=False, by=ada)
    assert "@Mask" in shown(ask(name="mask").content)
    assert "@Ada" in shown(ask(name="Other").content)
    moved = ask("?theme=dark&size=huge&x=%0d%0a", name="Old")
    assert (moved.status_code, moved.headers["Location"]) == (302, "/Ada/card.svg?theme=dark")
    assert moved.headers["Cache-Control"] == "public, max-age=60"


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_a_card_is_only_read(ada: User, method: str) -> None:
    response = getattr(Client(enforce_csrf_checks=True), method)("/Ada/card.svg")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


# --- The page that offers them ---


def test_the_share_page_shows_the_card_and_its_codes(ada: User) -> None:
    with CaptureQueriesContext(connection) as captured:
        response = Client().get("/Ada/share?theme=dark&size=small")
    assert (len(captured), problems_of(response)) == (1, [])
    page = page_of(response)
    assert page.xpath("//img[@class='embed-card']/@src") == ["/Ada/card.svg?theme=dark&size=small"]
    picture, at = f"{settings.BASE_URL}/Ada/card.svg?theme=dark&size=small", f"{settings.BASE_URL}/Ada"
    alt = "Profile card of Ada Lovelace"
    codes = {field.get("id").removeprefix("copy-profile_card-"): field.get("value") for field in page.xpath("//input")}
    assert codes.pop("copy-oembed").startswith(f"{settings.BASE_URL}/oembed?url=")
    html = f'<a href="{at}"><img src="{picture.replace("&", "&amp;")}" alt="{alt}" width="320" height="72"></a>'
    assert codes == {
        "direct": picture,
        "markdown": f"[![{alt}]({picture})]({at})",
        "html": html,
        "bbcode": f"[url={at}][img]{picture}[/img][/url]",
    }


# --- Hostile texts ---

HOSTILE = '</text><script>alert(1)</script>]]><a href="https://evil.example">&amp;" \x00\x08\ud800\ufffe\u202e\u2066'
WIDE = "W" * 500
texts = st.text(max_size=600) | st.text(st.characters(min_codepoint=0x300, max_codepoint=0x36F), max_size=600)


def card_of(text: str, look: Look) -> bytes:
    lines = (Line(text, is_wrapped=True), *(Line(text, "ink-soft") for _ in range(5)))
    plain = settings_schema.filled({})
    return svg_card.draw(Contents(text, text, Line(text), lines, plain, dot="online"), look)


@hypothesis.settings(derandomize=True, deadline=None, database=None)
@given(texts)
@example(HOSTILE)
@example(WIDE)
@example("\U0001f469\U0001f3ff\u200d" * 200)
@example("&" * 500 + "\U0001f469" * 500)
@example("e" + "\u0301" * 600)
@example("אבג " * 200)
def test_any_text_makes_a_harmless_card(text: str) -> None:
    for look in LOOKS:
        assert is_harmless(card_of(text, look))


def test_a_text_that_goes_on_ends_with_an_ellipsis_within_its_width() -> None:
    for text in ("W" * 60, "漢" * 60, "i" * 200):
        cut = svg_card.cut(text, 20)
        assert cut.endswith("…")
        assert sum(svg_card._width(one) for one in svg_card.clusters(cut)) <= 20 + 0.75
    assert svg_card.cut("Ada", 20) == "Ada"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("e\u0301a", ["e\u0301", "a"]),
        ("\U0001f469\u200d\U0001f4bbx", ["\U0001f469\u200d\U0001f4bb", "x"]),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", ["\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"]),
        ("\U0001f44d\U0001f3fd!", ["\U0001f44d\U0001f3fd", "!"]),
        ("\u0301a", ["\u0301", "a"]),
    ],
)
def test_what_a_reader_takes_for_one_character_is_never_parted(text: str, parts: list[str]) -> None:
    assert list(svg_card.clusters(text)) == parts


def test_marks_are_bounded_and_overrides_and_controls_removed() -> None:
    assert svg_card.clean("a" + "\u0336" * 50) == "a" + "\u0336" * 4
    assert svg_card.clean("a\u202eb\u2066c\x07d\u200be\n f\ufeff") == "abcde f"
    assert len(svg_card.clean("x" * 5000)) == 300


def test_a_name_from_right_to_left_keeps_to_its_place(ada: User) -> None:
    change(ada, display_name="עדה")
    name = list(_parsed(ask().content).iter(f"{SVG}text"))[1]
    assert (name.get("direction"), name.get("text-anchor"), name.text) == ("rtl", "end", "עדה")
