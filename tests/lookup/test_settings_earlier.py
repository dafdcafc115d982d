"""The earlier form's profile and the leaderboard's: each style field that document 2 lists comes from one setting."""

from typing import Any

import pytest

from lookup import settings_schema
from lookup.settings_schema import FIELDS

# Document 2, typed by hand: the table is checked against it, never it against the table.
PREFIXED = {
    "Customization": bool,
    "AccentColor": str,
    "Opacity": float,
    "BorderCustomization": bool,
    "BorderColor": str,
    "BorderWidth": float,
    "BorderRadius": float,
    "BorderOpacity": float,
}
CHAT_PRESENCE = (
    "chatPresence chatPresenceStatus chatPresenceDecoration chatPresenceClan chatPresenceBadges chatPresenceImage "
    "chatPresenceDetails"
)
EARLIER: dict[str, type] = {
    **dict.fromkeys("backgroundEffect chatPresenceLeft chatPresenceRight".split(), str),
    **dict.fromkeys("profileTitle profileDescription profileColor profileAnimation profileEnterAnimation".split(), str),
    **dict.fromkeys("cursorEffect cursorEffectColor animatedTitleType".split(), str),
    **dict.fromkeys("projectsMode projectsTitle projectsDescription".split(), str),
    **dict.fromkeys("aboutMeTextColor projectsTextColor skillsTextColor".split(), str),
    "backgroundEffectSettings": dict,
    "typewriterDescriptions": list,
    **{f"{part}{end}": kind for part in "aboutMe presence projects skills".split() for end, kind in PREFIXED.items()},
    **dict.fromkeys("aboutMeEnabled skillsEnabled".split(), bool),
    **dict.fromkeys(CHAT_PRESENCE.split(), bool),
    **dict.fromkeys("profileAvatarEnabled profileUsernameEnabled profileLinkEnabled".split(), bool),
    **dict.fromkeys("typewriterEnabled cursorEffectEnabled animatedTitle".split(), bool),
    **dict.fromkeys("typewriterSpeed typewriterDeleteSpeed typewriterDelay".split(), float),
    **dict.fromkeys("badgeGlowStrength iconGlowStrength textGlowStrength".split(), float),
}
LEADERBOARD: dict[str, type] = {
    **dict.fromkeys(CHAT_PRESENCE.split(), bool),
    **dict.fromkeys("profileBlur profileOpacity gradientAngle borderWidth borderRadius borderOpacity".split(), float),
    **dict.fromkeys("badgeGlowStrength iconGlowStrength textGlowStrength".split(), float),
    **dict.fromkeys("backgroundEffect decoration usernameEffect accentColor textColor backgroundColor".split(), str),
    **dict.fromkeys("iconColor primaryColor secondaryColor enterText badgeColor borderColor".split(), str),
    **dict.fromkeys("profileTitle profileDescription profileColor cursorEffect cursorEffectColor".split(), str),
    **dict.fromkeys("Gradient volumeControl parallax badgeMonochrome badgeGlow borderEnabled".split(), bool),
    **dict.fromkeys("viewsEnabled iconGlow iconMonochrome shuffleAudio audioPlayer typewriterEnabled".split(), bool),
    **dict.fromkeys("cursorEffectEnabled profileFeedback animatedTitle".split(), bool),
    "typewriterDescriptions": list,
}
# A value of each type that is nobody's default.
OTHER = {bool: True, float: 7.5, str: "#1b5e4b", list: ["one", "two"], dict: {"speed": 2, "dark": True, "kind": "x"}}
CHOSEN = {"usernameEffect": "rainbow", "profileEnterAnimation": "flash"}


def other_values(documented: dict[str, type]) -> dict[str, Any]:
    values: dict[str, Any] = {name: OTHER[kind] for name, kind in documented.items()}
    return values | {name: value for name, value in CHOSEN.items() if name in values}


def test_no_setting_stands_twice_and_no_earlier_field_comes_from_two_settings() -> None:
    assert len({(field.key, field.name) for field in FIELDS}) == len(FIELDS)
    for names in ([f.earlier for f in FIELDS if f.earlier], [f.leaderboard for f in FIELDS if f.leaderboard]):
        assert len(set(names)) == len(names)
    for field in FIELDS:
        if field.leaderboard in EARLIER:  # the two profiles call it the same
            assert field.earlier == field.leaderboard


def test_the_earlier_profile_has_the_documented_style_fields_and_no_others() -> None:
    profile = settings_schema.earlier_profile(settings_schema.filled({}))
    assert sorted(profile) == sorted(EARLIER)


def test_the_leaderboard_profile_has_the_documented_style_fields_and_no_others() -> None:
    profile = settings_schema.leaderboard_profile(settings_schema.filled({}))
    assert sorted(profile) == sorted(LEADERBOARD)


@pytest.mark.parametrize(("name", "kind"), EARLIER.items(), ids=EARLIER)
def test_an_earlier_field_has_its_documented_type_and_comes_back(name: str, kind: type) -> None:
    has_documented_type(settings_schema.earlier_profile(settings_schema.filled({}))[name], kind)
    value = CHOSEN.get(name, OTHER[kind])
    settings = settings_schema.filled(settings_schema.validated(settings_schema.from_earlier({name: value})))
    assert settings_schema.earlier_profile(settings)[name] == value


@pytest.mark.parametrize(("name", "kind"), LEADERBOARD.items(), ids=LEADERBOARD)
def test_a_leaderboard_field_has_its_documented_type_and_comes_back(name: str, kind: type) -> None:
    has_documented_type(settings_schema.leaderboard_profile(settings_schema.filled({}))[name], kind)
    value = CHOSEN.get(name, OTHER[kind])
    settings = settings_schema.filled(settings_schema.validated(settings_schema.from_earlier({name: value})))
    assert settings_schema.leaderboard_profile(settings)[name] == value


def has_documented_type(value: object, kind: type) -> None:
    if kind is float:
        assert isinstance(value, int | float)
        assert not isinstance(value, bool)
    else:
        assert type(value) is kind


def test_whole_earlier_profiles_come_back_with_every_value() -> None:
    earlier, leaderboard = other_values(EARLIER), other_values(LEADERBOARD)
    for given in (earlier, leaderboard, earlier | leaderboard):
        settings = settings_schema.filled(settings_schema.validated(settings_schema.from_earlier(given)))
        shown = settings_schema.earlier_profile(settings) | settings_schema.leaderboard_profile(settings)
        assert {name: shown[name] for name in given} == given


def test_a_field_of_both_earlier_forms_is_one_setting() -> None:
    settings = settings_schema.filled({"cursorSettings": {"effect": "sparkle"}})
    assert settings_schema.earlier_profile(settings)["cursorEffect"] == "sparkle"
    assert settings_schema.leaderboard_profile(settings)["cursorEffect"] == "sparkle"


def test_fields_of_the_earlier_profiles_that_are_no_settings_are_left_out() -> None:
    fields = {"userId": 7, "avatar": "https://cdn.example.org/a.png", "theme": "dark", "font": "x", "parallax": True}
    assert settings_schema.from_earlier(fields) == {"cardSettings": {"parallax": True}}
    assert settings_schema.from_earlier({}) == {}
