"""Shapes of what an export holds beside those of `lookup.values`: each reads a value into what a column holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db.models import Model

from lookup import svg
from lookup.values import EXACT, Boolean, Problems, Rule, Shape, joined, problem_of_text

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def problems_of(error: ValidationError, path: str) -> Problems:
    """The sentences of `error`, whose own paths begin at `path`."""
    if hasattr(error, "error_dict"):
        return [(joined(path, name), text) for name, texts in error.message_dict.items() for text in texts]
    return [(path, text) for text in error.messages]


def milliseconds(moment: datetime) -> int:
    """What lookups show of a timestamp."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Pattern(Rule):
    pattern: re.Pattern[str]
    sentence: str

    def problem_of(self, value: object) -> str | None:
        return None if isinstance(value, str) and self.pattern.fullmatch(value) else self.sentence


@dataclass(frozen=True, slots=True)
class Column:
    """A text that a column accepts: its length, and its validators where it is not empty."""

    max_length: int
    min_length: int
    validators: tuple[Any, ...]

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if problem := problem_of_text(value, self.max_length, self.min_length, is_long=True):
            problems.append((path, problem))
        elif value:
            for validator in self.validators:
                try:
                    validator(value)
                except ValidationError as error:
                    problems.extend(problems_of(error, path))
        return value


def column(model: type[Model], name: str, *, min_length: int = 0) -> Column:
    field: Any = model._meta.get_field(name)  # Any: a text column, which has both
    validators = tuple(known for known in field.validators if not isinstance(known, MaxLengthValidator))
    return Column(field.max_length or svg.MAX_BYTES, min_length, validators)  # long texts are drawings


@dataclass(frozen=True, slots=True)
class OrNull:
    """null is read as `absent`."""

    shape: Shape
    absent: str | None = None

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        return self.absent if value is None else self.shape.read(value, path, problems)


class Null(Rule):
    def problem_of(self, value: object) -> str | None:
        return None if value is None else "Must be null."


@dataclass(frozen=True, slots=True)
class Integer:
    """1.0 is an integer too: JSON has one kind of number."""

    minimum: int = 0
    maximum: int = 2**31 - 1

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            problems.append((path, "Must be an integer."))
        elif not self.minimum <= value <= self.maximum:
            problems.append((path, f"Must be between {self.minimum} and {self.maximum}."))
        return value


@dataclass(frozen=True, slots=True)
class Real:
    minimum: int = -EXACT

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            problems.append((path, "Must be a number."))
        elif not self.minimum <= value <= EXACT:
            problems.append((path, f"Must be between {self.minimum} and {EXACT}."))
        else:
            return float(value)
        return value


@dataclass(frozen=True, slots=True)
class Moment:
    """ISO 8601 with a time zone, to the microsecond; read in UTC."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and _MOMENT.fullmatch(value):
            try:
                return datetime.fromisoformat(value).astimezone(UTC)
            except (ValueError, OverflowError):  # no such day, or outside of the years 1 to 9999
                problems.append((path, "There is no such moment."))
                return value
        problems.append((path, "Must be a timestamp such as 2024-05-01T12:30:00Z or 2024-05-01T12:30:00.250+02:00."))
        return value


@dataclass(frozen=True, slots=True)
class Day:
    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and _DAY.fullmatch(value):
            try:
                return date.fromisoformat(value)
            except ValueError:
                problems.append((path, "There is no such day."))
                return value
        problems.append((path, "Must be a day such as 2024-05-01."))
        return value


class Anything(Rule):
    """A value that is validated elsewhere."""

    def problem_of(self, value: object) -> str | None:
        return None


ID = Pattern(re.compile(r"[0-9a-f]{32}"), "Must be an id of 32 lower-case hexadecimal characters.")
FLAG = Boolean()
ORDER = Integer()
