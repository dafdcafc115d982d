"""The 22 settings keys: each setting is edited, refused, reset, and seen in lookups; only what differs is stored."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client

from accounts.models import AuditEvent, User
from dashboard.profile import settings_form
from dashboard.profile.settings_form import FONTS, ON_PAGE, Part, SettingsForm, field_name
from lookup.documents import document_checks
from lookup.editing import profiles
from lookup.models import Profile, UserDocument
from lookup.page import context
from lookup.shapes import sections
from lookup.shapes.settings_schema import FIELDS, KEYS, Field
from lookup.shapes.strict_fields import Boolean, Color, FlatObject, Number, Text, TextList
from tests.dashboard.profile.editor import filled, said
from tests.factories.lookup import (
    AudioFactory,
    CommentFactory,
    CustomBadgeFactory,
    LinkFactory,
    ProjectFactory,
    SectionFactory,
    shown,
)
from tests.pages.markup import page_of

PAGE = "/dashboard/profile/appearance/"
BY_NAME = {field_name(field): field for field in FIELDS}


def other_value(field: Field) -> tuple[Any, str | None]:
    """A value that is not the default, as lookups show it and as it is typed; None: the box is not ticked. Any: a
    JSON value."""
    match field.rule:
        case Boolean():
            return not field.default, None if field.default else "on"
        case Number(minimum=minimum, maximum=maximum):
            value = maximum if field.default != maximum else minimum
            return value, str(value)
        case Color():
            return "#1B5e4b80", "#1B5e4b80"
        case Text(choices=(_, *_)):
            return field.rule.choices[-1], field.rule.choices[-1]
        case Text():
            return "“Ünïcode” <b>", "“Ünïcode” <b>"
        case TextList():
            return ["One", "Zwei = 2"], " One\r\n\r\nZwei = 2\r\n"
        case FlatObject():
            shown = {"speed": 2.5, "name": "snow", "on": True, "two words": "true"}
            return shown, 'speed = 2.5\r\nname = snow\r\n\r\non=true\r\ntwo words = "true"'
    raise TypeError(field)


def typed(form: dict[str, Any], *fields: Field) -> dict[str, Any]:
    """The form with other values in these fields."""
    form = dict(form)
    for field in fields:
        _, text = other_value(field)
        if text is None:
            form.pop(field_name(field), None)
        else:
            form[field_name(field)] = text
    return form


@functools.cache
def untouched_form() -> dict[str, Any]:
    """What a browser sends of the form of a new profile."""
    empty = SettingsForm(instance=Profile())
    values = {"version": "0"} | {name: empty[name].value() for name in BY_NAME}
    return {name: "on" if value is True else str(value) for name, value in values.items() if value is not False}


def parts_of(form: SettingsForm) -> list[Part]:
    return [part for group in (*form.groups(), form.for_clients()) for part in group.parts]


def stored(profile: Profile) -> Any:
    return Profile.objects.get(pk=profile.pk).settings


def test_the_page_has_a_part_for_each_of_the_22_keys(signed_in: Client) -> None:
    parts = parts_of(signed_in.get(PAGE).context["form"])
    assert {part.key for part in parts if part.id != "fonts"} == set(KEYS)
    assert len(KEYS) == 22
    assert len({part.id for part in parts}) == len(parts)
    assert sorted(field.name for part in parts for field in part.fields) == sorted([*BY_NAME, *FONTS])
    for key, words in settings_form.OBJECTS.items():
        for name in (*words.get("on_page", ()), *words.get("labels", ()), *words.get("help", ())):
            assert f"{key}.{name}" in BY_NAME


def test_every_setting_goes_from_the_form_to_the_lookup_and_back(
    signed_in: Client, profile: Profile, looked_up: Callable[..., Any]
) -> None:
    untouched = filled(signed_in, PAGE, "version")
    response = signed_in.post(PAGE, typed(untouched, *FIELDS))
    assert response.status_code == 302, response.context["form"].errors
    wanted = {key: {field.name: other_value(field)[0] for field in FIELDS if field.key == key} for key in KEYS}
    assert stored(profile) == wanted
    assert looked_up("profile")["profile"]["settings"] == wanted
    again = filled(signed_in, PAGE, "version")
    signed_in.post(PAGE, again)
    assert stored(profile) == wanted
    signed_in.post(PAGE, untouched | {"version": again["version"]})
    assert stored(profile) == {}
    assert list(document_checks.differences()) == []


def page_with(profile: Profile, chosen: dict[str, dict[str, Any]]) -> str:
    """What visitors see with these settings."""
    profile.settings = chosen
    page = context.preview(profile, datetime(2026, 1, 1, tzinfo=UTC))
    return render_to_string("lookup/profile_page.html", {"page": page})


def test_our_page_shows_every_setting_but_those_for_api_clients(profile: Profile) -> None:
    profile.description = "On engines"
    ProjectFactory.create(profile=profile)
    AudioFactory.create(profile=profile)
    LinkFactory.create(profile=profile)
    CustomBadgeFactory.create(profile=profile)
    CommentFactory.create(user=profile.user)
    shown(profile.user)
    UserDocument.objects.filter(user=profile.user).update(views=3, likes=2)
    config = sections.validated("ABOUT_ME", {"content": "Hello", "skills": {"frontend": ["HTML"]}})
    SectionFactory.create(profile=profile, type="ABOUT_ME", config=config)
    everything = {key: {field.name: other_value(field)[0] for field in FIELDS if field.key == key} for key in KEYS}
    for key in ("aboutMeSettings", "skillsSettings", "audioSettings", "linksSettings", "avatarSettings"):
        everything[key].pop("enabled", None)
    usual, other = page_with(profile, {}), page_with(profile, everything)
    presence = {f"presenceSettings.{name}" for name in ON_PAGE["presenceSettings"]}  # its card is another's
    for field in FIELDS:
        value = "glow" if field.name == "effect" else other_value(field)[0]  # the page knows some effects alone
        alone = page_with(profile, {field.key: {field.name: value}})
        kept = {
            key: {k: v for k, v in values.items() if (key, k) != (field.key, field.name)}
            for key, values in everything.items()
        }
        is_shown = alone != usual or page_with(profile, kept) != other
        wanted = field.name in ON_PAGE.get(field.key, ()) and field_name(field) not in presence
        assert is_shown == wanted, field_name(field)


def test_an_emptied_number_is_the_default(signed_in: Client, user: User, profile: Profile) -> None:
    profiles.change(profile=profile, values={"settings": {"cardSettings": {"blur": 7}}}, by=user)
    signed_in.post(PAGE, filled(signed_in, PAGE, "version") | {"cardSettings.blur": ""})
    assert stored(profile) == {}


def test_values_that_the_form_cannot_show_stay_as_they_are_stored(
    signed_in: Client, user: User, profile: Profile
) -> None:
    given = {
        "typewriterSettings": {"descriptions": [" spaces ", "two"], "speed": 100.0},
        "backgroundSettings": {"effectSettings": {"a=b": "x", "c": 1.0}},
        "cardSettings": {"blur": 2.50},
    }
    profiles.change(profile=profile, values={"settings": given}, by=user)
    kept = stored(profile)
    assert kept == given
    signed_in.post(PAGE, filled(signed_in, PAGE, "version") | {"textSettings.glowStrength": "7"})
    assert stored(profile) == {**kept, "textSettings": {"glowStrength": 7}}
    assert type(stored(profile)["typewriterSettings"]["speed"]) is float


def wrong_values(field: Field) -> dict[str, str]:
    """What a person may type, by the sentence that refuses it."""
    match field.rule:
        case Color():
            return {"Must be a color": "green"}
        case Number(minimum=minimum, maximum=maximum):
            return {
                "less than or equal": str(maximum + 1),
                "greater than or equal": str(minimum - 1),
                "Enter a number.": "many",
            }
        case Text(choices=(_, *_)):
            return {"not one of the available choices": "boom"}
        case Text():
            return {"at most": "x" * (field.rule.max_length + 1)}
        case TextList():
            return {"at most 20 are allowed": "x\n" * 21, "Entry 1: Has 201 characters": "x" * 201}
        case FlatObject():
            return {
                "Line 1: write a name, = and a value.": "speed",
                "a: Must be true or false, a number or a string.": "a = [1, 2]",
                "Name : Must not be empty.": "= 2",
                "a: Must be between": "a = 1e999",
            }
    return {}


@pytest.mark.parametrize("sentence", sorted({sentence for field in FIELDS for sentence in wrong_values(field)}))
def test_a_value_that_breaks_its_rule_is_refused_at_its_field(sentence: str) -> None:
    fields = [field for field in FIELDS if sentence in wrong_values(field)]
    wrong = {field_name(field): wrong_values(field)[sentence] for field in fields}
    form = SettingsForm(untouched_form() | wrong, instance=Profile())
    assert not form.is_valid()
    assert sorted(form.errors) == sorted(wrong)
    assert [errors for errors in form.errors.values() if sentence not in errors[0]] == []
    opened = [part for part in parts_of(form) if part.is_refused]
    assert sorted(one.name for part in opened for one in part.fields if one.errors) == sorted(wrong)
    assert form.for_clients().is_refused == any(field.name not in ON_PAGE.get(field.key, ()) for field in fields)


def test_a_refused_value_saves_nothing_and_opens_its_part(signed_in: Client, profile: Profile) -> None:
    form = filled(signed_in, PAGE, "version")
    response = signed_in.post(PAGE, form | {"cardSettings.blur": "101", "badgesSettings.glow": "on"})
    assert "Nothing was saved" in said(response)
    assert "Ensure this value is less than or equal to 100." in said(response)
    assert page_of(response).xpath("//details[@open]/@id") == ["cardSettings"]
    assert response.context["form"]["badgesSettings.glow"].value() is True
    assert stored(profile) == {}


def test_resetting_asks_first_and_touches_one_key(signed_in: Client, user: User, profile: Profile) -> None:
    given = {"cardSettings": {"blur": 7}, "textSettings": {"glowStrength": 9}}
    profiles.change(profile=profile, values={"settings": given}, by=user)
    assert "Reset “Card”?" in said(signed_in.get(f"{PAGE}cardSettings/reset/"))
    assert stored(profile) == given
    signed_in.post(f"{PAGE}cardSettings/reset/")
    assert stored(profile) == {"textSettings": {"glowStrength": 9}}
    assert signed_in.post(f"{PAGE}nothing/reset/").status_code == 404
    assert AuditEvent.objects.filter(verb="profile:changed").count() == 2
