"""The profile's own fields: saved, refused, and seen in lookups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEvent, User
from dashboard import versions
from lookup import document_checks, profiles
from lookup.models import Profile
from tests.dashboard.profile.pages import filled, said
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AliasRowFactory, ProfileFactory, main_profile

PAGE = "/dashboard/profile/"
TYPED = {
    "display_name": "Ada ✦",
    "description": "Line one\nLine two",
    "location": "London",
    "name": "Mine",
    "theme": "midnight",
    "font": "serif",
    "font_username": "mono",
    "sound_effect": "chime",
    "sound_effect_button": "drop",
}


CAMEL = {
    "display_name": "displayName",
    "description": "description",
    "location": "location",
    "name": "name",
    "theme": "theme",
    "font": "font",
    "font_username": "fontUsername",
    "sound_effect": "soundEffect",
    "sound_effect_button": "soundEffectButton",
}


def test_what_is_saved_stands_in_the_lookup(
    signed_in: Client, user: User, profile: Profile, looked_up: Callable[..., Any]
) -> None:
    form = filled(signed_in, PAGE, "display_name")
    response = signed_in.post(PAGE, form | TYPED | {"description": "Line one\r\nLine two"}, follow=True)
    assert response.redirect_chain == [(PAGE, 302)]
    assert "Your profile has been saved." in said(response)
    told = looked_up("profile")["profile"]
    assert {name: told[CAMEL[name]] for name in TYPED} == TYPED
    event = AuditEvent.objects.get(verb="profile:changed")
    assert (event.actor, event.data["changed"]) == (user, sorted(TYPED))
    assert list(document_checks.differences()) == []


def test_saving_what_stands_there_changes_nothing(signed_in: Client, profile: Profile) -> None:
    signed_in.post(PAGE, filled(signed_in, PAGE, "display_name"))
    assert not AuditEvent.objects.filter(verb="profile:changed").exists()
    assert Profile.objects.get(pk=profile.pk).updated_at == profile.updated_at


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", "", "This field is required."),
        ("name", "x" * 65, "Ensure this value has at most 64 characters (it has 65)."),
        ("display_name", "x" * 65, "Ensure this value has at most 64 characters (it has 65)."),
        ("description", "x" * 2001, "Ensure this value has at most 2000 characters (it has 2001)."),
        ("location", "x" * 65, "Ensure this value has at most 64 characters (it has 65)."),
        ("theme", "x" * 33, "Ensure this value has at most 32 characters (it has 33)."),
        ("font", "x" * 65, "Ensure this value has at most 64 characters (it has 65)."),
        ("font_username", "x" * 65, "Ensure this value has at most 64 characters (it has 65)."),
        ("sound_effect", "x" * 65, "Ensure this value has at most 64 characters (it has 65)."),
        ("sound_effect_button", "x" * 65, "Ensure this value has at most 64 characters (it has 65)."),
        ("display_name", "a\0b", "Null characters are not allowed."),
    ],
)
def test_what_is_refused_is_told_at_its_field(
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


@pytest.mark.parametrize("version", ["", "x", "0" * 21])
def test_a_form_without_its_version_saves_nothing(version: str, signed_in: Client, profile: Profile) -> None:
    response = signed_in.post(PAGE, filled(signed_in, PAGE, "name") | {"location": "Paris", "version": version})
    assert response.status_code == 200
    assert Profile.objects.get(pk=profile.pk).location == ""


def test_what_was_typed_is_escaped(signed_in: Client, profile: Profile) -> None:
    signed_in.post(PAGE, filled(signed_in, PAGE, "name") | {"display_name": "</title><script>alert(1)</script>"})
    assert b"<script>alert" not in signed_in.get(PAGE).content


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


def test_somebody_elses_profile_is_not_found(signed_in: Client, user: User) -> None:
    stranger = UserFactory.create()
    other = ProfileFactory.create(user=stranger)
    AliasRowFactory.create(name__user=stranger, profile=other)
    for profile in (other, main_profile(stranger), main_profile(user)):
        for name in ("profile_editor", "profile_appearance", "profile_media"):
            path = reverse(name, kwargs={"profile_id": profile.pk})
            assert signed_in.get(path).status_code == 404
            assert signed_in.post(path, {"location": "Rome"}).status_code == 404
