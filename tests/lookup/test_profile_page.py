"""The public profile page: its content and names, what it tells machines, and what an answer costs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from lookup.models import UserDocument
from lookup.page import presenters
from lookup.page.presenters import Card
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
    assert "There is nothing on this page yet." in text(page("/bare").xpath("//main//header")[0])


STEPS = "//*[@aria-labelledby='first-steps']"


def test_the_owner_of_a_new_page_reads_what_to_add_first_and_visitors_do_not() -> None:
    bare = UserFactory(username="bare")
    own = Client()
    own.force_login(bare)
    response = own.get("/bare")
    assert problems_of(response) == []
    steps = page_of(response).xpath(f"{STEPS}//a")
    assert [(step.text.strip(), step.get("href")) for step in steps] == [
        ("Add a picture", "/dashboard/profile/media/"),
        ("Say something about yourself", "/dashboard/profile/"),
        ("Add a link", "/dashboard/profile/links/add/"),
        ("Pick a theme", "/dashboard/profile/theme/"),
    ]
    assert [own.get(step.get("href")).status_code for step in steps] == [200] * 4
    visitor = Client()
    visitor.force_login(UserFactory())
    assert page_of(visitor.get("/bare")).xpath(STEPS) == page("/bare").xpath(STEPS) == []


def test_first_steps_are_marked_as_done_and_go_with_the_second() -> None:
    bare = UserFactory(username="bare")
    own = Client()
    own.force_login(bare)
    make.LinkFactory(profile=make.main_profile(bare))
    make.shown(bare)
    response = own.get("/bare")
    assert problems_of(response) == []
    assert [text(step) for step in page_of(response).xpath(f"{STEPS}//li[not(a)]")] == ["Done: Add a link"]
    assert "There is nothing on this page yet." not in text(page_of(response))
    change(bare, description="By the lake")
    assert page_of(own.get("/bare")).xpath(STEPS) == []


def test_the_page_of_an_alias_has_no_first_steps() -> None:
    bare = UserFactory(username="bare")
    make.AliasRowFactory(name__user=bare, name__name="Ally", profile=make.ProfileFactory(user=bare), redirects=False)
    make.shown(bare)
    own = Client()
    own.force_login(bare)
    assert page_of(own.get("/ally")).xpath("//h1")
    assert page_of(own.get("/ally")).xpath(STEPS) == []


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
    shown_as = (("/dana", "//main//header", "rtl"), ("/dana", "//main//ol", "auto"), ("/search?q=dana", "//ul", "auto"))
    for path, among, direction in shown_as:
        shown = page(path)
        picture, name = (shown.xpath(f"{among}//*[{what}]") for what in (IS_INITIAL, IS_NAME))
        who = next(element for element in picture[0].iterancestors() if element.get("dir"))
        assert who.get("dir") == direction
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


def test_messengers_and_search_engines_get_whole_addresses(ada: User) -> None:
    head = {meta.get("property") or meta.get("name"): meta.get("content") for meta in page("/ADA").xpath("//meta")}
    assert page("/ADA").xpath("//link[@rel='canonical']/@href") == [f"{ADDRESS}/Ada"]
    banner = f"{ADDRESS}{UPLOADS}/files/banner.png"
    assert {name: value for name, value in head.items() if name not in {None, "viewport", "color-scheme"}} == {
        "description": "Poet of numbers",
        "og:type": "profile",
        "og:site_name": "Hearth",
        "og:title": "Ada Lovelace (@Ada)",
        "og:description": "Poet of numbers",
        "og:url": f"{ADDRESS}/Ada",
        "og:image": banner,
        "og:image:type": "image/png",
        "og:image:width": "640",
        "og:image:height": "480",
        "og:image:alt": "Ada Lovelace (@Ada)",
        "profile:username": "Ada",
        "twitter:card": "summary_large_image",
        "twitter:title": "Ada Lovelace (@Ada)",
        "twitter:description": "Poet of numbers",
        "twitter:image": banner,
        "twitter:image:alt": "Ada Lovelace (@Ada)",
    }


def test_the_owner_may_choose_title_summary_color_icon_and_picture() -> None:
    eve = UserFactory(username="eve")
    chosen = {"metadataSettings": {"title": "My own title", "description": "word " * 100, "color": "#123456"}}
    assets = {name: make.AssetFactory(owner=eve, path=f"files/{name}.png") for name in ("favicon", "card")}
    change(eve, settings=chosen, metadata_favicon=assets["favicon"], metadata_banner=assets["card"])
    found = page("/eve")
    assert found.findtext(".//title") == "My own title · Hearth"
    (summary,) = found.xpath("//meta[@name='description']/@content")
    assert (len(summary), summary[-5:]) == (200, "word…")
    assert found.xpath("//meta[@name='theme-color']/@content") == ["#123456"]
    assert found.xpath("//link[@rel='icon']/@href") == [f"{UPLOADS}/files/favicon.png"]
    assert found.xpath("//meta[@property='og:image']/@content") == [f"{ADDRESS}{UPLOADS}/files/card.png"]


@pytest.mark.parametrize(
    ("mime", "size", "card"),
    [
        ("image/jpeg", (1200, 400), Card(f"{ADDRESS}{UPLOADS}/files/1.x", "image/jpeg", 1200, 400)),
        ("image/gif", (None, None), Card(f"{ADDRESS}{UPLOADS}/files/1.x", "image/gif", None, None)),
        ("image/webp", (1200, 400), Card(f"{ADDRESS}/uploads/files/1.x/card.png", "image/png", 640, 213)),
        ("image/avif", (300, 640), Card(f"{ADDRESS}/uploads/files/1.x/card.png", "image/png", 300, 640)),
        ("image/webp", (None, None), Card(f"{ADDRESS}/uploads/files/1.x/card.png", "image/png", None, None)),
        ("image/svg+xml", (1200, 400), None),
        ("video/mp4", (1200, 400), None),
    ],
)
def test_messengers_get_a_picture_that_they_show(mime: str, size: tuple[int | None, ...], card: Card | None) -> None:
    asset = {"url": f"{ADDRESS}{UPLOADS}/files/1.x", "mime": mime, "width": size[0], "height": size[1]}
    assert presenters.card(asset) == card


def test_a_drawing_is_left_out_for_the_next_picture() -> None:
    eve = UserFactory(username="eve")
    drawing = make.AssetFactory(owner=eve, path="files/banner.svg", mime="image/svg+xml")
    change(eve, banner=drawing, avatar=make.AssetFactory(owner=eve, path="files/me.png"))
    found = page("/eve")
    assert found.xpath("//meta[@property='og:image']/@content") == [f"{ADDRESS}{UPLOADS}/files/me.png"]
    assert found.xpath("//meta[@name='twitter:card']/@content") == ["summary"]


# --- Headers and costs ---


def test_an_anonymous_visit_leaves_no_cookie_and_no_session(ada: User) -> None:
    client = Client(headers={"User-Agent": "A browser"})
    response = client.get("/ada")
    assert response.cookies == {}
    assert not Session.objects.exists()
    assert response.headers["Cache-Control"] == "private, no-cache"


def test_a_page_that_did_not_change_is_not_sent_again(ada: User) -> None:
    first = Client().get("/ada")
    again = Client().get("/ada", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    policy = "Content-Security-Policy"
    assert again.headers[policy] == first.headers[policy]  # a browser renews what it kept by these
    change(ada, description="Something else")
    assert Client().get("/ada", headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


@pytest.mark.parametrize("method", ["post", "delete", "options"])
def test_a_page_is_only_read(ada: User, method: str) -> None:
    response = getattr(Client(), method)("/ada")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


def test_other_origins_of_uploads_and_assets_are_let_in(ada: User, settings: Any) -> None:
    settings.UPLOAD_CDN_URL, settings.ASSET_URL = "https://cdn.example/u", "https://art.example"
    make.shown(ada)
    response = Client().get("/ada")
    policy = response.headers["Content-Security-Policy"]
    assert "img-src 'self' data: https://cdn.example https://art.example;" in policy
    assert policy.endswith("media-src 'self' https://cdn.example https://art.example")
    sources = page_of(response).xpath("//main//img/@src[not(starts-with(., 'data:'))]")
    assert {source.partition("/files/")[0] for source in sources} == {
        "https://cdn.example/u",
        "https://art.example/badges/standard/views-2.svg",
    }


def _statements(path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert Client().get(path).status_code == 200
    return len(captured)


@pytest.mark.embedded
def test_a_page_is_one_statement_and_its_comments_another(ada: User) -> None:
    """A robot's request: nothing is counted. 1: the user with the document. 2: the comments, where there are any."""
    assert _statements("/ada") == 2
    change(ada, settings={"commentsSettings": {"enabled": False}})
    assert _statements("/ada") == 1
    UserFactory(username="bare")
    assert _statements("/bare") == 1


def test_the_statements_do_not_grow_with_what_is_shown(ada: User) -> None:
    before = _statements("/ada")
    for number in range(3):
        make.LinkFactory(profile=make.main_profile(ada))
        make.CommentFactory(user=ada)
        make.SectionFactory(profile=make.main_profile(ada), config={"content": f"Text {number}"})
    make.shown(ada)
    assert _statements("/ada") == before


def test_a_member_gets_a_page_of_their_own_that_keeps_the_rules(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    response = client.get("/ada")
    assert problems_of(response) == []
    assert "Sign out" in page_of(response).text_content()
    assert "Cookie" in response.headers["Vary"]
    assert response.headers["Cache-Control"] == "private, no-cache, no-store"  # it has the token of a form


# --- Links ---
