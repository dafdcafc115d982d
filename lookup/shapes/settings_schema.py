"""The settings objects of a profile: the table of all of them, which is the one place that names them, and its rules.

Source: docs/spec/lookup.md, "Current lookup", "Earlier forms" and "Leaderboards". Every style field of the two earlier
profiles is in exactly one row. An untouched profile shows what it has, without effects, in the usual colors. A
row of the database stores what differs from the defaults; an answer shows everything. Any is JSON throughout.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

from lookup.shapes.strict_fields import Boolean, Color, FlatObject, Number, SchemaRule, Text, TextList, path_of

USERNAME_EFFECTS = ("", "glow", "typewriter", "particle", "rainbow", "gradient", "fuzzy")
ENTER_ANIMATIONS = ("", "reveal", "split", "flash")

_FLAG = Boolean()
_COLOR = Color()
_PERCENT = Number(0, 100)
_WIDTH = Number(0, 20)  # pixels, as are radius and blur
_RADIUS = Number(0, 100)
_BLUR = Number(0, 100)
_ANGLE = Number(0, 360)
_MILLISECONDS = Number(1, 60_000)
_NAME = Text(64)  # of an effect or a mode; the pages show nothing for one they do not know
_LINE = Text(200)
_PARAGRAPH = Text(1000, is_long=True)
_LINES = TextList(max_items=20, max_length=200)
_USERNAME_EFFECT = Text(16, choices=USERNAME_EFFECTS)
_ENTER_ANIMATION = Text(16, choices=ENTER_ANIMATIONS)
_EFFECT_SETTINGS = FlatObject(max_entries=50, max_length=200)


@dataclass(frozen=True, slots=True)
class Field:
    """One setting. `default` is JSON; `earlier` and `leaderboard` are its names in those profiles, empty for none."""

    key: str
    name: str
    rule: SchemaRule
    default: Any
    earlier: str = ""
    leaderboard: str = ""


def _shared(key: str, name: str, rule: SchemaRule, *, default: Any, old: str) -> Field:
    """Return a setting that both earlier profiles have, under one name."""
    return Field(key, name, rule, default, earlier=old, leaderboard=old)


def _customization(key: str, prefix: str) -> Iterator[Field]:
    """Yield the eight fields that the earlier form has for each of four parts of the page."""
    yield Field(key, "customization", _FLAG, default=False, earlier=f"{prefix}Customization")
    yield Field(key, "accentColor", _COLOR, default="", earlier=f"{prefix}AccentColor")
    yield Field(key, "opacity", _PERCENT, default=100, earlier=f"{prefix}Opacity")
    yield Field(key, "borderCustomization", _FLAG, default=False, earlier=f"{prefix}BorderCustomization")
    yield Field(key, "borderColor", _COLOR, default="", earlier=f"{prefix}BorderColor")
    yield Field(key, "borderWidth", _WIDTH, default=1, earlier=f"{prefix}BorderWidth")
    yield Field(key, "borderRadius", _RADIUS, default=16, earlier=f"{prefix}BorderRadius")
    yield Field(key, "borderOpacity", _PERCENT, default=100, earlier=f"{prefix}BorderOpacity")


FIELDS: tuple[Field, ...] = (
    Field("badgesSettings", "color", _COLOR, default="", leaderboard="badgeColor"),
    Field("badgesSettings", "monochrome", _FLAG, default=False, leaderboard="badgeMonochrome"),
    Field("badgesSettings", "glow", _FLAG, default=False, leaderboard="badgeGlow"),
    _shared("badgesSettings", "glowStrength", _PERCENT, default=50, old="badgeGlowStrength"),
    Field("badgesSettings", "border", _FLAG, default=False),
    Field("badgesSettings", "scroll", _FLAG, default=False),
    Field("linksSettings", "enabled", _FLAG, default=True, earlier="profileLinkEnabled"),
    Field("linksSettings", "monochrome", _FLAG, default=False, leaderboard="iconMonochrome"),
    Field("linksSettings", "glow", _FLAG, default=False, leaderboard="iconGlow"),
    _shared("linksSettings", "glowStrength", _PERCENT, default=50, old="iconGlowStrength"),
    Field("colorsSettings", "accentColor", _COLOR, default="", leaderboard="accentColor"),
    Field("colorsSettings", "textColor", _COLOR, default="", leaderboard="textColor"),
    Field("colorsSettings", "backgroundColor", _COLOR, default="", leaderboard="backgroundColor"),
    Field("colorsSettings", "iconColor", _COLOR, default="", leaderboard="iconColor"),
    Field("colorsSettings", "primaryColor", _COLOR, default="", leaderboard="primaryColor"),
    Field("colorsSettings", "secondaryColor", _COLOR, default="", leaderboard="secondaryColor"),
    Field("colorsSettings", "gradient", _FLAG, default=False, leaderboard="Gradient"),
    Field("colorsSettings", "gradientAngle", _ANGLE, default=180, leaderboard="gradientAngle"),
    Field("cardSettings", "blur", _BLUR, default=0, leaderboard="profileBlur"),
    Field("cardSettings", "opacity", _PERCENT, default=100, leaderboard="profileOpacity"),
    Field("cardSettings", "border", _FLAG, default=False, leaderboard="borderEnabled"),
    Field("cardSettings", "borderColor", _COLOR, default="", leaderboard="borderColor"),
    Field("cardSettings", "borderWidth", _WIDTH, default=1, leaderboard="borderWidth"),
    Field("cardSettings", "borderRadius", _RADIUS, default=16, leaderboard="borderRadius"),
    Field("cardSettings", "borderOpacity", _PERCENT, default=100, leaderboard="borderOpacity"),
    Field("cardSettings", "parallax", _FLAG, default=False, leaderboard="parallax"),
    _shared("textSettings", "glowStrength", _PERCENT, default=0, old="textGlowStrength"),
    Field("usernameSettings", "enabled", _FLAG, default=True, earlier="profileUsernameEnabled"),
    Field("usernameSettings", "effect", _USERNAME_EFFECT, default="", leaderboard="usernameEffect"),
    Field("avatarSettings", "enabled", _FLAG, default=True, earlier="profileAvatarEnabled"),
    Field("avatarSettings", "decoration", _LINE, default="", leaderboard="decoration"),
    Field("avatarSettings", "mirrorChat", _FLAG, default=False),
    _shared("backgroundSettings", "effect", _NAME, default="", old="backgroundEffect"),
    Field("backgroundSettings", "effectSettings", _EFFECT_SETTINGS, default={}, earlier="backgroundEffectSettings"),
    _shared("cursorSettings", "effectEnabled", _FLAG, default=False, old="cursorEffectEnabled"),
    _shared("cursorSettings", "effect", _NAME, default="", old="cursorEffect"),
    _shared("cursorSettings", "effectColor", _COLOR, default="", old="cursorEffectColor"),
    Field("audioSettings", "player", _FLAG, default=True, leaderboard="audioPlayer"),
    Field("audioSettings", "shuffle", _FLAG, default=False, leaderboard="shuffleAudio"),
    Field("audioSettings", "volumeControl", _FLAG, default=True, leaderboard="volumeControl"),
    Field("enterSettings", "text", _LINE, default="", leaderboard="enterText"),
    Field("enterSettings", "animation", _ENTER_ANIMATION, default="", earlier="profileEnterAnimation"),
    Field("animationSettings", "type", _NAME, default="", earlier="profileAnimation"),
    _shared("typewriterSettings", "enabled", _FLAG, default=False, old="typewriterEnabled"),
    _shared("typewriterSettings", "descriptions", _LINES, default=[], old="typewriterDescriptions"),
    Field("typewriterSettings", "speed", _MILLISECONDS, default=100, earlier="typewriterSpeed"),
    Field("typewriterSettings", "deleteSpeed", _MILLISECONDS, default=50, earlier="typewriterDeleteSpeed"),
    Field("typewriterSettings", "delay", _MILLISECONDS, default=2000, earlier="typewriterDelay"),
    _shared("titleSettings", "animated", _FLAG, default=False, old="animatedTitle"),
    Field("titleSettings", "type", _NAME, default="", earlier="animatedTitleType"),
    _shared("metadataSettings", "title", _LINE, default="", old="profileTitle"),
    _shared("metadataSettings", "description", _PARAGRAPH, default="", old="profileDescription"),
    _shared("metadataSettings", "color", _COLOR, default="", old="profileColor"),
    _shared("presenceSettings", "enabled", _FLAG, default=True, old="chatPresence"),
    _shared("presenceSettings", "status", _FLAG, default=True, old="chatPresenceStatus"),
    _shared("presenceSettings", "decoration", _FLAG, default=True, old="chatPresenceDecoration"),
    _shared("presenceSettings", "clan", _FLAG, default=True, old="chatPresenceClan"),
    _shared("presenceSettings", "badges", _FLAG, default=True, old="chatPresenceBadges"),
    _shared("presenceSettings", "image", _FLAG, default=True, old="chatPresenceImage"),
    _shared("presenceSettings", "details", _FLAG, default=True, old="chatPresenceDetails"),
    Field("presenceSettings", "left", _LINE, default="", earlier="chatPresenceLeft"),
    Field("presenceSettings", "right", _LINE, default="", earlier="chatPresenceRight"),
    *_customization("presenceSettings", "presence"),
    Field("aboutMeSettings", "enabled", _FLAG, default=True, earlier="aboutMeEnabled"),
    Field("aboutMeSettings", "textColor", _COLOR, default="", earlier="aboutMeTextColor"),
    *_customization("aboutMeSettings", "aboutMe"),
    Field("skillsSettings", "enabled", _FLAG, default=True, earlier="skillsEnabled"),
    Field("skillsSettings", "textColor", _COLOR, default="", earlier="skillsTextColor"),
    *_customization("skillsSettings", "skills"),
    Field("projectsSettings", "mode", _NAME, default="", earlier="projectsMode"),
    Field("projectsSettings", "title", _LINE, default="", earlier="projectsTitle"),
    Field("projectsSettings", "description", _PARAGRAPH, default="", earlier="projectsDescription"),
    Field("projectsSettings", "textColor", _COLOR, default="", earlier="projectsTextColor"),
    *_customization("projectsSettings", "projects"),
    Field("viewsSettings", "enabled", _FLAG, default=True, leaderboard="viewsEnabled"),
    Field("feedbackSettings", "enabled", _FLAG, default=True, leaderboard="profileFeedback"),
    Field("commentsSettings", "enabled", _FLAG, default=True),
)

KEYS: tuple[str, ...] = tuple(dict.fromkeys(field.key for field in FIELDS))

_BY_KEY = {key: {field.name: field for field in FIELDS if field.key == key} for key in KEYS}
_DEFAULTS = {key: {name: field.default for name, field in fields.items()} for key, fields in _BY_KEY.items()}
# Lists and objects would be shared by every answer, and one caller's change seen by all.
_CHANGEABLE = [field for field in FIELDS if isinstance(field.default, list | dict)]

_EARLIER = [(field.earlier, field.key, field.name) for field in FIELDS if field.earlier]
_LEADERBOARD = [(field.leaderboard, field.key, field.name) for field in FIELDS if field.leaderboard]


def filled(stored: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return all settings, in the order of the table. A stored value that is no longer valid becomes the default."""
    settings = {key: defaults.copy() for key, defaults in _DEFAULTS.items()}
    for field in _CHANGEABLE:
        settings[field.key][field.name] = field.default.copy()
    for key, section in stored.items():
        fields = _BY_KEY.get(key)
        if fields is None or not isinstance(section, dict):
            continue
        for name, value in section.items():
            field_or_none = fields.get(name)
            if field_or_none is not None and field_or_none.rule.problem_of(value) is None:
                settings[key][name] = value
    return settings


def validated(given: object) -> dict[str, dict[str, Any]]:
    """Return the part to store of a client's settings, complete or not: the differences from the defaults.

    Raises ValidationError with the sentences for each path, such as `cardSettings.blur`.
    """
    if not isinstance(given, Mapping):
        raise ValidationError({"settings": ["Must be an object."]})
    problems: dict[str, list[str]] = {}
    stored: dict[str, dict[str, Any]] = {}
    for key, section in given.items():
        if key not in _BY_KEY:
            problems[path_of(key)] = ["Unknown setting."]
        elif not isinstance(section, Mapping):
            problems[path_of(key)] = ["Must be an object."]
        else:
            for name, value in section.items():
                field = _BY_KEY[key].get(name)
                if field is not None and type(value) is type(field.default) and value == field.default:
                    continue  # 1.0 differs from 1, so that a value comes back as it was given
                if problem := field.rule.problem_of(value) if field else "Unknown setting.":
                    problems[path_of(key, name)] = [problem]
                else:
                    stored.setdefault(key, {})[name] = copy.copy(value)
    if problems:
        raise ValidationError(problems)
    return stored


def earlier_profile(filled: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of the earlier form's profile that are settings, by their names there."""
    return {old: filled[key][name] for old, key, name in _EARLIER}


def leaderboard_profile(filled: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of a leaderboard entry's profile that are settings, by their names there."""
    return {old: filled[key][name] for old, key, name in _LEADERBOARD}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the settings as answers show them."""
    objects: dict[str, dict[str, Any]] = {key: {} for key in KEYS}
    for field in FIELDS:
        objects[field.key][field.name] = field.rule.json_schema() | {"default": copy.copy(field.default)}
    return _object_schema({key: _object_schema(properties) for key, properties in objects.items()})


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
