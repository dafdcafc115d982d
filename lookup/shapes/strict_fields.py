"""Fields of serializers that read as strictly as they write, and the reader that is compiled from a serializer.

What a client sent is read, or refused by path; a reader takes any value and never raises. The database cannot hold NUL
characters and lone surrogates, so every text refuses them, as it does what `infrastructure.text_rules` names; infinite
numbers and NaN are outside of every bound.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db.models import CharField, Model, PositiveIntegerField
from rest_framework import serializers

from infrastructure import text_rules
from infrastructure.requests.compiled_serializer import CompiledSerializer
from lookup.shapes import svg

Problem = tuple[str, str]  # a path such as links.0.url, and a sentence
Problems = list[Problem]
# Returns the value to store, and adds problems of the value at a path to the list. After a problem, the result is
# undefined. Any: JSON, and what is made of it.
Read = Callable[[Any, str, Problems], Any]
AnyField = serializers.Field[Any, Any, Any, Any]  # Any: values of every form
NOTHING: Mapping[str, Any] = MappingProxyType({})

# The largest integer that every JSON reader keeps exactly (RFC 8259 §6).
EXACT = 2**53 - 1

_COLOR = re.compile(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})")
_COLOR_SCHEMA = "^(#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8}))?$"


class Rule(ABC):
    """A field whose value stays as it is."""

    @abstractmethod
    def problem_of(self, value: object) -> str | None:
        """Return why the value is refused, in a sentence; None when it is valid."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if problem := self.problem_of(value):
            problems.append((path, problem))
        return value


class SchemaRule(Rule):
    @abstractmethod
    def json_schema(self) -> dict[str, Any]:
        """Return the rule as JSON Schema; Any is JSON."""


def problem_of_text(value: object, max_length: int, min_length: int = 0, *, is_long: bool = False) -> str | None:
    """Return why a text is refused, or None. `is_long`: the text may have several lines."""
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
    """Return a path such as `cardSettings.blur`; names from a client are cut and made ASCII for every answer."""
    return ".".join(str(part)[:64].encode("ascii", "backslashreplace").decode() for part in parts)


def joined(path: str, name: object) -> str:
    """Return `path`, which may be empty, and one more name."""
    return f"{path}.{path_of(name)}" if path else path_of(name)


class Boolean(SchemaRule, serializers.BooleanField):
    def problem_of(self, value: object) -> str | None:
        return None if isinstance(value, bool) else "Must be true or false."

    def json_schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Number(SchemaRule, serializers.FloatField):
    """An integer or a float, kept as it was given."""

    def __init__(self, minimum: int, maximum: int) -> None:
        super().__init__()
        self.minimum = minimum
        self.maximum = maximum

    def problem_of(self, value: object) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "Must be a number."
        if not self.minimum <= value <= self.maximum:  # NaN too
            return f"Must be between {self.minimum} and {self.maximum}."
        return None

    def json_schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.minimum, "maximum": self.maximum}


class Text(SchemaRule, serializers.CharField):
    """With `choices`, one of them and nothing else; of several lines with `is_long`."""

    max_length: int
    min_length: int

    def __init__(
        self, max_length: int, choices: tuple[str, ...] = (), *, min_length: int = 0, is_long: bool = False
    ) -> None:
        super().__init__()
        self.max_length = max_length
        self.choices = choices
        self.min_length = min_length
        self.is_long = is_long

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


class Color(SchemaRule, serializers.CharField):
    """`#RGB`, `#RRGGBB` or `#RRGGBBAA` in either case; empty: the page's own."""

    def problem_of(self, value: object) -> str | None:
        if isinstance(value, str) and (not value or _COLOR.fullmatch(value)):
            return None
        return "Must be a color such as #1b5e4b (#RGB, #RRGGBB or #RRGGBBAA), or empty."

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": _COLOR_SCHEMA}


class TextList(SchemaRule, serializers.ListField):
    """Strings, in the order given."""

    max_length: int
    min_length: int

    def __init__(self, max_items: int, max_length: int, min_length: int = 0) -> None:
        super().__init__(child=serializers.CharField())
        self.max_items = max_items
        self.max_length = max_length
        self.min_length = min_length

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


class FlatObject(SchemaRule, serializers.DictField):
    """An object of booleans, numbers and strings, nothing nested."""

    def __init__(self, max_entries: int, max_length: int) -> None:
        super().__init__()
        self.max_entries = max_entries
        self.max_length = max_length

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


def read_list(read: Read, most: int, wanted: str = "a list") -> Read:
    """Return a reader of lists whose entries `read` reads."""

    def read_it(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            problems.append((path, f"Must be {wanted}."))
            return value
        if len(value) > most:
            problems.append((path, f"Has {len(value)} entries; at most {most} are allowed."))
            return value
        return [read(entry, f"{path}.{place}", problems) for place, entry in enumerate(value)]

    return read_it


def read_object(fields: Mapping[str, Read], defaults: Mapping[str, Any] = NOTHING) -> Read:
    """Return a reader of objects that have every field and no other one.

    `defaults`: JSON for fields that may be left out, as in what an earlier release stored or exported; what is read may
    share parts with them.
    """

    def read_it(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            problems.append((path, "Must be an object."))
            return value
        found = {}
        for name, read in fields.items():
            place = f"{path}.{name}" if path else name
            if name in value or name in defaults:
                found[name] = read(value[name] if name in value else defaults[name], place, problems)
            else:
                problems.append((place, "Is missing."))
        if not value.keys() <= fields.keys():
            problems.extend((joined(path, name), "Unknown name.") for name in value if name not in fields)
        return found

    return read_it


def read_or_null(read: Read, absent: str | None = None) -> Read:
    """Return a reader that reads null as `absent`."""
    return lambda value, path, problems: absent if value is None else read(value, path, problems)


def read_integer(minimum: int = 0, maximum: int = 2**31 - 1) -> Read:
    """Return a reader of integers. 1.0 is an integer too: JSON has one kind of number."""

    def read_it(value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            problems.append((path, "Must be an integer."))
        elif not minimum <= value <= maximum:
            problems.append((path, f"Must be between {minimum} and {maximum}."))
        return value

    return read_it


def read_pattern(pattern: re.Pattern[str], sentence: str) -> Read:
    """Return a reader of texts that match; it answers a text that does not with `sentence`."""

    def read_it(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            problems.append((path, sentence))
        return value

    return read_it


read_id = read_pattern(re.compile(r"[0-9a-f]{32}"), "Must be an id of 32 lower-case hexadecimal characters.")


def problems_of(error: ValidationError, path: str) -> Problems:
    """Return the sentences of `error`, with its paths below `path`."""
    if hasattr(error, "error_dict"):
        return [(joined(path, name), text) for name, texts in error.message_dict.items() for text in texts]
    return [(path, text) for text in error.messages]


def read_column(model: type[Model], name: str, *, min_length: int = 0) -> Read:
    """Return a reader of texts that a column accepts: its length, and its validators where it is not empty."""
    column: Any = model._meta.get_field(name)  # Any: a text column, which has both
    max_length = column.max_length or svg.MAX_BYTES  # long texts are drawings
    validators = [known for known in column.validators if not isinstance(known, MaxLengthValidator)]

    def read_it(value: Any, path: str, problems: Problems) -> Any:
        if problem := problem_of_text(value, max_length, min_length, is_long=True):
            problems.append((path, problem))
        elif value:
            for validator in validators:
                try:
                    validator(value)
                except ValidationError as error:
                    problems.extend(problems_of(error, path))
        return value

    return read_it


def compiled(form: AnyField, model: type[Model], **special: Read) -> Read:
    """Compile a reader of what a serializer shows of a row of `model`; the columns say what is allowed.

    `special`: readers of keys that the columns do not describe. `DEFAULTS` of the serializer: JSON for fields that an
    earlier export lacks.
    """
    return read_object(compiled_fields(form, model, **special), getattr(form, "DEFAULTS", NOTHING))


def compiled_fields(form: AnyField, model: type[Model], **special: Read) -> dict[str, Read]:
    """Return the readers by key, in the order of the serializer's fields."""
    fields: Mapping[str, AnyField] = form.fields  # type: ignore[attr-defined]  # a serializer has them
    return {name: special.get(name) or _reader(field, model) for name, field in fields.items()}


def _reader(field: AnyField, model: type[Model]) -> Read:
    """Return the reader of a field: of our classes their own, of any other class by the column that it shows."""
    source = str(field.source).rpartition(".")[2]  # a form of several rows names the way to each
    absent: str | None = getattr(field, "absent", None)
    if absent is not None:
        return read_or_null(read_column(model, source, min_length=1), absent)
    read = getattr(field, "read", None) or _of_column(field, model, source)
    return read_or_null(read) if field.allow_null else read


def _of_column(field: AnyField, model: type[Model], source: str) -> Read:
    column: Any = model._meta.get_field(source)  # Any: has a length where the field is a text
    match field:
        case serializers.BooleanField():
            return Boolean().read
        case serializers.ChoiceField():
            return Text(column.max_length, choices=tuple(field.choices)).read
    if column is model._meta.pk:
        return read_id if isinstance(column, CharField) else read_integer(1, EXACT)
    if isinstance(field, serializers.IntegerField):
        return read_integer(0 if isinstance(column, PositiveIntegerField) else -(2**31))
    return read_column(model, source)


class Form(CompiledSerializer[Any]):
    # A serializer of fields that read by themselves. DEFAULTS: as `read_object` has them.

    DEFAULTS = NOTHING

    @cached_property
    def read(self) -> Read:
        """Any of `fields`: each has a `read`."""
        fields: Mapping[str, Any] = self.fields
        return read_object({name: field.read for name, field in fields.items()}, self.DEFAULTS)


class ListOf(serializers.ListField):
    """`unique`: the names by which no two of its objects may be alike."""

    def __init__(self, child: Form, max_items: int, unique: tuple[str, ...] = ()) -> None:
        super().__init__(child=child)
        self.unique = unique
        self._read = read_list(child.read, max_items, "a list of objects")

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        before = len(problems)
        found = self._read(value, path, problems)
        if self.unique and len(problems) == before:
            keys = {tuple(entry[name] for name in self.unique) for entry in found}
            if len(keys) != len(found):
                problems.append((path, "Names an entry twice."))
        return found
