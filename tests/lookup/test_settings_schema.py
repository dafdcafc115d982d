"""The 22 settings: what may be stored, what is answered, how it is described, and what the earlier profiles call it."""

import json
from collections.abc import Sequence

import pytest
from django.core.exceptions import ValidationError
from jsonschema import Draft202012Validator

from lookup.shapes import settings_schema
from lookup.shapes.settings_schema import FIELDS, Field
from lookup.shapes.strict_fields import Boolean, Color, FlatObject, Number, Rule, Text, TextList
from tests.lookup.expected import SETTINGS

NOT_STORABLE = ["a\x00b", "a\ud800b", "\udfff"]
OUT_OF_ALL_BOUNDS = [float("nan"), float("inf"), float("-inf"), 10**400, -(10**400)]


def path(field: Field) -> str:
    return f"{field.key}.{field.name}"


def fields_of(rule: type) -> list[Field]:
    return [field for field in FIELDS if isinstance(field.rule, rule)]


def refusal(given: object) -> dict[str, list[str]]:
    with pytest.raises(ValidationError) as refused:
        settings_schema.validated(given)
    return dict(refused.value.message_dict)


# --- Rules ---


def check_rule(rule: Rule, accepted: Sequence[object], refused: Sequence[object]) -> None:
    assert [value for value in accepted if rule.problem_of(value) is not None] == []
    assert [value for value in refused if rule.problem_of(value) is None] == []


def test_a_switch_takes_true_and_false_alone() -> None:
    check_rule(Boolean(), [True, False], [0, 1, 1.0, "true", "", None, [], {}])


def test_a_number_stays_within_its_bounds() -> None:
    wrong: list[object] = [-1, 11, -0.001, 10.001, True, None, "1", [1], {"n": 1}, *OUT_OF_ALL_BOUNDS]
    check_rule(Number(0, 10), [0, 10, 0.0, 10.0, 0.5], wrong)


def test_a_text_has_its_length_or_is_one_of_its_choices() -> None:
    wrong: list[object] = [*NOT_STORABLE, None, 1, ["x"], {"x": "y"}]
    check_rule(Text(3), ["", "ééé", "\U0001f600"], [*wrong, "xxxx", "a\nb", "\u202ea"])
    check_rule(Text(3, is_long=True), ["a\nb", "\t"], [*wrong, "xxxx", "a\x07", "\u202ea"])
    check_rule(Text(3, min_length=1), ["x"], [*wrong, ""])
    check_rule(Text(9, choices=("", "glow")), ["", "glow"], [*wrong, "other", "GLOW", " "])


def test_a_color_has_three_six_or_eight_digits_or_is_empty() -> None:
    wrong: list[object] = [
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
        None,
        0,
        [],
    ]
    check_rule(Color(), ["", "#fff", "#1B5e4b", "#1b5e4b80"], [*wrong, "#\uff11\uff11\uff11", "#fff;x:url(//e)"])


def test_a_list_of_texts_is_bounded() -> None:
    rule = TextList(max_items=2, max_length=3)
    wrong: list[object] = [
        "abc",
        None,
        {"0": "a"},
        ["xxxx"],
        ["x"] * 3,
        [1],
        [None],
        [["x"]],
        *([text] for text in NOT_STORABLE),
    ]
    check_rule(rule, [[], [""], ["a", "a"], ["xxx"]], wrong)
    assert rule.problem_of(["a", 2]) == "Entry 2: Must be a string."


def test_effect_settings_are_a_flat_bounded_object() -> None:
    nested: list[object] = []
    for _ in range(5000):
        nested = [nested]
    accepted = [{}, {"a": 1, "b": 1.5}, {"c": True, "d": ""}, {"n" * 64: "xxx"}, {"a": 2**53 - 1}]
    values: tuple[object, ...] = (*OUT_OF_ALL_BOUNDS, *NOT_STORABLE, None, [], {}, nested, "xxxx", 2**53)
    names = (*NOT_STORABLE, "", "n" * 65, 1)
    wrong: list[object] = [
        [],
        "x",
        None,
        {"a": 1, "b": 2, "c": 3},
        *({"a": value} for value in values),
        *({n: 1} for n in names),
    ]
    check_rule(FlatObject(max_entries=2, max_length=3), accepted, wrong)


# --- The table ---


def test_the_keys_are_the_decided_ones_in_their_order() -> None:
    assert list(settings_schema.KEYS) == list(SETTINGS)
    filled = settings_schema.filled({})
    assert {key: list(fields) for key, fields in filled.items()} == {key: list(SETTINGS[key]) for key in SETTINGS}
    assert len({(field.key, field.name) for field in FIELDS}) == len(FIELDS)


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
    assert [field.default for field in [*fields_of(TextList), *fields_of(FlatObject)]] == [[], {}]


# The least, the most and the default of each number; other names are of settings whose name is theirs alone.
NUMBERS = {
    "opacity": (0, 100, 100),
    "borderOpacity": (0, 100, 100),
    "borderWidth": (0, 20, 1),
    "borderRadius": (0, 100, 16),
    "badgesSettings.glowStrength": (0, 100, 50),
    "linksSettings.glowStrength": (0, 100, 50),
    "textSettings.glowStrength": (0, 100, 0),
    "gradientAngle": (0, 360, 180),
    "blur": (0, 100, 0),
    "speed": (1, 60_000, 100),
    "deleteSpeed": (1, 60_000, 50),
    "delay": (1, 60_000, 2000),
}


@pytest.mark.parametrize("field", fields_of(Number), ids=path)
def test_a_number_has_its_bounds_and_its_default(field: Field) -> None:
    assert isinstance(field.rule, Number)
    expected = NUMBERS.get(path(field)) or NUMBERS[field.name]
    assert (field.rule.minimum, field.rule.maximum, field.default) == expected


def test_texts_have_their_lengths_and_choices() -> None:
    lengths = {path(field): field.rule.max_length for field in fields_of(Text) if isinstance(field.rule, Text)}
    assert sorted(set(lengths.values())) == [16, 64, 200, 1000]
    long = {"metadataSettings.description", "projectsSettings.description"}
    assert {name for name, length in lengths.items() if length == 1000} == long
    enter = refusal({"enterSettings": {"animation": "fly"}})
    assert enter == {"enterSettings.animation": ["Must be one of: (empty), reveal, split, flash."]}


# --- What is stored and answered ---


def test_a_complete_object_comes_back_as_it_was_given() -> None:
    given = settings_schema.filled(SETTINGS)
    given["cardSettings"] |= {"blur": 1, "opacity": 1.5, "borderWidth": 1.0, "borderColor": "#ABCDEF80"}
    kept = settings_schema.filled(settings_schema.validated(given))
    assert json.dumps(kept) == json.dumps(given)  # 1 stays 1, 1.0 stays 1.0, and the order too


def test_what_differs_from_the_defaults_is_stored_and_nothing_else() -> None:
    given = settings_schema.filled({"viewsSettings": {"enabled": False}, "cardSettings": {"blur": 4}})
    assert settings_schema.validated(given) == {"cardSettings": {"blur": 4}, "viewsSettings": {"enabled": False}}
    assert settings_schema.validated(settings_schema.filled({})) == settings_schema.validated({}) == {}


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


def test_every_problem_is_named_at_its_path() -> None:
    given = {
        "gone": {},
        "viewsSettings": [],
        "cardSettings": {"blur": -1, "shadow": 1, "opacity": 10, "é\x00": 1},
        "colorsSettings": {"textColor": "red"},
        "\ud800" + "x" * 5000: {},
        7: {},
    }
    assert refusal(given) == {
        "gone": ["Unknown setting."],
        "viewsSettings": ["Must be an object."],
        "cardSettings.blur": ["Must be between 0 and 100."],
        "cardSettings.shadow": ["Unknown setting."],
        "cardSettings.\\xe9\x00": ["Unknown setting."],
        "colorsSettings.textColor": ["Must be a color such as #1b5e4b (#RGB, #RRGGBB or #RRGGBBAA), or empty."],
        "\\ud800" + "x" * 63: ["Unknown setting."],
        "7": ["Unknown setting."],
    }
    no_objects: tuple[object, ...] = (None, [], "cardSettings", 1)
    for no_object in no_objects:
        assert refusal(no_object) == {"settings": ["Must be an object."]}


def test_the_json_schema_describes_what_is_answered() -> None:
    schema = settings_schema.json_schema()
    validator = Draft202012Validator(schema)
    assert validator.is_valid(settings_schema.filled({}))
    assert validator.is_valid(settings_schema.filled(SETTINGS))
    assert not validator.is_valid(settings_schema.filled({}) | {"cardSettings": {}})
    parts = {key: part["properties"] for key, part in schema["properties"].items()}
    assert parts["viewsSettings"] == {"enabled": {"type": "boolean", "default": True}}
    assert parts["textSettings"] == {"glowStrength": {"type": "number", "minimum": 0, "maximum": 100, "default": 0}}
    assert parts["animationSettings"] == {"type": {"type": "string", "maxLength": 64, "default": ""}}
    choices = {"type": "string", "enum": ["", "reveal", "split", "flash"], "default": ""}
    assert parts["enterSettings"]["animation"] == choices
