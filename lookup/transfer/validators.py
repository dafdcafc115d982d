"""Shapes of what an export holds beside those of `lookup.values`; URLs are read into what columns hold of the files."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db.models import Model

from lookup import addresses, svg
from lookup.models import Asset
from lookup.models.profiles import PATH_PATTERN
from lookup.values import EXACT, Boolean, Object, Problems, Rule, Shape, Text, joined, problem_of_text

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def problems_of(error: ValidationError, path: str) -> Problems:
    """The sentences of `error`, with its paths below `path`."""
    if hasattr(error, "error_dict"):
        return [(joined(path, name), text) for name, texts in error.message_dict.items() for text in texts]
    return [(path, text) for text in error.messages]


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
                problems.append((path, "Not a valid timestamp."))
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
                problems.append((path, "Not a valid date."))
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

MAX_URL_LENGTH = 2000
_PATH = re.compile(PATH_PATTERN)
_MAX_PATH_LENGTH = 400
_BADGE = re.compile(r"([A-Za-z0-9_-]{1,32})/([A-Za-z0-9_-][A-Za-z0-9._-]{0,99})", re.ASCII)
_MIRRORED = {"mime": "image/png", "width": None, "height": None, "duration": None}


class AssetFacts(NamedTuple):
    """The facts of an uploaded file in a line."""

    path: str
    mime: str
    width: int | None
    height: int | None
    duration: float | None


@dataclass(frozen=True)
class Mirrored:
    """The picture of the chat platform. `is_usual`: with the facts that lookups show of it."""

    url: str
    is_usual: bool


_FIELDS = Object(
    {
        "url": Text(MAX_URL_LENGTH, min_length=1),
        "mime": column(Asset, "mime", min_length=1),
        "width": OrNull(Integer()),
        "height": OrNull(Integer()),
        "duration": OrNull(Real(minimum=0)),
    }
)


@dataclass(frozen=True, slots=True)
class Upload:
    """An asset object, read into `AssetFacts`; with `may_be_mirrored`, into `Mirrored` where it is."""

    may_be_mirrored: bool = False

    def read(self, value: Any, path: str, problems: Problems) -> AssetFacts | Mirrored | None:
        before = len(problems)
        fields = _FIELDS.read(value, path, problems)
        if len(problems) > before:
            return None
        url = fields.pop("url")
        if self.may_be_mirrored and is_mirrored(url):
            return Mirrored(url, is_usual=fields == _MIRRORED)
        try:
            return AssetFacts(upload_path(url), **fields)
        except ValueError as problem:
            problems.append((f"{path}.url", str(problem)))
        return None


def is_mirrored(url: str) -> bool:
    return url.startswith(addresses.mirrored_avatar(""))


def upload_path(url: str) -> str:
    """The path of the file that is uploaded there. ValueError, with a sentence: it is no URL of an upload."""
    prefix = addresses.upload("")
    if not url.startswith(prefix):
        raise ValueError(f"Must lie under UPLOAD_CDN_URL, which is set to {settings.UPLOAD_CDN_URL}.")
    path = url.removeprefix(prefix)
    if not _PATH.fullmatch(path) or len(path) > _MAX_PATH_LENGTH:
        raise ValueError("Behind UPLOAD_CDN_URL, use a path of letters, digits and . _ ~ - / (at most 400 characters).")
    return path


def badge_image(url: str) -> tuple[str, str]:
    """The catalogue and the file of badge artwork. ValueError, with a sentence: it is none."""
    prefix = addresses.badge_images()
    if not url.startswith(prefix):
        raise ValueError(f"Must lie under {prefix} (ASSET_URL).")
    found = _BADGE.fullmatch(url.removeprefix(prefix))
    if found is None:
        raise ValueError(f"Must be {prefix}<catalog>/<file>.")
    return found[1], found[2]


@dataclass(frozen=True, slots=True)
class BadgeImage:
    """Read into catalogue and file."""

    def read(self, value: Any, path: str, problems: Problems) -> tuple[str, str] | None:
        before = len(problems)
        Text(MAX_URL_LENGTH).read(value, path, problems)
        if len(problems) > before:
            return None
        try:
            return badge_image(value)
        except ValueError as problem:
            problems.append((path, str(problem)))
        return None


@dataclass(frozen=True, slots=True)
class Picture:
    """The URL of a user's picture, the only fact that is known of it; "" is read as None."""

    def read(self, value: Any, path: str, problems: Problems) -> AssetFacts | Mirrored | None:
        before = len(problems)
        Text(MAX_URL_LENGTH).read(value, path, problems)
        if len(problems) > before or not value:
            return None
        if is_mirrored(value):
            return Mirrored(value, is_usual=True)
        try:
            uploaded = upload_path(value)
        except ValueError as problem:
            problems.append((path, str(problem)))
            return None
        return AssetFacts(uploaded, mimetypes.guess_type(uploaded)[0] or "application/octet-stream", None, None, None)
