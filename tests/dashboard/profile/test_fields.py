"""The profile's own fields: saved, refused, and seen in lookups."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEvent, User
from dashboard import versions
from dashboard.profile import editing
from dashboard.profile.forms import ProfileForm
from lookup.documents import document_checks
from lookup.editing import profiles
from lookup.models import Profile
from tests.dashboard.profile.editor import filled, said
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AliasRowFactory, ProfileFactory, main_profile
from tests.lookup import statements
from tests.support.threads import together

PAGE = "/dashboard/profile/"
UNSAFE = "Contains a control character or a bidirectional override"
TYPED = {
    "display_name": "Ada ✦",
    "description": "Line one\nLine two",
    "location": "London",
    "name": "Mine",
    "sound_effect": "chime",
    "sound_effect_button": "drop",
}


def test_saved_fields_show_in_the_lookup(
    signed_in: Client, user: User, profile: Profile, looked_up: Callable[..., Any]
) -> None:
    form = filled(signed_in, PAGE, "display_name")
    signed_in.post(PAGE, form)
    assert not AuditEvent.objects.filter(verb="profile:changed").exists(), "an untouched form changes nothing"
    assert Profile.objects.get(pk=profile.pk).updated_at == profile.updated_at
    response = signed_in.post(PAGE, form | TYPED | {"description": "Line one\r\nLine two"}, follow=True)
    assert response.redirect_chain == [(PAGE, 302)]
    assert "Profile saved." in said(response)
    found = looked_up("profile")["profile"]
    assert {name: found[re.sub(r"_(\w)", lambda one: one[1].upper(), name)] for name in TYPED} == TYPED
    event = AuditEvent.objects.get(verb="profile:changed")
    assert (event.actor, event.data["changed"]) == (user, sorted(TYPED))
    assert list(document_checks.differences()) == []


def test_a_saved_form_locks_the_profile_and_its_document_once(signed_in: Client, profile: Profile) -> None:
    form = filled(signed_in, PAGE, "display_name")
    sent = statements.of(lambda: signed_in.post(PAGE, form | {"location": "Paris"}))
    locks = [one.name for one in sent if "FOR NO KEY UPDATE" in one.sql]
    assert locks == ["SELECT lookup_profile", "SELECT lookup_profiledocument"]
    rendering = [
        *("SELECT lookup_profile", "SELECT lookup_alias", "SELECT accounts_linkedaccount"),
        *("SELECT lookup_profilebadge", "SELECT lookup_custombadge", "SELECT lookup_widget", "SELECT lookup_audio"),
        *("SELECT lookup_background", "SELECT lookup_link", "SELECT lookup_project", "SELECT lookup_section"),
        "SELECT lookup_galleryitem",
    ]
    assert [one.name for one in sent if not one.name.endswith("SAVEPOINT") and one.name != "RELEASE"] == [
        "SELECT accounts_user",
        "SELECT lookup_profile",  # the profile of the page
        *locks,
        "UPDATE lookup_profile",  # what was typed
        "INSERT accounts_auditevent",
        "UPDATE lookup_profile",  # its timestamp
        *rendering,
        "UPDATE lookup_profiledocument",
        "UPDATE lookup_userdocument",
    ]


LIMITS = dict.fromkeys(TYPED, 64) | {"description": 2000}


def test_each_field_has_its_longest_text(profile: Profile) -> None:
    data = {name: "x" * most for name, most in LIMITS.items()} | {"version": "0"}
    assert ProfileForm(data, instance=profile).is_valid()
    form = ProfileForm({name: f"{text}x" for name, text in data.items()}, instance=profile)
    assert form.errors == {
        name: [f"Ensure this value has at most {most} characters (it has {most + 1})."] for name, most in LIMITS.items()
    }


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("name", "", "This field is required."), ("display_name", "a\0b", "Null characters are not allowed.")],
)
def test_a_refused_value_is_explained_at_its_field_and_nothing_is_saved(
    field: str, value: str, message: str, signed_in: Client, profile: Profile
) -> None:
    form = filled(signed_in, PAGE, "display_name")
    response = signed_in.post(PAGE, form | {"location": "Paris"} | {field: value})
    assert response.context["form"].errors == {field: [message]}
    assert message in said(response)
    assert Profile.objects.get(pk=profile.pk).updated_at == profile.updated_at


def test_a_stale_form_saves_nothing_and_shows_what_was_typed(signed_in: Client, user: User, profile: Profile) -> None:
    form = filled(signed_in, PAGE, "display_name")
    profiles.change(profile=profile, values={"location": "Oslo"}, by=user)
    response = signed_in.post(PAGE, form | {"location": "Paris"})
    assert versions.CHANGED in said(response)
    assert response.context["form"]["location"].value() == "Paris"
    assert Profile.objects.get(pk=profile.pk).location == "Oslo"


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_of_two_forms_that_are_saved_at_the_same_time_one_is_stale(user: User, profile: Profile) -> None:
    def save(number: int) -> bool:
        mine = Profile.objects.select_related("user").get(pk=profile.pk)
        data = {"name": "Mine", "location": f"Place {number}", "version": versions.of(profile.updated_at)}
        form = ProfileForm(data, instance=mine)
        return form.is_valid() and form.write(by=user)

    assert together(3, save).count(True) == 1


@pytest.mark.parametrize("version", ["", "x", "0" * 21])
def test_a_form_without_its_version_saves_nothing(version: str, user: User, profile: Profile) -> None:
    form = ProfileForm({"name": "Mine", "location": "Paris", "version": version}, instance=profile)
    assert not (form.is_valid() and form.write(by=user))
    assert Profile.objects.get(pk=profile.pk).location == ""


def test_the_profile_of_an_alias_is_edited_under_its_own_path(signed_in: Client, user: User, profile: Profile) -> None:
    other = ProfileFactory.create(user=user, name="Other")
    AliasRowFactory.create(name__user=user, name__name="Ally", profile=other, redirects=False)
    path = f"/dashboard/profile/{other.pk}/"
    page = signed_in.get(path)
    assert "Profile of Ally" in said(page)
    response = signed_in.post(path, filled(signed_in, path, "name") | {"location": "Rome"})
    assert response.headers["Location"] == path
    assert Profile.objects.get(pk=other.pk).location == "Rome"
    assert Profile.objects.get(pk=profile.pk).location == ""


def test_only_the_users_own_profiles_that_have_an_alias_are_found(
    signed_in: Client, user: User, profile: Profile
) -> None:
    stranger = UserFactory.create()
    theirs = ProfileFactory.create(user=stranger)
    AliasRowFactory.create(name__user=stranger, profile=theirs)
    without_alias = ProfileFactory.create(user=user)
    for other in (theirs, main_profile(stranger), profile, without_alias):
        for name in ("profile_editor", "profile_appearance", "profile_media"):
            path = reverse(name, kwargs={"profile_id": other.pk})
            assert signed_in.get(path).status_code == 404
            assert signed_in.post(path, {"location": "Rome"}).status_code == 404
    assert editing.profiles_of(user) == [profile]


@pytest.mark.parametrize(
    ("page", "typed", "sentence"),
    [
        ("", {"display_name": "a\u202eb"}, f"{UNSAFE} (U+202E)"),
        ("links/add/", {"url": "https://bank.example@evil.example/"}, "Remove the user name or password before"),
        ("sections/add/CUSTOM_TEXT/", {"body": "a\x07b"}, f"{UNSAFE} (U+0007)"),
        ("projects/add/", {"title": "x", "tags": "a,b\u2066"}, f"{UNSAFE} (U+2066)"),
    ],
)
def test_unsafe_characters_and_links_are_refused_at_their_field(
    signed_in: Client, profile: Profile, page: str, typed: dict[str, str], sentence: str
) -> None:
    form = filled(signed_in, PAGE + page, next(iter(typed)))
    response = signed_in.post(PAGE + page, form | typed)
    assert response.status_code == 200
    assert sentence in response.content.decode()
