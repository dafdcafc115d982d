"""Every page of the profile: its markup, its login, its tabs, its preview, and the checks before its form is read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern

from accounts.models import AuditEvent, User
from dashboard.profile import GROUPS, editing, kinds
from dashboard.profile import PAGES as PAGES_OF_THE_MENU
from dashboard.profile import urls as profile_urls
from dashboard.profile.editing import MAX_BODY
from dashboard.profile.kinds import KINDS
from lookup.documents import documents
from lookup.editing import profiles
from lookup.models import Profile, ProfileDocument
from tests.dashboard.profile.editor import filled, said
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AliasRowFactory, AssetFactory, LinkFactory, ProfileFactory, main_profile
from tests.lookup import answers, statements
from tests.pages.markup import page_of, problems_of

HOME = "/dashboard/profile/"
PAGES = ("", "appearance/", "appearance/cardSettings/reset/", "media/", "media/avatar/remove/", "privacy/", "transfer/")
OF_THE_USER = (
    *("privacy/", "transfer/", "transfer/export/", "transfer/check/", "transfer/import/"),
    *("transfer/links/check/", "transfer/links/add/"),
)
ALL = (*PAGES, *OF_THE_USER[2:], "preview/", "preview/saved/", "appearance/preview/", "media/mirror/", "media/avatar/")


@pytest.fixture
def with_picture(user: User, profile: Profile) -> None:
    profiles.change(profile=profile, values={"avatar": AssetFactory(owner=user)}, by=user)


def test_the_pages_are_well_made_and_a_get_changes_nothing(signed_in: Client, with_picture: None) -> None:
    before = list(Profile.objects.values()), list(User.objects.values("public_api_access"))
    audits = AuditEvent.objects.count()
    for page in ALL:
        response = signed_in.get(f"{HOME}{page}")
        if page not in PAGES:
            continue
        assert response.status_code == 200
        assert problems_of(response) == []
        titles = page_of(response).xpath("//main//*[self::h1 or self::h2 or self::h3]")
        assert all(below <= above + 1 for above, below in pairwise(int(title.tag[1]) for title in titles))
        here = page_of(response).xpath("//nav[@aria-label='Profile']//a[@aria-current='page']/@href")
        assert here == ([f"{HOME}{page}"] if page.count("/") < 2 else [])
    assert (list(Profile.objects.values()), list(User.objects.values("public_api_access"))) == before
    assert AuditEvent.objects.count() == audits


def test_pages_about_the_user_exist_beside_the_main_profile_alone(signed_in: Client, user: User) -> None:
    other = ProfileFactory.create(user=user)
    AliasRowFactory.create(name__user=user, profile=other)
    for page in OF_THE_USER:
        assert signed_in.get(f"{HOME}{other.pk}/{page}").status_code == 404
    page = page_of(signed_in.get(f"{HOME}{other.pk}/"))
    tabs = page.xpath("//nav[@aria-label='Profile']//a/@href")
    assert tabs
    assert all(url.startswith(f"{HOME}{other.pk}/") for url in tabs)
    assert not [url for url in tabs if url.removeprefix(f"{HOME}{other.pk}/") in OF_THE_USER]
    groups = page.xpath("//nav[@aria-label='Parts of the profile']//a/text()")
    assert groups == [title for title in GROUPS if title != "Privacy and data"]


def test_every_page_and_list_is_in_one_group_of_the_menu(signed_in: Client) -> None:
    named = [name for names in kinds.menu_groups().values() for name in names]
    assert sorted(named) == sorted({*PAGES_OF_THE_MENU, *KINDS})
    page = page_of(signed_in.get(f"{HOME}gallery/"))
    groups = "//nav[@aria-label='Parts of the profile']//a"
    assert [link.text for link in page.xpath(groups)] == list(GROUPS)
    assert page.xpath(f"{groups}[@aria-current]/text()") == ["Content"]
    pages = page.xpath("//nav[@aria-label='Profile']//a/text()")
    assert pages == ["Sections", "Projects", "Gallery", "Widgets"]


@pytest.mark.embedded
def test_more_profiles_take_no_more_queries(signed_in: Client, user: User) -> None:
    def add(number: int) -> None:
        AliasRowFactory.create(name__user=user, name__name=f"Ally{number}", profile=ProfileFactory.create(user=user))

    add(0)
    with_one = statements.names(lambda: signed_in.get(HOME))
    for number in range(1, 10):
        add(number)
    assert statements.names(lambda: signed_in.get(HOME)) == with_one
    assert said(signed_in.get(HOME)).count("Profile of Ally") == 10


def test_a_profile_is_hidden_and_shown_again(
    signed_in: Client, user: User, looked_up: Callable[..., Any], client: Client
) -> None:
    looked_up()
    stranger, path = UserFactory.create(), f"{HOME}privacy/"
    form = filled(signed_in, path, "public_api_access")
    assert form == {"public_api_access": "on"}
    response = signed_in.post(path, {}, follow=True)
    assert "Your profile is private." in said(response)
    assert answers.user(user.username).whole == answers.PRIVATE
    assert "This profile is private." in said(signed_in.get(f"/{user.username}"))
    assert User.objects.get(pk=stranger.pk).public_api_access is True
    assert filled(signed_in, path, "public_api_access") == {}
    signed_in.post(path, {"public_api_access": "on"})
    assert answers.user(user.username).status == 200
    events = AuditEvent.objects.filter(verb="user:changed").order_by("pk")
    assert [event.data["public_api_access"] for event in events] == [False, True]


ARGUMENTS = {
    "key": "cardSettings",
    "place": "avatar",
    "pk": "0" * 32,
    "type": "GALLERY",
    "act": "add",
    "name": "Ally",
}
PATTERNS: list[URLPattern] = profile_urls.urlpatterns
LINKS = "/dashboard/profile/links/add/"


class Unread:
    """A body that fails the test when it is read."""

    def read(self, *args: Any) -> bytes:
        raise AssertionError("The body was read.")

    readline = read


def announced(client: Client, path: str, length: object) -> Any:
    """The answer to a form of that length; Django's, untyped."""
    kind = "multipart/form-data; boundary=x"
    body: dict[str, Any] = {"wsgi.input": Unread(), "CONTENT_LENGTH": str(length), "CONTENT_TYPE": kind}
    return client.generic("POST", path, **body)


def url_of(pattern: URLPattern, profile: Profile) -> str:
    arguments = {name: ARGUMENTS[name] for name in pattern.pattern.regex.groupindex}
    return editing.url_of(profile, str(pattern.name), **arguments)


def test_a_form_that_is_too_large_is_refused_unread_and_one_with_the_largest_film_is_read(
    signed_in: Client, profile: Profile
) -> None:
    for page in PATTERNS:
        path = url_of(page, profile)
        answer = announced(signed_in, path, MAX_BODY + 1)
        assert (answer.status_code, answer.headers["Location"]) == (302, path), page.name
    assert "A form may have at most 52 MB with its files. Nothing was saved." in said(signed_in.get(LINKS))
    assert announced(signed_in, LINKS, "9" * 30).status_code == 302
    with pytest.raises(AssertionError, match="was read"):
        announced(signed_in, LINKS, MAX_BODY)


def test_a_form_is_not_read_without_a_login(client: Client, profile: Profile) -> None:
    for page in PATTERNS:
        answer = announced(client, url_of(page, profile), MAX_BODY)
        assert answer.headers["Location"].startswith("/accounts/login/"), page.name


@pytest.mark.parametrize("path", ["", "media/mirror/", "links/add/"])
def test_a_profile_that_is_deleted_meanwhile_is_not_found(
    path: str, signed_in: Client, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Profile.objects.select_related("user").get(pk=profile.pk)
    Profile.objects.filter(pk=profile.pk).delete()
    monkeypatch.setattr(editing, "get_object_or_404", lambda rows, **wanted: gone)
    typed = {"mirror": "on", "title": "Mine", "url": "https://ada.example/"}
    answer = signed_in.post(f"/dashboard/profile/{path}", typed)
    assert answer.status_code == (200 if path == "" else 404)  # a form of its own says so


PAGE = "/dashboard/profile/"
LOOKS = "/dashboard/profile/appearance/"


def kept(profile: Profile) -> Any:
    """What is stored of the profile and its document."""
    return Profile.objects.values().get(pk=profile.pk), ProfileDocument.objects.values().get(pk=profile.pk)


def test_the_page_shows_what_was_typed_and_nothing_is_saved(signed_in: Client, profile: Profile) -> None:
    LinkFactory.create(profile=profile, title="My shop")
    documents.rebuild(profile.pk)
    before = kept(profile)
    form = filled(signed_in, PAGE, "display_name")
    response = signed_in.post(f"{PAGE}preview/", form | {"display_name": "Countess", "location": "Paris"})
    assert "dashboard/profile/preview.html" in [template.name for template in response.templates]
    for text in ("Countess", "Paris", "My shop", "This is a preview: nothing has been saved."):
        assert text in said(response)
    assert kept(profile) == before
    assert problems_of(response) == []


def test_the_page_shows_the_settings_that_were_typed(signed_in: Client, profile: Profile) -> None:
    before = kept(profile)
    form = filled(signed_in, LOOKS, "version")
    form |= {"colorsSettings.accentColor": "#ff0000", "metadataSettings.title": "A title"}
    del form["usernameSettings.enabled"]
    response = signed_in.post(f"{LOOKS}preview/", form)
    page = page_of(response)
    assert page.findtext(".//title").startswith("A title")
    assert any("accent=ff0000" in link for link in page.xpath("//link/@href"))
    assert "@Ada" not in " ".join(page.xpath("//article")[0].text_content().split())
    assert kept(profile) == before


def test_the_hidden_profile_of_an_alias_is_shown_to_its_owner_under_its_name(signed_in: Client, user: User) -> None:
    profiles.set_public_access(user=user, is_public=False, by=user)
    other = ProfileFactory.create(user=user)
    AliasRowFactory.create(name__user=user, name__name="Ally", profile=other, redirects=False)
    path = f"{PAGE}{other.pk}/"
    response = signed_in.post(f"{path}preview/", filled(signed_in, path, "name") | {"location": "Rome"})
    assert "@Ally" in said(response)
    assert "Rome" in said(response)


@pytest.mark.parametrize(
    ("page", "field", "value", "message"),
    [
        (PAGE, "name", "", "Name of the profile: This field is required."),
        (LOOKS, "cardSettings.blur", "101", "Blur (pixels): Ensure this value is less than or equal to 100."),
    ],
)
def test_what_is_refused_is_named_above_the_page_as_it_is_saved(
    page: str, field: str, value: str, message: str, signed_in: Client
) -> None:
    response = signed_in.post(f"{page}preview/", filled(signed_in, page, "version") | {field: value, "location": "Oz"})
    assert message in said(response)
    assert "Nothing was saved." in said(response)
    assert "dashboard/profile/preview.html" in [template.name for template in response.templates]
    assert "Oz" not in said(response)
    assert problems_of(response) == []


@pytest.mark.parametrize("page", [PAGE, LOOKS])
def test_only_the_preview_may_be_framed_by_our_pages(page: str, signed_in: Client) -> None:
    editor = signed_in.get(page)
    assert "frame-src 'self'" in editor.headers["Content-Security-Policy"]
    form = filled(signed_in, page, "version")
    previews = [signed_in.post(f"{page}preview/", values) for values in (form, form | {"name": "", "version": ""})]
    for response, ancestors, option in (
        *((preview, "'self'", "SAMEORIGIN") for preview in previews),
        *((whole, "'none'", "DENY") for whole in (editor, signed_in.get("/Ada"))),
    ):
        assert f"frame-ancestors {ancestors}" in response.headers["Content-Security-Policy"]
        assert response.headers["X-Frame-Options"] == option


@pytest.mark.parametrize("kind", ["links", "sections", "gallery"])
def test_the_page_as_it_is_stored_is_beside_the_lists(kind: str, signed_in: Client, user: User) -> None:
    profile = main_profile(user)
    LinkFactory.create(profile=profile, title="My shop")
    profiles.set_public_access(user=user, is_public=False, by=user)
    page = signed_in.get(f"{PAGE}{kind}/")
    frame = page_of(page).xpath("//details/iframe")[0]
    assert frame.get("loading") == "lazy", "a folded preview costs no request"
    assert "frame-src 'self'" in page.headers["Content-Security-Policy"]
    framed = signed_in.get(frame.get("src"))
    assert "My shop" in said(framed)
    assert "This is a preview" not in said(framed)
    assert "frame-ancestors 'self'" in framed.headers["Content-Security-Policy"]
    assert framed.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert problems_of(framed) == []


def test_only_the_owner_sees_a_preview_and_its_text_is_escaped(signed_in: Client) -> None:
    other = ProfileFactory.create()
    assert signed_in.get(f"{PAGE}{other.pk}/preview/saved/").status_code == 404
    assert Client().get(f"{PAGE}preview/saved/").status_code == 302
    form = filled(signed_in, PAGE, "name")
    response = signed_in.post(f"{PAGE}preview/", form | {"description": "<script>alert(1)</script>"})
    assert b"<script>alert" not in response.content
    assert signed_in.get(f"{PAGE}preview/").status_code == 405
