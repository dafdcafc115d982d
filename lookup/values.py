"""Shapes of JSON values, and rules for single ones: what a client sent is read by them, or refused by path. Pure rules.

They take any value and never raise. The database cannot hold NUL characters and lone surrogates, so every text refuses
them, as it does what `accounts.text_rules` names; infinite numbers and NaN are outside of every bound.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from accounts import text_rules

Problem = tuple[str, str]  # a path such as links.0.url, and a sentence
Problems = list[Problem]

# The largest integer that every JSON reader keeps exactly (RFC 8259 §6).
EXACT = 2**53 - 1

_COLOR = re.compile(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})")
_COLOR_SCHEMA = "^(#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8}))?$"


class Shape(Protocol):
    def read(self, value: Any, path: str, problems: Problems) -> Any:
        """The value to store, with problems added to the list. After a problem, the result is undefined."""


class Rule(ABC):
    """The shape of a value that stays as it is."""

    __slots__ = ()

    @abstractmethod
    def problem_of(self, value: object) -> str | None:
        """Why the value is refused, in a sentence; None when it is valid."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if problem := self.problem_of(value):
            problems.append((path, problem))
        return value


class SchemaRule(Rule):
    __slots__ = ()

    @abstractmethod
    def json_schema(self) -> dict[str, Any]:
        """The rule as JSON Schema; Any is JSON."""


def problem_of_text(value: object, max_length: int, min_length: int = 0, *, is_long: bool = False) -> str | None:
    """`is_long`: the text may have several lines."""
    if not isinstance(value, str):
        return "Must be a string."
    if len(value) > max_length:
        return f"Has {len(value)} characters; at most {max_length} are allowed."
    if len(value) < min_length:
        return "Must not be empty."
    if text_rules.find_unstorable(value):
        return "Contains a character that cannot be stored (NUL or half of a surrogate pair)."
    problem = text_rules.problem_of_text(value) if is_long else text_rules.problem_of_line(value)
    if problem is None and min_length and not text_rules.has_something_to_see(value):
        return text_rules.NOTHING_TO_SEE
    return problem


def path_of(*parts: object) -> str:
    """`cardSettings.blur`; names that a client sent are cut and made ASCII, so that every answer can carry them."""
    return ".".join(str(part)[:64].encode("ascii", "backslashreplace").decode() for part in parts)


def joined(path: str, name: object) -> str:
    """`path`, which may be empty, and one more name."""
    return f"{path}.{path_of(name)}" if path else path_of(name)


@dataclass(frozen=True, slots=True)
class Boolean(SchemaRule):
    def problem_of(self, value: object) -> str | None:
        return None if isinstance(value, bool) else "Must be true or false."

    def json_schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Number(SchemaRule):
    """An integer or a float, kept as it was given."""

    minimum: int
    maximum: int

    def problem_of(self, value: object) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "Must be a number."
        if not self.minimum <= value <= self.maximum:  # NaN too
            return f"Must be between {self.minimum} and {self.maximum}."
        return None

    def json_schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True, slots=True)
class Text(SchemaRule):
    """With `choices`, one of them and nothing else; of several lines with `is_long`."""

    max_length: int
    choices: tuple[str, ...] = ()
    min_length: int = 0
    is_long: bool = False

    def problem_of(self, value: object) -> str | None:
        problem = problem_of_text(value, self.max_length, self.min_length, is_long=self.is_long)
        if problem is None and self.choices and value not in self.choices:
            return f"Must be one of: {', '.join(choice or '(empty)' for choice in self.choices)}."
        return problem

    def json_schema(self) -> dict[str, Any]:
        if self.choices:
            return {"type": "string", "enum": list(self.choices)}
        schema: dict[str, Any] = {"type": "string", "maxLength": self.max_length}
        return schema | ({"minLength": self.min_length} if self.min_length else {})


@dataclass(frozen=True, slots=True)
class Color(SchemaRule):
    """`#RGB`, `#RRGGBB` or `#RRGGBBAA` in either case; empty: the theme's own."""

    def problem_of(self, value: object) -> str | None:
        if isinstance(value, str) and (not value or _COLOR.fullmatch(value)):
            return None
        return "Must be a color such as #1b5e4b (#RGB, #RRGGBB or #RRGGBBAA), or empty."

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": _COLOR_SCHEMA}


@dataclass(frozen=True, slots=True)
class TextList(SchemaRule):
    """Strings, in the order given."""

    max_items: int
    max_length: int
    min_length: int = 0

    def problem_of(self, value: object) -> str | None:
        if not isinstance(value, list):
            return "Must be a list of strings."
        if len(value) > self.max_items:
            return f"Has {len(value)} entries; at most {self.max_items} are allowed."
        for number, entry in enumerate(value, start=1):
            if problem := problem_of_text(entry, self.max_length, self.min_length):
                return f"Entry {number}: {problem}"
        return None

    def json_schema(self) -> dict[str, Any]:
        entry = Text(self.max_length, min_length=self.min_length).json_schema()
        return {"type": "array", "items": entry, "maxItems": self.max_items}


@dataclass(frozen=True, slots=True)
class FlatObject(SchemaRule):
    """An object of booleans, numbers and strings, nothing nested."""

    max_entries: int
    max_length: int

    def problem_of(self, value: object) -> str | None:
        if not isinstance(value, dict):
            return "Must be an object."
        if len(value) > self.max_entries:
            return f"Has {len(value)} entries; at most {self.max_entries} are allowed."
        for name, scalar in value.items():
            if problem := problem_of_text(name, 64, min_length=1):
                return f"Name {path_of(name)}: {problem}"
            if problem := self._problem_of_scalar(scalar):
                return f"{path_of(name)}: {problem}"
        return None

    def _problem_of_scalar(self, scalar: object) -> str | None:
        if isinstance(scalar, bool):
            return None
        if isinstance(scalar, int | float):
            return Number(-EXACT, EXACT).problem_of(scalar)
        if isinstance(scalar, str):
            return problem_of_text(scalar, self.max_length)
        return "Must be true or false, a number or a string."

    def json_schema(self) -> dict[str, Any]:
        scalars: list[SchemaRule] = [Boolean(), Number(-EXACT, EXACT), Text(self.max_length)]
        return {
            "type": "object",
            "maxProperties": self.max_entries,
            "additionalProperties": {"anyOf": [scalar.json_schema() for scalar in scalars]},
        }


@dataclass(frozen=True, slots=True)
class ListOf:
    """`unique`: the names by which no two of its objects may be alike."""

    shape: Shape
    max_items: int
    unique: tuple[str, ...] = ()
    wanted: str = "a list"

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            problems.append((path, f"Must be {self.wanted}."))
            return value
        if len(value) > self.max_items:
            problems.append((path, f"Has {len(value)} entries; at most {self.max_items} are allowed."))
            return value
        before = len(problems)
        found = [self.shape.read(entry, f"{path}.{place}", problems) for place, entry in enumerate(value)]
        if self.unique and len(problems) == before:
            keys = {tuple(entry[name] for name in self.unique) for entry in found}
            if len(keys) != len(found):
                problems.append((path, "Names an entry twice."))
        return found


@dataclass(frozen=True, slots=True)
class Object:
    """Every field, and no other one. `defaults`: JSON for fields that may be left out, as in what an earlier release
    stored or exported; what is read may share parts with them. `name`: of its serializer, where it has one."""

    fields: Mapping[str, Shape]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            problems.append((path, "Must be an object."))
            return value
        found = {}
        for name, shape in self.fields.items():
            place = f"{path}.{name}" if path else name
            if name in value or name in self.defaults:
                found[name] = shape.read(value[name] if name in value else self.defaults[name], place, problems)
            else:
                problems.append((place, "Is missing."))
        if not value.keys() <= self.fields.keys():
            problems.extend((joined(path, name), "Unknown name.") for name in value if name not in self.fields)
        return found
