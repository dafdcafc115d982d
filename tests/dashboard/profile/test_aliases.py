"""Aliases: other usernames that lead to a user, and what their visitors get."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import AuditEvent, Name, User
from dashboard.profile.forms import AliasAddForm
from lookup.editing import aliases
from lookup.models import Alias, Profile
from tests.dashboard.profile.editor import ROOT, Editor
from tests.factories.accounts import UserFactory
from tests.lookup import statements
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


def test_an_alias_with_a_profile_of_its_own_leads_to_its_editor(editor: Editor) -> None:
    editor.fill(ADD, name="Countess", shows="own")
    assert Client().get("/Countess").status_code == 200
    own = Profile.objects.get(is_main=False)
    assert editor.shown("aliases") == [{"name": "Countess", "redirect": False, "profileId": own.pk}]
    assert editor.page.xpath(f"//a[@href='{ROOT}/{own.pk}/']")
    assert problems_of(editor.open(f"{ROOT}/{own.pk}/links/").response) == []


@pytest.mark.django_db
def test_the_form_refuses_what_is_no_free_name() -> None:
    UserFactory(username="Reader")
    names = ("", "reader", "dashboard", "a b", "é", "a" * 33)
    assert [AliasAddForm({"name": name, "shows": "main"}).is_valid() for name in names] == [False] * 6
    assert AliasAddForm({"name": "a" * 32, "shows": "main"}).is_valid()


def test_an_eleventh_alias_is_refused(editor: Editor, user: User) -> None:
    for number in range(9):
        aliases.add(user=user, name=f"ada-{number}", by=None)
    editor.fill(ADD, name="ada-9")
    assert len(editor.shown("aliases")) == aliases.MAX_ALIASES == 10
    assert not editor.page.xpath(f"//a[@href='{ADD}']")
    editor.fill(ADD, name="ada-10")
    assert editor.errors() == ["You have 10 aliases, which is the limit: delete one first."]
    assert len(editor.shown("aliases")) == 10


def test_what_an_alias_shows_is_changed_and_recorded(editor: Editor, user: User) -> None:
    aliases.add(user=user, name="Countess", by=user)
    page = f"{NAMED}Countess/"
    assert problems_of(editor.open(page).response) == []
    editor.send(page, shows="main")
    assert editor.shown("aliases")[0]["redirect"] is False
    editor.fill(f"{NAMED}cOUNTESS/", shows="own")
    assert editor.shown("aliases")[0]["profileId"] is not None
    events = AuditEvent.objects.filter(verb="alias:changed", actor=user)
    assert [event.data for event in events] == [{"alias": "Countess", "redirects": False}] * 2


def test_the_profile_of_an_alias_is_deleted_only_after_a_question(editor: Editor, user: User) -> None:
    alias = aliases.add(user=user, name="Countess", redirects=False, has_own_profile=True, by=user)
    page = f"{NAMED}Countess/"
    editor.fill(page, shows="redirect")
    assert "Delete the profile of Countess?" in editor.text
    assert problems_of(editor.response) == []
    assert editor.shown("aliases")[0]["profileId"] == alias.profile_id
    editor.send(page, confirmed="True")
    assert editor.shown("aliases") == [{"name": "Countess", "redirect": True, "profileId": None}]
    assert not Profile.objects.filter(is_main=False).exists()


def test_deleting_asks_first_and_frees_the_name(editor: Editor, user: User) -> None:
    aliases.add(user=user, name="Countess", redirects=False, has_own_profile=True, by=user)
    page = f"{NAMED}Countess/delete/"
    editor.open(page)
    assert "The profile that it shows is deleted with all content." in editor.text
    assert problems_of(editor.response) == []
    assert Alias.objects.exists()
    editor.press(page)
    assert editor.shown("aliases") == []
    assert not Name.objects.by_name("Countess").exists()
    assert not Profile.objects.filter(is_main=False).exists()


def test_an_alias_may_be_called_like_a_page_of_the_editor(editor: Editor) -> None:
    editor.fill(ADD, name="add")
    editor.fill(f"{NAMED}add/", shows="main")
    assert editor.shown("aliases") == [{"name": "add", "redirect": False, "profileId": None}]
    editor.open(f"{NAMED}add/delete/").press(f"{NAMED}add/delete/")
    assert editor.shown("aliases") == []


def test_malformed_names_and_aliases_of_others_are_404(editor: Editor) -> None:
    other = UserFactory(username="Other")
    aliases.add(user=other, name="Theirs", by=other)
    editor.client.handler.enforce_csrf_checks = False
    for name in ("a%00b", "%20", "é", "a" * 33, "Theirs"):
        for page in (f"{NAMED}{name}/", f"{NAMED}{name}/delete/"):
            assert editor.client.get(page).status_code == 404
            assert editor.client.post(page, {"shows": "main"}).status_code == 404
    assert Alias.objects.get().redirects


@pytest.mark.embedded
def test_the_list_costs_the_same_for_one_alias_and_for_ten(editor: Editor, user: User) -> None:
    """Session, user, profile; the aliases; the frame's profiles."""
    aliases.add(user=user, name="first", redirects=False, has_own_profile=True, by=None)
    editor.open(LIST)
    asked = statements.names(lambda: editor.open(LIST))
    for number in range(9):
        aliases.add(user=user, name=f"ada-{number}", redirects=False, has_own_profile=True, by=None)
    assert statements.names(lambda: editor.open(LIST)) == asked
