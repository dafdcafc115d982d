"""The settings objects of a profile: their keys and defaults, and their names in the two earlier profiles.

Pure rules over the table in `lookup.shapes.settings_fields`. A row stores what differs from the defaults; an answer
shows everything. Any is JSON throughout.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError

from lookup.shapes.settings_fields import FIELDS, Field
from lookup.shapes.strict_fields import path_of

__all__ = [
    "FIELDS",
    "KEYS",
    "Field",
    "earlier_profile",
    "filled",
    "from_earlier",
    "json_schema",
    "leaderboard_profile",
    "validated",
]

KEYS: tuple[str, ...] = tuple(dict.fromkeys(field.key for field in FIELDS))

_BY_KEY = {key: {field.name: field for field in FIELDS if field.key == key} for key in KEYS}
_DEFAULTS = {key: {name: field.default for name, field in fields.items()} for key, fields in _BY_KEY.items()}
# Lists and objects would be shared by every answer, and one caller's change seen by all.
_CHANGEABLE = [field for field in FIELDS if isinstance(field.default, list | dict)]

_EARLIER = [(field.earlier, field.key, field.name) for field in FIELDS if field.earlier]
_LEADERBOARD = [(field.leaderboard, field.key, field.name) for field in FIELDS if field.leaderboard]
_FROM_EARLIER = {old: (key, name) for old, key, name in _EARLIER + _LEADERBOARD}


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
            _validate_section(key, section, stored, problems)
    if problems:
        raise ValidationError(problems)
    return stored


def _validate_section(
    key: str, section: Mapping[str, Any], stored: dict[str, dict[str, Any]], problems: dict[str, list[str]]
) -> None:
    for name, value in section.items():
        field = _BY_KEY[key].get(name)
        if field is not None and _is_default(field, value):
            continue
        problem = "Unknown setting." if field is None else field.rule.problem_of(value)
        if problem is not None:
            problems[path_of(key, name)] = [problem]
        else:
            stored.setdefault(key, {})[name] = copy.copy(value)


def _is_default(field: Field, value: object) -> bool:
    """Return whether `value` is the default; 1.0 differs from 1, so that a value comes back as it was given."""
    return type(value) is type(field.default) and bool(value == field.default)


def earlier_profile(filled: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of the earlier form's profile that are settings, by their names there."""
    return _renamed(_EARLIER, filled)


def leaderboard_profile(filled: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of a leaderboard entry's profile that are settings, by their names there."""
    return _renamed(_LEADERBOARD, filled)


def _renamed(names: Iterable[tuple[str, str, str]], filled: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {old: filled[key][name] for old, key, name in names}


def from_earlier(fields: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return settings from fields of either earlier profile, ready for `validated`; other fields are left out."""
    settings: dict[str, dict[str, Any]] = {}
    for old, value in fields.items():
        if old in _FROM_EARLIER:
            key, name = _FROM_EARLIER[old]
            settings.setdefault(key, {})[name] = value
    return settings


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the settings as answers show them."""
    return _object_schema({key: _object_schema(_field_schemas(fields)) for key, fields in _BY_KEY.items()})


def _field_schemas(fields: Mapping[str, Field]) -> dict[str, Any]:
    return {name: field.rule.json_schema() | {"default": copy.copy(field.default)} for name, field in fields.items()}


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
