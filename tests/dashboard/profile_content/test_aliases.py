"""Aliases: further names, in the one namespace, with what their visitors get."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Name, User
from lookup import aliases
from lookup.models import Alias, Profile
from tests.dashboard.profile_content.editor import ROOT, Editor
from tests.factories.accounts import UserFactory
from tests.pages.markup import problems_of

LIST, ADD = f"{ROOT}/aliases/", f"{ROOT}/aliases/add/"
NAMED = f"{LIST}named/"


def test_an_alias_that_leads_on_to_the_username(editor: Editor) -> None:
    assert problems_of(editor.open(LIST).response) == []
    assert "You have no aliases yet." in editor.text
    assert problems_of(editor.open(ADD).response) == []
    editor.fill(ADD, name="Countess", shows="redirect")
    assert editor.response.request["PATH_INFO"] == LIST
    assert editor.shown("aliases") == [{"name": "Countess", "redirect": True, "profileId": None}]
    assert Client().get("/Countess").headers["Location"].endswith("/Ada")


def test_an_alias_that_shows_the_main_profile(editor: Editor) -> None:
    editor.fill(ADD, name="Countess", shows="main")
    assert editor.shown("aliases") == [{"name": "Countess", "redirect": False, "profileId": None}]
    assert Client().get("/Countess").status_code == 200


def test_an_alias_with_a_profile_of_its_own_leads_to_its_editor(editor: Editor) -> None:
    editor.fill(ADD, name="Countess", shows="own")
    own = Profile.objects.get(is_main=False)
    assert editor.shown("aliases") == [{"name": "Countess", "redirect": False, "profileId": own.pk}]
    assert editor.page.xpath(f"//a[@href='{ROOT}/{own.pk}/']")
    assert problems_of(editor.open(f"{ROOT}/{own.pk}/links/").response) == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "This field is required."),
        ("Ada", "This name is already taken."),
        ("reader", "This name is already taken."),
        ("dashboard", "This name is reserved."),
        ("a b", "Use 1 to 32 letters, digits"),
        ("é", "Use 1 to 32 letters, digits"),
        ("a" * 33, "at most 32 characters"),
    ],
)
def test_a_name_that_is_refused(name: str, sentence: str, editor: Editor) -> None:
    editor.fill(ADD, name=name)
    assert any(sentence in error for error in editor.errors()), editor.errors()
    assert editor.shown("aliases") == []


def test_an_eleventh_alias_is_refused(editor: Editor, user: User) -> None:
    for number in range(9):
        aliases.add(user=user, name=f"ada-{number}", by=None)
    editor.fill(ADD, name="ada-9")
    assert len(editor.shown("aliases")) == aliases.MAX_ALIASES == 10
    assert not editor.page.xpath(f"//a[@href='{ADD}']")
    editor.fill(ADD, name="ada-10")
    assert editor.errors() == ["You have 10 aliases, which is the most: delete one first."]
    assert len(editor.shown("aliases")) == 10


def test_what_an_alias_shows_is_changed(editor: Editor, user: User) -> None:
    aliases.add(user=user, name="Countess", by=user)
    page = f"{NAMED}Countess/"
    assert problems_of(editor.open(page).response) == []
    editor.send(page, shows="main")
    assert editor.shown("aliases")[0]["redirect"] is False
    editor.fill(f"{NAMED}cOUNTESS/", shows="own")
    assert editor.shown("aliases")[0]["profileId"] is not None


@pytest.mark.parametrize("shows", ["redirect", "main"])
def test_a_profile_goes_only_after_a_question(shows: str, editor: Editor, user: User) -> None:
    alias = aliases.add(user=user, name="Countess", redirects=False, has_own_profile=True, by=user)
    page = f"{NAMED}Countess/"
    editor.fill(page, shows=shows)
    assert "Delete the profile of Countess?" in editor.text
    assert problems_of(editor.response) == []
    assert editor.shown("aliases")[0]["profileId"] == alias.profile_id
    editor.send(page, confirmed="True")
    assert editor.shown("aliases") == [{"name": "Countess", "redirect": shows == "redirect", "profileId": None}]
    assert not Profile.objects.filter(is_main=False).exists()


def test_deleting_asks_first_and_frees_the_name(editor: Editor, user: User) -> None:
    aliases.add(user=user, name="Countess", redirects=False, has_own_profile=True, by=user)
    page = f"{NAMED}Countess/delete/"
    editor.open(page)
    assert "The profile that it shows is deleted with everything on it." in editor.text
    assert problems_of(editor.response) == []
    assert Alias.objects.exists()
    editor.press(page)
    assert editor.shown("aliases") == []
    assert not Name.objects.by_name("Countess").exists()
    assert not Profile.objects.filter(is_main=False).exists()


@pytest.mark.parametrize("name", ["add", "named", "..."])
def test_an_alias_may_be_called_like_a_page_of_the_editor(name: str, editor: Editor) -> None:
    editor.fill(ADD, name=name)
    editor.fill(f"{NAMED}{name}/", shows="main")
    assert editor.shown("aliases") == [{"name": name, "redirect": False, "profileId": None}]
    editor.open(f"{NAMED}{name}/delete/").press(f"{NAMED}{name}/delete/")
    assert editor.shown("aliases") == []


@pytest.mark.parametrize("name", ["a%00b", "%20", "é", "a" * 33])
def test_what_is_no_name_is_404(name: str, editor: Editor) -> None:
    assert editor.open(f"{NAMED}{name}/").response.status_code == 404


def test_an_alias_of_somebody_else_is_404(editor: Editor) -> None:
    other = UserFactory(username="Other")
    aliases.add(user=other, name="Theirs", by=other)
    editor.open(ADD)
    for page in (f"{NAMED}Theirs/", f"{NAMED}Theirs/delete/"):
        assert editor.press(page, shows="main").response.status_code == 404
        assert editor.open(page).response.status_code == 404
        editor.open(ADD)
    assert Alias.objects.get().redirects


def test_the_pages_are_for_those_who_are_signed_in(client: Client, user: User) -> None:
    aliases.add(user=user, name="Countess", by=user)
    for page in (LIST, ADD, f"{NAMED}Countess/", f"{NAMED}Countess/delete/"):
        assert client.get(page).headers["Location"].startswith("/accounts/login/")


def test_the_list_costs_the_same_for_one_alias_and_for_ten(
    editor: Editor, user: User, django_assert_num_queries: Any
) -> None:
    """Session, user, profile; the aliases; the frame's profiles."""
    aliases.add(user=user, name="first", redirects=False, has_own_profile=True, by=None)
    editor.open(LIST)
    with CaptureQueriesContext(connection) as for_one:
        editor.open(LIST)
    for number in range(9):
        aliases.add(user=user, name=f"ada-{number}", redirects=False, has_own_profile=True, by=None)
    with django_assert_num_queries(len(for_one)):
        editor.open(LIST)
