"""The JSON Schema of the settings says what `filled` answers, for the API's description."""

import json
import re
from typing import Any

from lookup import settings_schema
from lookup.settings_schema import FIELDS


def conforms(value: Any, schema: dict[str, Any]) -> bool:
    """As much of JSON Schema as the settings use."""
    if "anyOf" in schema:
        return any(conforms(value, option) for option in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    kind = schema["type"]
    if kind == "number":
        return type(value) in {int, float} and schema["minimum"] <= value <= schema["maximum"]
    if kind == "string":
        return type(value) is str and len(value) <= schema.get("maxLength", 9) and matches(value, schema)
    if kind == "array":
        return len(value) <= schema["maxItems"] and all(conforms(entry, schema["items"]) for entry in value)
    if kind == "boolean":
        return type(value) is bool
    if schema["additionalProperties"] is False:
        return sorted(value) == sorted(schema["required"]) and all(
            conforms(value[name], inner) for name, inner in schema["properties"].items()
        )
    return all(conforms(entry, schema["additionalProperties"]) for entry in value.values())


def matches(value: str, schema: dict[str, Any]) -> bool:
    return re.search(schema.get("pattern", ""), value) is not None


def test_the_json_schema_describes_every_setting_and_fits_what_is_answered() -> None:
    schema = settings_schema.json_schema()
    assert list(schema["properties"]) == schema["required"] == list(settings_schema.KEYS)
    assert schema["additionalProperties"] is False
    fields = {f"{key}.{name}" for key, part in schema["properties"].items() for name in part["properties"]}
    assert fields == {f"{field.key}.{field.name}" for field in FIELDS}
    assert conforms(settings_schema.filled({}), schema)
    changed = settings_schema.filled({})
    changed["cardSettings"] |= {"blur": 1.5, "parallax": True, "borderColor": "#ABCDEF80"}
    changed["usernameSettings"]["effect"] = "rainbow"
    changed["typewriterSettings"]["descriptions"] = ["one", "two"]
    changed["backgroundSettings"]["effectSettings"] = {"speed": 2, "dark": True, "kind": "x"}
    assert conforms(changed, schema)
    assert not conforms(settings_schema.filled({}) | {"cardSettings": {}}, schema)
    assert json.loads(json.dumps(schema)) == schema


def test_the_json_schema_of_one_setting_of_each_kind() -> None:
    parts = {key: part["properties"] for key, part in settings_schema.json_schema()["properties"].items()}
    assert parts["viewsSettings"] == {"enabled": {"type": "boolean", "default": True}}
    assert parts["textSettings"] == {"glowStrength": {"type": "number", "minimum": 0, "maximum": 100, "default": 0}}
    assert parts["animationSettings"] == {"type": {"type": "string", "maxLength": 64, "default": ""}}
    assert parts["enterSettings"]["animation"] == {
        "type": "string",
        "enum": ["", "reveal", "split", "flash"],
        "default": "",
    }
    assert parts["badgesSettings"]["color"] == {
        "type": "string",
        "pattern": "^(#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8}))?$",
        "default": "",
    }
