"""Every page of the profile, appearance, media, privacy and transfer: its markup, its login, its tabs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEvent, User
from dashboard.profile import GROUPS, kinds
from dashboard.profile import PAGES as PAGES_OF_THE_MENU
from dashboard.profile.kinds import KINDS
from lookup.editing import profiles
from lookup.models import Profile
from tests.dashboard.profile.editor import filled, said
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AliasRowFactory, AssetFactory, ProfileFactory
from tests.lookup import answers, statements
from tests.pages.markup import page_of, problems_of

HOME = "/dashboard/profile/"
PAGES = ("", "appearance/", "appearance/cardSettings/reset/", "media/", "media/avatar/remove/", "privacy/", "transfer/")
OF_THE_USER = ("privacy/", "transfer/", "transfer/export/", "transfer/check/", "transfer/import/")
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


def test_the_current_tab_is_marked(signed_in: Client) -> None:
    for page in ("", "appearance/", "media/", "privacy/", "transfer/"):
        here = page_of(signed_in.get(f"{HOME}{page}")).xpath(
            "//nav[@aria-label='Profile']//a[@aria-current='page']/@href"
        )
        assert here == [f"{HOME}{page}"]


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
    path = f"{HOME}privacy/"
    form = filled(signed_in, path, "public_api_access")
    assert form == {"public_api_access": "on"}
    response = signed_in.post(path, {}, follow=True)
    assert "Your profile is private." in said(response)
    assert answers.user(user.username).whole == answers.PRIVATE
    assert "This profile is private." in said(signed_in.get(f"/{user.username}"))
    assert filled(signed_in, path, "public_api_access") == {}
    signed_in.post(path, {"public_api_access": "on"})
    assert answers.user(user.username).status == 200
    events = AuditEvent.objects.filter(verb="user:changed").order_by("pk")
    assert [event.data["public_api_access"] for event in events] == [False, True]


def test_hiding_a_profile_hides_no_other(signed_in: Client) -> None:
    stranger = UserFactory.create()
    signed_in.post(f"{HOME}privacy/", {})
    assert User.objects.get(pk=stranger.pk).public_api_access is True
