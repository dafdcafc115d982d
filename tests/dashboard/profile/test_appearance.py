"""The 22 settings keys: each is edited, refused, reset, and seen in lookups; only what differs is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEvent, User
from dashboard import versions
from dashboard.forms import profile_labels
from dashboard.forms.profile_settings import SettingsForm, field_name
from lookup import document_checks, profiles, settings_schema
from lookup.models import Profile
from lookup.settings_schema import FIELDS, KEYS, Field
from lookup.values import Color, FlatObject, Number, Text, TextList
from tests.dashboard.profile.pages import filled, said
from tests.dashboard.profile.typed import other_value
from tests.pages.markup import page_of

PAGE = "/dashboard/profile/appearance/"
BY_NAME = {field_name(field): field for field in FIELDS}


def typed(form: dict[str, Any], field: Field) -> dict[str, Any]:
    """The form with another value in that field."""
    _, text = other_value(field)
    if text is None:
        return {name: value for name, value in form.items() if name != field_name(field)}
    return form | {field_name(field): text}


def untouched_form() -> dict[str, Any]:
    """What a browser sends of the form of a new profile."""
    form = {"version": "0"}
    for name, bound in ((name, SettingsForm(profile=Profile())[name]) for name in BY_NAME):
        value = bound.value()
        if value is not False:
            form[name] = "on" if value is True else str(value)
    return form


def stored(profile: Profile) -> Any:
    return Profile.objects.get(pk=profile.pk).settings


def test_the_page_has_a_part_for_each_of_the_22_keys(signed_in: Client, profile: Profile) -> None:
    parts = [part for group in signed_in.get(PAGE).context["form"].groups() for part in group.parts]
    assert sorted(part.key for part in parts) == sorted(KEYS)
    assert len(parts) == 22
    assert [field.name for part in parts for field in part.fields if field.name not in BY_NAME] == []
    assert sum(len(part.fields) for part in parts) == len(FIELDS)
    assert set(profile_labels.LABELS) | set(profile_labels.HELP) <= set(BY_NAME)


@pytest.mark.parametrize("key", KEYS)
def test_each_setting_of_a_key_goes_from_the_form_to_the_lookup_and_back(
    key: str, signed_in: Client, profile: Profile, looked_up: Callable[..., Any]
) -> None:
    fields = [field for field in FIELDS if field.key == key]
    form = filled(signed_in, PAGE, "version")
    for field in fields:
        form = typed(form, field)
    response = signed_in.post(PAGE, form)
    assert response.status_code == 302, response.context["form"].errors
    wanted = {field.name: other_value(field)[0] for field in fields}
    assert stored(profile) == {key: wanted}
    told = looked_up("profile")["profile"]["settings"]
    assert told == {**settings_schema.filled({}), key: wanted}
    signed_in.post(PAGE, filled(signed_in, PAGE, "version"))
    assert stored(profile) == {key: wanted}
    signed_in.post(f"{PAGE}{key}/reset/")
    assert stored(profile) == {}
    assert list(document_checks.differences()) == []


@pytest.mark.parametrize("name", BY_NAME)
def test_a_single_setting_changes_alone(name: str) -> None:
    field = BY_NAME[name]
    form = SettingsForm(typed(untouched_form(), field), profile=Profile())
    assert form.is_valid(), form.errors
    assert settings_schema.validated(form.chosen()) == {field.key: {field.name: other_value(field)[0]}}


def test_everything_at_once_is_saved_and_taken_back(signed_in: Client, profile: Profile) -> None:
    form = filled(signed_in, PAGE, "version")
    for field in FIELDS:
        form = typed(form, field)
    signed_in.post(PAGE, form)
    assert sum(len(values) for values in stored(profile).values()) == len(FIELDS)
    untouched = settings_schema.filled({})
    back = filled(signed_in, PAGE, "version")
    for name, field in BY_NAME.items():
        default = untouched[field.key][field.name]
        back.pop(name, None)
        if default is True:
            back[name] = "on"
        elif isinstance(default, int | float) and not isinstance(default, bool):
            back[name] = str(default)
    signed_in.post(PAGE, back)
    assert stored(profile) == {}


def test_what_the_form_cannot_say_stays_as_it_is_stored(signed_in: Client, user: User, profile: Profile) -> None:
    given = {
        "typewriterSettings": {"descriptions": ["two\nlines", " spaces "], "speed": 100.0},
        "backgroundSettings": {"effectSettings": {"a=b": "x\ny", "c": 1.0}},
        "cardSettings": {"blur": 2.50},
    }
    profiles.change(profile=profile, values={"settings": given}, by=user)
    kept = stored(profile)
    assert kept == given
    signed_in.post(PAGE, filled(signed_in, PAGE, "version") | {"textSettings.glowStrength": "7"})
    assert stored(profile) == {**kept, "textSettings": {"glowStrength": 7}}
    assert type(stored(profile)["typewriterSettings"]["speed"]) is float


WRONG = [(field, "green", "Must be a colour") for field in FIELDS if isinstance(field.rule, Color)]
WRONG += [
    (field, str(field.rule.maximum + 1), "less than or equal") for field in FIELDS if isinstance(field.rule, Number)
]
WRONG += [(field, "many", "Enter a number.") for field in FIELDS if isinstance(field.rule, Number)]
WRONG += [(field, "x" * 1001, "at most") for field in FIELDS if isinstance(field.rule, Text) and not field.rule.choices]
WRONG += [(field, "boom", "not one of the available choices") for field in FIELDS if getattr(field.rule, "choices", ())]
WRONG += [(field, "x\n" * 21, "at most 20 are allowed") for field in FIELDS if isinstance(field.rule, TextList)]
WRONG += [(field, "x" * 201, "Entry 1: Has 201 characters") for field in FIELDS if isinstance(field.rule, TextList)]
for wrong, message in (
    ("speed", "Line 1: write a name, = and a value."),
    ("a = [1, 2]", "a: Must be true or false, a number or a string."),
    ("= 2", "Name : Must not be empty."),
    ("a = 1e999", "a: Must be between"),
    (f"a = {'x' * 201}", "a: Has 201 characters"),
):
    WRONG += [(field, wrong, message) for field in FIELDS if isinstance(field.rule, FlatObject)]


@pytest.mark.parametrize(("field", "value", "message"), WRONG, ids=[f"{field_name(row[0])}-{row[2]}" for row in WRONG])
def test_a_value_that_breaks_its_rule_is_told_at_its_field(field: Field, value: str, message: str) -> None:
    form = SettingsForm(untouched_form() | {field_name(field): value}, profile=Profile())
    assert not form.is_valid()
    assert list(form.errors) == [field_name(field)]
    assert message in form.errors[field_name(field)][0]
    part = next(part for group in form.groups() for part in group.parts if part.key == field.key)
    assert part.is_open


def test_a_refused_value_saves_nothing_and_opens_its_part(signed_in: Client, profile: Profile) -> None:
    form = filled(signed_in, PAGE, "version")
    response = signed_in.post(PAGE, form | {"cardSettings.blur": "101", "badgesSettings.glow": "on"})
    assert "Nothing has been saved" in said(response)
    assert "Ensure this value is less than or equal to 100." in said(response)
    assert page_of(response).xpath("//details[@open]/@id") == ["cardSettings"]
    assert response.context["form"]["badgesSettings.glow"].value() is True
    assert stored(profile) == {}


def test_a_stale_form_saves_nothing(signed_in: Client, user: User, profile: Profile) -> None:
    form = filled(signed_in, PAGE, "version")
    profiles.change(profile=profile, values={"location": "Oslo"}, by=user)
    response = signed_in.post(PAGE, form | {"cardSettings.blur": "7"})
    assert versions.CHANGED in said(response)
    assert response.context["form"]["cardSettings.blur"].value() == "7"
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
