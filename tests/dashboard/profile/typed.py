"""For each setting a value that is not the default, and how a person types it."""

from __future__ import annotations

from typing import Any

from lookup.settings_schema import Field
from lookup.values import Boolean, Color, FlatObject, Number, Text, TextList


def other_value(field: Field) -> tuple[Any, str | None]:
    """The value as lookups tell it, and as it is typed; None: the box is not ticked. Any: a JSON value."""
    match field.rule:
        case Boolean():
            return not field.default, None if field.default else "on"
        case Number(minimum, maximum):
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
            told = {"speed": 2.5, "name": "snow", "on": True, "two words": "true"}
            return told, 'speed = 2.5\r\nname = snow\r\n\r\non=true\r\ntwo words = "true"'
    raise TypeError(field)
