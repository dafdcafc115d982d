"""The 22 settings: what may be stored, what is answered, and how it is described."""

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from lookup import settings_schema
from lookup.settings_schema import FIELDS, Field
from lookup.values import Boolean, Color, FlatObject, Number, Text, TextList

# The decision on the keys, typed by hand.
DECIDED_KEYS = (
    "badgesSettings linksSettings colorsSettings cardSettings textSettings usernameSettings avatarSettings "
    "backgroundSettings cursorSettings audioSettings enterSettings animationSettings typewriterSettings titleSettings "
    "metadataSettings presenceSettings aboutMeSettings skillsSettings projectsSettings viewsSettings feedbackSettings "
    "commentsSettings"
).split()

NOT_STORABLE = ["a\x00b", "a\ud800b", "\udfff"]
NOT_NUMBERS = [True, False, None, "1", [1], {"n": 1}]
OUT_OF_ALL_BOUNDS = [float("nan"), float("inf"), float("-inf"), 10**400, -(10**400), 2**63]
OUT_OF_ALL_BOUNDS_IDS = ["nan", "inf", "-inf", "10**400", "-10**400", "2**63"]


def fields_of(rule: type) -> list[Field]:
    return [field for field in FIELDS if isinstance(field.rule, rule)]


def path(field: Field) -> str:
    return f"{field.key}.{field.name}"


def stored(field: Field, value: object) -> dict[str, dict[str, Any]]:
    return settings_schema.validated({field.key: {field.name: value}})


def refusal(given: object) -> dict[str, list[str]]:
    with pytest.raises(ValidationError) as refused:
        settings_schema.validated(given)
    return dict(refused.value.message_dict)


def is_accepted_and_kept(field: Field, value: object) -> bool:
    kept = settings_schema.filled(stored(field, value))[field.key][field.name]
    return type(kept) is type(value) and kept == value


def is_refused(field: Field, value: object) -> bool:
    """By `validated` with a sentence at the path; and `filled` shows the default for one that got stored."""
    sentences = refusal({field.key: {field.name: value}})
    shown = settings_schema.filled({field.key: {field.name: value}})[field.key][field.name]
    return list(sentences) == [path(field)] and bool(sentences[path(field)][0]) and shown == field.default


def all_are_refused(field: Field, *values: object) -> bool:
    return all(is_refused(field, value) for value in values)


def everything_changed() -> dict[str, dict[str, Any]]:
    """A complete object without one default in it."""
    settings = settings_schema.filled({})
    for field in FIELDS:
        value: Any = not field.default
        if isinstance(field.rule, Number):
            value = 7.5
        elif isinstance(field.rule, Text):
            value = field.rule.choices[1] if field.rule.choices else "other"
        elif isinstance(field.rule, Color):
            value = "#1b5e4b"
        elif isinstance(field.rule, TextList):
            value = ["one", "two"]
        elif isinstance(field.rule, FlatObject):
            value = {"speed": 2, "dark": True, "kind": "x"}
        settings[field.key][field.name] = value
    return settings


def test_the_keys_are_the_decided_ones_in_their_order() -> None:
    assert list(settings_schema.KEYS) == DECIDED_KEYS
    assert list(settings_schema.filled({})) == DECIDED_KEYS


@pytest.mark.parametrize("field", FIELDS, ids=path)
def test_a_default_is_valid_and_is_not_stored(field: Field) -> None:
    assert stored(field, field.default) == {}


def test_every_switch_that_shows_something_is_on_and_every_effect_is_off() -> None:
    on = {path(field) for field in fields_of(Boolean) if field.default}
    assert on == {
        *("linksSettings.enabled", "usernameSettings.enabled", "avatarSettings.enabled", "audioSettings.player"),
        *("audioSettings.volumeControl", "presenceSettings.enabled", "presenceSettings.status"),
        *("presenceSettings.decoration", "presenceSettings.clan", "presenceSettings.badges", "presenceSettings.image"),
        *("presenceSettings.details", "aboutMeSettings.enabled", "skillsSettings.enabled", "viewsSettings.enabled"),
        *("feedbackSettings.enabled", "commentsSettings.enabled"),
    }
    assert {field.default for field in [*fields_of(Text), *fields_of(Color)]} == {""}


def test_a_complete_object_comes_back_as_it_was_given() -> None:
    given = everything_changed()
    given["cardSettings"] |= {"blur": 1, "opacity": 1.5, "borderWidth": 1.0, "borderColor": "#ABCDEF80"}
    given["avatarSettings"]["mirrorChat"] = True
    stored_settings = settings_schema.validated(given)
    kept = settings_schema.filled(stored_settings)
    assert kept == given
    assert stored_settings == given  # nothing in it is a default
    assert json.dumps(kept) == json.dumps(given)  # 1 stays 1, 1.0 stays 1.0, and the order too


def test_what_differs_from_the_defaults_is_stored_and_nothing_else() -> None:
    given = settings_schema.filled({"viewsSettings": {"enabled": False}, "cardSettings": {"blur": 4}})
    assert settings_schema.validated(given) == {"cardSettings": {"blur": 4}, "viewsSettings": {"enabled": False}}
    assert settings_schema.validated(settings_schema.filled({})) == {}
    assert settings_schema.validated({}) == {}


def test_a_stored_row_never_breaks_the_answer() -> None:
    row = {
        "gone": {"x": 1},
        "viewsSettings": "no object",
        "feedbackSettings": None,
        "cardSettings": {"blur": "thick", "gone": 1, "opacity": 50},
    }
    expected = settings_schema.filled({})
    expected["cardSettings"]["opacity"] = 50
    assert settings_schema.filled(row) == expected


def test_answers_share_nothing_that_can_be_changed() -> None:
    first = settings_schema.filled({})
    first["typewriterSettings"]["descriptions"].append("mine")
    first["backgroundSettings"]["effectSettings"]["speed"] = 1
    first["cardSettings"]["blur"] = 9
    schema = settings_schema.json_schema()["properties"]["typewriterSettings"]["properties"]["descriptions"]
    schema["default"].append("mine")
    second = settings_schema.filled({})
    assert second["typewriterSettings"]["descriptions"] == []
    assert second["backgroundSettings"]["effectSettings"] == {}
    assert second["cardSettings"]["blur"] == 0
    given = ["mine"]
    kept = settings_schema.validated({"typewriterSettings": {"descriptions": given}})
    given.append("later")
    assert kept == {"typewriterSettings": {"descriptions": ["mine"]}}


def test_every_problem_is_told_at_its_path() -> None:
    given = {
        "gone": {},
        "viewsSettings": [],
        "cardSettings": {"blur": -1, "shadow": 1, "opacity": 10},
        "colorsSettings": {"textColor": "red"},
        "usernameSettings": {"effect": "laser"},
        7: {},
    }
    assert refusal(given) == {
        "gone": ["Unknown setting."],
        "viewsSettings": ["Must be an object."],
        "cardSettings.blur": ["Must be between 0 and 100."],
        "cardSettings.shadow": ["Unknown setting."],
        "colorsSettings.textColor": ["Must be a colour such as #1b5e4b (#RGB, #RRGGBB or #RRGGBBAA), or empty."],
        "usernameSettings.effect": [
            "Must be one of: (empty), glow, typewriter, particle, rainbow, gradient, fuzzy.",
        ],
        "7": ["Unknown setting."],
    }


@pytest.mark.parametrize("given", [None, [], "cardSettings", 1, True])
def test_settings_that_are_no_object_are_refused(given: object) -> None:
    assert refusal(given) == {"settings": ["Must be an object."]}


def test_a_hostile_name_is_told_short_and_in_ascii() -> None:
    assert refusal({"\ud800" + "x" * 5000: {}}) == {"\\ud800" + "x" * 63: ["Unknown setting."]}
    assert refusal({"cardSettings": {"é\x00": 1}}) == {"cardSettings.\\xe9\x00": ["Unknown setting."]}


@pytest.mark.parametrize("field", fields_of(Boolean), ids=path)
def test_a_switch_takes_true_and_false_alone(field: Field) -> None:
    assert all(is_accepted_and_kept(field, value) for value in (True, False))
    assert all_are_refused(field, 0, 1, 1.0, "true", "", None, [], {})


@pytest.mark.parametrize("field", fields_of(Number), ids=path)
def test_a_number_stays_within_its_bounds_and_keeps_its_kind(field: Field) -> None:
    assert isinstance(field.rule, Number)
    low, high = field.rule.minimum, field.rule.maximum
    assert low < high
    assert all(is_accepted_and_kept(field, value) for value in (low, high, float(low), float(high), low + 0.5))
    assert all_are_refused(field, low - 1, high + 1, low - 0.001, high + 0.001)
    assert all_are_refused(field, *NOT_NUMBERS)


@pytest.mark.parametrize("value", OUT_OF_ALL_BOUNDS, ids=OUT_OF_ALL_BOUNDS_IDS)
def test_infinite_and_huge_numbers_are_refused_by_every_number(value: float) -> None:
    assert all(is_refused(field, value) for field in fields_of(Number))


@pytest.mark.parametrize("field", fields_of(Text), ids=path)
def test_a_string_has_its_length_or_is_one_of_its_choices(field: Field) -> None:
    assert isinstance(field.rule, Text)
    if field.rule.choices:
        assert all(is_accepted_and_kept(field, choice) for choice in field.rule.choices)
        assert all_are_refused(field, "other", field.rule.choices[1].upper(), " ")
    else:
        length = field.rule.max_length
        assert all(is_accepted_and_kept(field, value) for value in ("", "é" * length, "\U0001f600", "line\nline"))
        assert is_refused(field, "x" * (length + 1))
    assert all_are_refused(field, *NOT_STORABLE, None, 1, ["x"], {"x": "y"})


@pytest.mark.parametrize("field", fields_of(Color), ids=path)
def test_a_colour_has_three_six_or_eight_digits_or_is_empty(field: Field) -> None:
    assert all(is_accepted_and_kept(field, value) for value in ("", "#fff", "#1B5e4b", "#1b5e4b80"))
    wrong = [
        "#",
        "fff",
        "#ffff",
        "#fffff",
        "#fffffff",
        "#fffffffff",
        "#ggg",
        "red",
        "#fff\n",
        " #fff",
        "#\uff11\uff11\uff11",
    ]
    assert all_are_refused(field, *wrong, *NOT_STORABLE, "#fff;x:url(//e)", None, 0, [], {})


def test_typewriter_lines_are_a_bounded_list_of_strings() -> None:
    (field,) = fields_of(TextList)
    assert path(field) == "typewriterSettings.descriptions"
    assert all(is_accepted_and_kept(field, value) for value in ([], ["a"], ["", "a", "a"], ["x" * 200] * 20))
    assert all_are_refused(field, ["x" * 201], ["x"] * 21, [1], [None], [["x"]], [{}])
    assert all(is_refused(field, [value]) for value in NOT_STORABLE)
    assert all_are_refused(field, "abc", None, {"0": "a"}, 1)
    sentence = "Entry 2: Must be a string."
    assert refusal({"typewriterSettings": {"descriptions": ["a", 2]}}) == {
        "typewriterSettings.descriptions": [sentence]
    }


def test_effect_settings_are_a_flat_bounded_object_of_scalars() -> None:
    (field,) = fields_of(FlatObject)
    assert path(field) == "backgroundSettings.effectSettings"
    accepted = [{}, {"a": 1, "b": 1.5, "c": True, "d": "", "e": -3}, {"n" * 64: "x" * 200}]
    assert all(is_accepted_and_kept(field, value) for value in accepted)
    assert is_accepted_and_kept(field, {str(i): i for i in range(50)})
    assert is_refused(field, {str(i): i for i in range(51)})
    nested: list[object] = []
    for _ in range(5000):
        nested = [nested]
    for value in (*OUT_OF_ALL_BOUNDS, *NOT_STORABLE, None, [], {}, {"b": 1}, nested, "x" * 201, 2**53):
        assert is_refused(field, {"a": value})
    assert all(is_refused(field, {name: 1}) for name in (*NOT_STORABLE, "", "n" * 65, 1))
    assert all_are_refused(field, [], "x", 1, None, [["a", 1]])
