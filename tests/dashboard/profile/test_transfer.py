"""Export and import of one's own data: the page before it, and what an imported file cannot change."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent, Name, User
from lookup.documents import document_checks, documents, registry
from lookup.editing import content, profiles
from lookup.models import (
    Alias,
    Asset,
    Badge,
    Comment,
    CustomBadge,
    GalleryItem,
    Game,
    Link,
    Profile,
    ProfileBadge,
    Section,
    UserDocument,
)
from lookup.transfer import own
from lookup.transfer.own import Change
from lookup.transfer.reading import LineRefused
from tests.dashboard.profile.editor import said
from tests.dashboard.profile.transfers import PAGE, Json, check, confirm, load, problems
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AssetFactory, GalleryItemFactory, LinkFactory, main_profile
from tests.lookup import statements
from tests.lookup.answers import INCLUDES

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(exported: bytes) -> User:
    return User.objects.get(username="Ada")


def test_the_export_is_what_the_lookup_answers(signed_in: Client, looked_up: Callable[..., Json]) -> None:
    response = signed_in.get(f"{PAGE}export/")
    assert json.loads(response.content) == {"version": 1, **looked_up(*INCLUDES)}
    today = f"{timezone.now():%Y-%m-%d}"
    assert response.headers["Content-Disposition"] == f'attachment; filename="Ada-{today}.json"'
    assert "no-store" in response.headers["Cache-Control"]


def test_a_hidden_profile_is_exported_and_imported_too(signed_in: Client, user: User, line: Json) -> None:
    profiles.set_public_access(user=user, is_public=False, by=user)
    assert json.loads(signed_in.get(f"{PAGE}export/").content) == line
    assert load(signed_in, line).status_code == 200
    assert User.objects.get(pk=user.pk).public_api_access is False


def test_an_import_brings_back_what_was_exported(
    signed_in: Client, user: User, line: Json, looked_up: Callable[..., Json]
) -> None:
    profile = main_profile(user)
    before = looked_up(*INCLUDES)
    Link.objects.filter(profile=profile, is_active=True).delete()
    CustomBadge.objects.update(name="Other")
    LinkFactory.create(profile=profile, title="Newer")
    profiles.change(profile=profile, values={"location": "Oslo", "settings": {"cardSettings": {"blur": 3}}}, by=user)
    response = load(signed_in, line)
    assert "Profile imported." in said(response)
    after = looked_up(*INCLUDES)
    assert before["profile"].pop("updatedAt") < after["profile"].pop("updatedAt")
    assert after == before
    assert Link.objects.filter(profile=profile, title="Switched off").exists()
    assert list(document_checks.differences()) == []
    assert AuditEvent.objects.get(verb="profile:restored").actor == user


def test_looking_at_a_file_changes_nothing(signed_in: Client, user: User, line: Json) -> None:
    rows = [list(model.objects.values()) for model in (Profile, Link, ProfileBadge, User)]
    line["profile"]["location"] = "Oslo"
    response = check(signed_in, line)
    assert "Location" in said(response)
    assert "Oslo" in said(response)
    assert [list(model.objects.values()) for model in (Profile, Link, ProfileBadge, User)] == rows
    assert not AuditEvent.objects.filter(verb="profile:restored").exists()


def test_the_text_survives_the_form_that_carries_it(signed_in: Client, line: Json) -> None:
    line["profile"]["description"] = "“quotes” & <tags>\n\r\n\ttabs"
    response = check(signed_in, line)
    assert json.loads(response.context["form"]["text"].value()) == line
    load(signed_in, line)
    assert Profile.objects.get(is_main=True, user__username="Ada").description == line["profile"]["description"]


def test_the_plan_and_later_views_stay_as_they_are(signed_in: Client, user: User, line: Json) -> None:
    UserDocument.objects.filter(pk=user.pk).update(views=100)
    ends = timezone.now() + timedelta(days=3)
    User.objects.filter(pk=user.pk).update(plan="PREMIUM", plan_expires_at=ends)
    load(signed_in, line)
    now = User.objects.get(pk=user.pk)
    assert (now.plan, now.plan_expires_at) == ("PREMIUM", ends)
    assert UserDocument.objects.get(pk=user.pk).views == 100


def test_a_get_of_the_steps_leads_back(signed_in: Client) -> None:
    for step in ("check", "import"):
        assert signed_in.get(f"{PAGE}{step}/").headers["Location"] == PAGE


def test_rights_names_and_what_others_did_are_never_taken_from_a_file(
    signed_in: Client, user: User, line: Json, looked_up: Callable[..., Json]
) -> None:
    before, hostile = looked_up(*INCLUDES), copy.deepcopy(line)
    hostile["user"] |= {"premium": True, "imagehost": True, "verified": True, "uid": 999, "username": "Queen"}
    hostile["user"] |= {"createdAt": "2001-01-01T00:00:00Z", "chatId": "1234", "scrobblerUsername": "queen"}
    hostile["views"] = 10**9
    hostile["feedback"] = {"likes": 5000, "dislikes": 0}
    hostile["aliases"] = [{"name": "Taken", "redirect": True, "profileId": None}]
    hostile["comments"]["items"][0]["content"] = "I never said that."
    hostile["comments"]["items"] = hostile["comments"]["items"] * 1
    hostile["comments"]["count"] = 4000
    hostile["profile"] |= {"createdAt": "2001-01-01T00:00:00Z", "updatedAt": "2001-01-01T00:00:00Z"}
    hostile["profile"]["profileId"] = "f" * 32
    hostile["profile"]["location"] = "Oslo"
    people, audits = User.objects.count(), AuditEvent.objects.count()
    assert "Profile imported." in said(load(signed_in, hostile))
    after = looked_up(*INCLUDES)
    assert (before["profile"].pop("location"), after["profile"].pop("location")) == ("London", "Oslo")
    assert before["profile"].pop("updatedAt") < after["profile"].pop("updatedAt")
    assert after == before
    assert (User.objects.count(), AuditEvent.objects.count()) == (people, audits + 1)
    assert set(Name.objects.filter(user=user).values_list("name", flat=True)) == {"Ada", "Ally"}
    assert Comment.objects.get().content != "I never said that."
    assert Alias.objects.get().name.name == "Ally"


def test_badges_that_are_not_unlocked_are_left_out(signed_in: Client, user: User, line: Json) -> None:
    badges = line["badges"]
    explorer = next(badge for badge in badges if badge["badgeId"] == "explorer")
    explorer |= {"unlockedTiers": [1, 2], "selectedTier": 2, "enabled": False, "color": "#ff0000"}
    for tier in explorer["tiers"]:
        tier |= {"unlocked": True, "selected": tier["tier"] == 2}
    stolen = {**copy.deepcopy(explorer), "id": "e" * 32, "badgeId": "staff", "name": "Staff"}
    invented = {**copy.deepcopy(explorer), "id": "d" * 32, "badgeId": "invented", "name": "Invented"}
    line["badges"] = [*(badge for badge in badges if badge["badgeId"] != "founder"), stolen, invented]
    Badge.objects.create(pk="staff", name="Staff", image="staff.svg")
    response = check(signed_in, line)
    assert said(response).count("You do not have this badge; it is left out.") == 2
    assert "You have not unlocked this tier; your current choice stays." in said(response)
    load(signed_in, line)
    held = {badge.badge_id: badge for badge in ProfileBadge.objects.all()}
    assert set(held) == {"explorer", "founder"}
    kept = held["explorer"]
    assert (kept.unlocked_tiers, kept.selected_tier, kept.is_enabled, kept.color) == ([1], 1, False, "#ff0000")
    assert not Badge.objects.filter(pk="invented").exists()
    assert Badge.objects.get(pk="explorer").tiers.count() == 2


def test_the_catalogues_are_not_written_by_a_file(signed_in: Client, line: Json) -> None:
    games = next(section for section in line["sections"] if section["type"] == "GAMES")
    games["games"][0]["name"] = "Owned"
    load(signed_in, line)
    assert Game.objects.get().name == "A game"
    games["games"].append({**games["games"][0], "gameCatalogId": 8})
    place = line["sections"].index(games)
    assert problems(load(signed_in, line)) == {f"sections.{place}.games.1": "Is not in the catalog here."}
    assert Game.objects.count() == 1


def test_files_of_others_and_other_facts_of_a_file_cannot_be_named(signed_in: Client, line: Json) -> None:
    mime = line["profile"]["avatar"]["mime"]
    line["profile"]["avatar"]["mime"] = "text/html"
    assert "profile.avatar" in problems(load(signed_in, line))
    line["profile"]["avatar"]["mime"] = mime
    other = AssetFactory.create(path="other/secret.png", size=1)
    assets = Asset.objects.count()
    url = line["profile"]["avatar"]["url"].replace(line["user"]["id"], "other").replace("me.png", "secret.png")
    line["profile"]["avatar"]["url"] = line["user"]["avatarUrl"] = url
    line["links"][0]["icon"] = {**line["profile"]["avatar"], "mime": "text/html"}
    sentence = "Not one of your uploads. Upload it, then export again."
    assert problems(load(signed_in, line)) == {"profile.avatar": sentence, "links.0.icon": sentence}
    assert Asset.objects.count() == assets
    assert other.owner_id != line["user"]["id"]


def test_rows_of_others_cannot_be_taken(signed_in: Client, user: User, line: Json) -> None:
    stranger = main_profile(UserFactory.create(username="Bea"))
    theirs = LinkFactory.create(profile=stranger, title="Theirs")
    mine = LinkFactory.create(profile=Profile.objects.get(user=user, is_main=False))
    for place, row in enumerate((theirs, mine)):
        line["links"][place]["id"] = row.pk
    response = load(signed_in, line)
    sentence = "Belongs to another user, or to another of your profiles."
    assert problems(response) == {"links.0.id": sentence, "links.1.id": sentence}
    assert "Bea" not in said(response)
    assert Link.objects.get(pk=theirs.pk).profile == stranger


def test_a_list_may_not_grow_beyond_its_limit(signed_in: Client, line: Json) -> None:
    line["links"] = [{**line["links"][0], "id": f"{number:032x}", "order": number} for number in range(50)]
    assert problems(load(signed_in, line)) == {
        "links": "Has too many rows: with those that are hidden, 50 are allowed."
    }
    line["links"].pop()
    assert "Profile imported." in said(load(signed_in, line))
    assert Link.objects.filter(is_active=True).count() == 49


def test_a_list_that_is_longer_than_its_limit_stays_so_but_may_not_grow(user: User) -> None:
    main = main_profile(user)
    Link.objects.bulk_create(Link(profile=main, title="A", url="https://a.example/", order=10 + n) for n in range(48))
    documents.rebuild(main.pk)
    line = json.loads(own.exported(user))
    assert own.look(user=user, text=json.dumps(line).encode()).changes.is_empty, "beside one that is hidden"
    line["links"].append({**line["links"][0], "id": "f" * 32})
    with pytest.raises(LineRefused) as refusal:
        own.look(user=user, text=json.dumps(line).encode())
    assert refusal.value.problems == [("links", "Has too many rows: with those that are hidden, 51 are allowed.")]


def test_the_problems_are_shown_and_nothing_is_changed(signed_in: Client, user: User, line: Json) -> None:
    line["profile"]["displayName"] = "x" * 65
    response = load(signed_in, line)
    assert problems(response) == {"profile.displayName": "Has 65 characters; at most 64 are allowed."}
    assert "profile.displayName" in said(response)
    assert "nothing has been changed" in said(response)
    line["profile"]["displayName"], line["user"]["id"] = "x", "a" * 32
    response = signed_in.post(f"{PAGE}import/", {"text": json.dumps(line)})
    assert problems(response) == {"user.id": f"Is the id of another account; yours is {user.pk}."}
    assert signed_in.post(f"{PAGE}import/").headers["Location"] == PAGE


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"\n\n", "Has 0 lines with content; an export of your profile has one."),
        (b"{}\n{}", "Has 2 lines with content; an export of your profile has one."),
        (b"x" * own.MAX_BYTES, "Is not JSON"),
        (b"x" * (own.MAX_BYTES + 1), "Has more than 2 MB."),
    ],
    ids=range(4),
)
def test_a_text_that_is_no_export_is_refused(text: bytes, sentence: str, user: User) -> None:
    with pytest.raises(LineRefused) as refusal:
        own.look(user=user, text=text)
    assert sentence in refusal.value.problems[0][1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"\xff", "This file is not UTF-8 text."),
        (b"", "This file is empty."),
        (b"x" * (own.MAX_BYTES + 1), "This file is too large: an export of one profile has at most 2 MB."),
        (b'{"error":"<script>alert(1)</script>"}', "error: Must be null."),
    ],
    ids=range(4),
)
def test_a_file_that_is_no_export_is_refused(text: bytes, sentence: str, signed_in: Client) -> None:
    response = signed_in.post(f"{PAGE}check/", {"file": SimpleUploadedFile("me.json", text)})
    assert response.status_code == 200
    assert sentence in said(response)
    assert b"<script>alert" not in response.content


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
    assert [(group.verb, group.names) for group in links.names] == [
        ("Added", [f"Newer ({line['links'][1]['url']})"]),
        ("Removed", [gone]),
    ]
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
