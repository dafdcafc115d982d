"""The public profile page: its content, its visitors and the names that lead to it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from lookup.models import UserDocument
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.profile_pages import ADDRESS, UPLOADS, change, filled, page, text, texts
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

IS_INITIAL, IS_NAME = "contains(@class, 'initial')", "text() = '\u05d3\u05e0\u05d4'"


@pytest.fixture(scope="module")
def ada(module_db: None) -> User:
    """With something of everything; what a test changes is rolled back."""
    return filled()


def test_a_filled_page_keeps_the_rules_of_pages(ada: User) -> None:
    assert problems_of(Client().get("/ada")) == []


def test_an_empty_page_keeps_the_rules_of_pages() -> None:
    UserFactory(username="bare")
    assert problems_of(Client().get("/bare")) == []
    assert texts("/bare", "//main//h1") == ["bare"]
    assert texts("/bare", "//main//h2 | //main//dl") == []
    assert texts("/bare", "//main//a") == ["Sign in to vote or comment", "Share", "Report this profile"]


def test_the_card_says_who_it_is(ada: User) -> None:
    change(ada, settings={"typewriterSettings": {"enabled": True, "descriptions": ["One line", "Another"]}})
    header = page("/ada").xpath("//main//header")[0]
    assert text(header) == (
        "A Ada Lovelace Verified @Ada Premium Poet of numbers One line Another Known Engine "
        "like 1 Sign in to vote Share Location: London Member 0, since March 2024"
    )
    assert header.xpath(".//img/@src")[:3] == [
        f"{UPLOADS}/files/banner.png",
        f"{UPLOADS}/files/avatar.png",
        "/static/badges/standard/views-2.svg",  # of the highest tier that is unlocked
    ]
    assert header.xpath(".//li[contains(., 'Known')]/@title") == ["2 reached."]


def test_picture_and_handle_follow_the_direction_of_the_name() -> None:
    """The browser finds the first letter with a direction inside of the element; one below with `dir` is left out."""
    user = UserFactory(username="dana", display_name="\u05d3\u05e0\u05d4")
    make.CommentFactory(user=user, author=user, content="Hello")
    make.shown(user)
    for path, among in (("/dana", "//main//header"), ("/dana", "//main//ol"), ("/search?q=dana", "//main//ul")):
        shown = page(path)
        picture, name = (shown.xpath(f"{among}//*[{what}]") for what in (IS_INITIAL, IS_NAME))
        who = next(element for element in picture[0].iterancestors() if element.get("dir"))
        assert who.get("dir") == "auto"
        assert who == next(element for element in name[0].iterancestors() if element.get("dir"))
        assert text(who).startswith("\u05d3 \u05d3\u05e0\u05d4")
    assert page("/dana").xpath("string(//main//header//*[@dir='ltr'])") == "@dana"
    assert page("/search?q=dana").xpath("string(//main//bdi)") == "@dana"


def test_the_sections_stand_in_their_order_with_what_is_in_them(ada: User) -> None:
    assert texts("/ada", "//main//section") == [
        "About me First line. Second line. Languages French More Chess scrobbler: ada-listens",
        "Works B Bernoulli A program engine",
        "A word More than mortal.",
        "Pictures A picture",
        "Audio player ♪ Waltz The Looms music.example",
        "Games C Clockwork 2011 · ★ 4.5 · Metacritic 91",
        "Anime S Steam TV · 2004 · ★ 8",
        "Films and series E Engines Movie · 1999 · ★ 7.25",
        "On repeat N Nocturne Somebody · Evenings · Track",
        f"2 comments Sign in to comment G Guest1 {_today()} Hello 1 G Guest0 {_today()} Hello 0",
    ]


def _today() -> str:
    from django.utils import timezone

    return timezone.now().strftime("%-d %B %Y")


def test_sounds_and_pictures_are_loaded_by_the_browser_alone(ada: User) -> None:
    found = page("/ada")
    (audio,) = found.xpath("//audio")
    assert (audio.get("preload"), audio.get("controls")) == ("none", "")
    assert re.fullmatch(rf"{UPLOADS}/audio/\d+\.mp3", audio.get("src"))
    (item,) = found.xpath("//li[contains(@class, 'gallery__item--full')]//img")
    assert (item.get("src"), item.get("alt"), item.get("width")) == (f"{UPLOADS}/files/wide.png", "A picture", "640")
    assert found.xpath("//div[@class='backdrop']/img/@src") == [f"{UPLOADS}/files/background.png"]


def test_what_is_in_no_section_stands_behind_them() -> None:
    eve = UserFactory(username="Eve")
    profile = make.main_profile(eve)
    make.ProjectFactory(profile=profile, title="Lost project")
    make.GalleryItemFactory(profile=profile, section=None, caption="Lost picture")
    change(eve, settings={"commentsSettings": {"enabled": False}})
    assert texts("/eve", "//main//section") == ["Projects L Lost project", "Gallery Lost picture"]
    change(eve, settings={"projectsSettings": {"title": "What I made", "description": "By hand"}})
    assert texts("/eve", "//main//section[1]") == ["What I made By hand L Lost project"]


HIDDEN: list[tuple[dict[str, Any], str]] = [
    ({"linksSettings": {"enabled": False}}, "//ul[@aria-label='Links']"),
    ({"avatarSettings": {"enabled": False}}, "//header//div[contains(@class, 'portrait')]"),
    ({"usernameSettings": {"enabled": False}}, "//p[contains(@class, 'handle')]/span[starts-with(., '@')]"),
    ({"viewsSettings": {"enabled": False}}, "//dt[. = 'views']"),
    ({"feedbackSettings": {"enabled": False}}, "//dt[. = 'like' or . = 'likes' or . = 'dislikes']"),
    ({"commentsSettings": {"enabled": False}}, "//h2[contains(., 'comments')]"),
    ({"aboutMeSettings": {"enabled": False}}, "//p[contains(., 'First line')]"),
    ({"skillsSettings": {"enabled": False}}, "//dt[. = 'Languages']"),
]


def test_what_the_owner_turned_off_is_not_there(ada: User) -> None:
    UserDocument.objects.filter(user=ada).update(views=2)
    before = page("/ada")
    assert [path for _, path in HIDDEN if not before.xpath(path)] == []
    change(ada, settings={name: value for chosen, _ in HIDDEN for name, value in chosen.items()})
    after = page("/ada")
    assert [path for _, path in HIDDEN if after.xpath(path)] == []
    assert problems_of(Client().get("/ada")) == []


def test_a_mirrored_picture_may_come_from_the_chat_platform_and_nothing_else_may(ada: User) -> None:
    change(ada, settings={"avatarSettings": {"mirrorChat": True}})
    response = Client().get("/ada")
    assert page_of(response).xpath("//header//div[contains(@class, 'portrait')]/img/@src") == [
        f"/api/chat/avatar/{ada.pk}"
    ]
    chat = settings.CHAT_CDN_URL
    assert f"img-src 'self' data: {chat};" in response.headers["Content-Security-Policy"]
    change(ada, settings={"avatarSettings": {"mirrorChat": True, "enabled": False}})
    assert chat not in Client().get("/ada").headers["Content-Security-Policy"]


def test_a_commenter_who_mirrors_their_picture_is_shown_by_an_initial() -> None:
    eve, guest = UserFactory(username="eve"), UserFactory(username="ghost")
    change(guest, settings={"avatarSettings": {"mirrorChat": True}})
    make.CommentFactory(user=eve, author=guest)
    make.shown(eve)
    response = Client().get("/eve")
    assert page_of(response).xpath("//ol[@class='comments']//img") == []
    assert settings.CHAT_CDN_URL not in response.headers["Content-Security-Policy"]


def test_at_most_20_comments_are_shown_and_all_are_counted() -> None:
    eve, guest = UserFactory(username="eve"), UserFactory()
    for number in range(21):
        make.CommentFactory(user=eve, author=guest, is_pinned=number == 0)
    make.shown(eve)
    found = page("/eve")
    assert len(found.xpath("//ol[@class='comments']/li")) == 20
    assert text(found.get_element_by_id("comments")) == "21 comments"
    assert "Pinned" in text(found.xpath("//ol[@class='comments']/li[1]")[0])


# --- Names ---


@pytest.mark.parametrize("path", ["/nobody", "/banned", "/no.such-name_", "/x" + "x" * 31])
def test_an_unknown_name_and_a_banned_user_cannot_be_distinguished(path: str) -> None:
    User.objects.filter(pk=UserFactory(username="banned").pk).update(is_active=False)
    response, unknown = Client().get(path), Client().get("/some/where/else")
    assert response.status_code == unknown.status_code == 404
    assert response.content == unknown.content


def test_a_private_profile_says_so_and_nothing_else(ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(public_api_access=False)
    response = Client().get("/ada")
    assert (response.status_code, response.headers["Cache-Control"]) == (404, "private, no-cache")
    assert problems_of(response) == []
    assert text(page_of(response).xpath("//h1")[0]) == "This profile is private."
    assert b"noindex" in response.content
    for secret in (b"Ada", b"ada", b"Lovelace", b"London", b"files/"):
        assert secret not in response.content


def test_an_alias_redirects_or_shows_what_its_owner_chose(ada: User) -> None:
    make.AliasRowFactory(name__user=ada, name__name="Moved", redirects=True)
    make.AliasRowFactory(name__user=ada, name__name="Countess", redirects=False)
    own = make.ProfileFactory(user=ada, display_name="The other one")
    make.AliasRowFactory(name__user=ada, name__name="Other", redirects=False, profile=own)
    make.LinkFactory(profile=own, id="e" * 32)
    make.shown(ada)

    moved = Client().get("/MOVED")
    assert (moved.status_code, moved.headers["Location"]) == (302, "/Ada")
    assert moved.headers["Cache-Control"] == "private, no-cache"
    assert page("/countess").xpath("//h1/span[1]/text() | //link[@rel='canonical']/@href") == [
        f"{ADDRESS}/Ada",
        "Ada Lovelace",
    ]
    other = page("/other")
    assert other.xpath("//h1/span[1]/text() | //link[@rel='canonical']/@href") == [f"{ADDRESS}/Other", "The other one"]
    assert other.xpath("//ul[@aria-label='Links']//a/@href") == [f"/Other/links/{'e' * 32}"]
    assert text(other.xpath("//dl[@class='profile-figures']")[0]) == "like 1"
