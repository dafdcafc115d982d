"""The page before an import: it shows what changes, and the import makes exactly those changes or none."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEvent, User
from lookup.documents import registry
from lookup.editing import content, profiles
from lookup.models import GalleryItem, Link, Section
from lookup.transfer import own
from lookup.transfer.own import Change
from tests.dashboard.profile.editor import said
from tests.dashboard.profile.transfers import PAGE, Json, check, confirm
from tests.factories.lookup import GalleryItemFactory, main_profile
from tests.lookup import statements

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(exported: bytes) -> User:
    return User.objects.get(username="Ada")


def edited(line: Json) -> Json:
    """A file with another location and setting, and one link more, one less and one with another title."""
    line["profile"]["location"] = "Oslo"
    line["profile"]["settings"]["cardSettings"]["blur"] = 3
    first, second = line["links"]
    first["title"] = "Brighter"
    line["links"] = [first, {**second, "id": "a" * 32, "title": "Newer"}]
    return line


def shown(response: Any) -> dict[str, Any]:
    """Of the page: values by label, and what it says of each list. `response`: the test client's, without a type."""
    preview = response.context["preview"]
    values = {value.label: (value.old, value.new) for value in preview.values}
    return values | {one.title: one.summary for one in preview.lists}


def test_the_page_shows_fields_and_rows_old_and_new(signed_in: Client, line: Json) -> None:
    gone = line["links"][1]["title"] or line["links"][1]["url"]
    response = check(signed_in, edited(line))
    assert shown(response) == {
        "Location": ("London", "Oslo"),
        "Card: Blur (pixels)": ("0", "3"),
        "Links": "1 added, 1 removed, 1 changed",
    }
    links = response.context["preview"].lists[0]
    assert [(group.verb, group.names) for group in links.names] == [("Added", ["Newer"]), ("Removed", [gone])]
    assert [(row.name, row.values[0].new) for row in links.edited] == [("Brighter", "Brighter")]
    text = said(response)
    assert "London → Oslo" in text
    assert "No changes in: Badges" in text


def test_an_import_makes_the_changes_that_were_shown(signed_in: Client, user: User, line: Json) -> None:
    response = confirm(signed_in, check(signed_in, edited(line)))
    assert "Profile imported." in said(response)
    profile = main_profile(user)
    assert (profile.location, profile.settings["cardSettings"]) == ("Oslo", {"blur": 3})
    titles = set(Link.objects.filter(profile=profile).values_list("title", flat=True))
    assert titles == {"Brighter", "Newer", "Switched off"}


def test_a_second_confirmation_changes_nothing(signed_in: Client, user: User, line: Json) -> None:
    page = check(signed_in, edited(line))
    confirm(signed_in, page)
    changed_at, events = main_profile(user).updated_at, AuditEvent.objects.count()
    assert "Your profile already has the content of this file." in said(confirm(signed_in, page))
    assert (main_profile(user).updated_at, AuditEvent.objects.count()) == (changed_at, events)
    assert "This file changes nothing" in said(check(signed_in, line))


@pytest.mark.embedded
@pytest.mark.parametrize("change", ["field", "row"])
def test_a_change_in_between_is_shown_before_anything_is_written(
    change: str, signed_in: Client, user: User, line: Json
) -> None:
    page = check(signed_in, edited(copy.deepcopy(line)))
    profile = main_profile(user)
    if change == "field":
        profiles.change(profile=profile, values={"display_name": "Newest"}, by=user)
    else:
        content.switch(content=registry.LINKS, profile=profile, pk=line["links"][0]["id"], is_on=False, by=user)
    response = confirm(signed_in, page)
    assert "Nothing was imported: your profile has changed" in said(response)
    assert main_profile(user).location == "London"
    assert not AuditEvent.objects.filter(verb="profile:restored").exists()
    assert response.context["form"]["text"].value() == page.context["form"]["text"].value()
    assert "Profile imported." in said(confirm(signed_in, response))
    assert main_profile(user).location == "Oslo"


def test_views_and_comments_of_others_in_between_do_not_stop_an_import(
    signed_in: Client, user: User, line: Json
) -> None:
    page = check(signed_in, edited(line))
    user.document.views += 7
    user.document.save()
    assert "Profile imported." in said(confirm(signed_in, page))


@pytest.mark.parametrize("digest", ["", "0" * 64])
def test_without_the_digest_of_the_page_nothing_is_written(
    digest: str, signed_in: Client, user: User, line: Json
) -> None:
    page = check(signed_in, edited(line))
    sent = {"text": page.context["form"]["text"].value(), "digest": digest}
    response = signed_in.post(f"{PAGE}import/", sent)
    assert shown(response) == shown(page)
    assert main_profile(user).location == "London"


def test_rows_that_come_back_from_being_hidden_and_what_they_hide_are_shown(user: User, line: Json) -> None:
    """The file shows a gallery section that is off today, without one of the pictures in it."""
    section = Section.objects.get(type="GALLERY")
    extra = GalleryItemFactory.create(profile=main_profile(user), section=section, caption="Hidden one")
    content.switch(content=registry.SECTIONS, profile=main_profile(user), pk=section.pk, is_on=False, by=user)
    text = json.dumps(line).encode()
    outcome = own.look(user=user, text=text)
    rows = {one.name: one for one in outcome.changes.lists}
    assert [row.changes for row in rows["sections"].changed] == [(Change("is_shown", old=False, new=True),)]
    assert [row.entry["caption"] for row in rows["gallery"].removed] == ["Hidden one"]
    own.restore(user=user, text=text, digest=outcome.changes.digest, by=user)
    assert Section.objects.get(pk=section.pk).is_enabled
    assert not GalleryItem.objects.filter(pk=extra.pk).exists()


def test_moved_rows_are_not_called_changed(signed_in: Client, line: Json) -> None:
    first, second = line["links"]
    first["order"], second["order"] = second["order"] + 1, first["order"]
    links = check(signed_in, line).context["preview"].lists[0]
    assert ([(group.verb, group.count) for group in links.names], links.edited) == ([("Moved", 2)], [])


def test_markup_in_a_file_stays_text(signed_in: Client, line: Json) -> None:
    line["profile"]["location"] = line["links"][0]["title"] = "<script>alert(1)</script>"
    assert b"<script>alert" not in check(signed_in, line).content


@pytest.mark.embedded
def test_the_page_takes_as_many_queries_for_many_changes_as_for_one(signed_in: Client, line: Json) -> None:
    one = copy.deepcopy(line)
    one["profile"]["location"] = "Oslo"
    edited(line)
    line["links"] += [{**line["links"][0], "id": f"{number:032x}", "order": number} for number in range(5, 30)]
    with_one = statements.names(lambda: check(signed_in, one))
    assert statements.names(lambda: check(signed_in, line)) == with_one


def test_profiles_of_every_kind_of_value_have_words(signed_in: Client, user: User, line: Json) -> None:
    """An empty profile, into which everything comes."""
    profile = main_profile(user)
    for model in (Link, Section, GalleryItem):
        model._default_manager.filter(profile=profile).delete()
    profiles.change(profile=profile, values={"avatar": None, "location": "", "description": "Long. " * 100}, by=user)
    line["profile"]["fontUsername"] = "Serif"
    line["profile"]["description"] = "Long. " * 101
    values = shown(check(signed_in, line))
    assert values["Picture"] == ("empty", "me.png")
    assert values["Font of the name"] == ("empty", "Serif")
    assert (len(values["Description"][0]), values["Description"][1]) == (160, ""), "it differs further on"
    assert values["Sections"] == "3 added"
