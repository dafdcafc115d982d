"""Fields that the forms share: each shows a value, and reads what it shows."""

from __future__ import annotations

import functools
import mimetypes
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from infrastructure.requests.compiled_serializer import CompiledSerializer
from infrastructure.timestamps import iso
from lookup.models import Asset
from lookup.models.profiles import PATH_PATTERN
from lookup.shapes import addresses
from lookup.shapes.strict_fields import EXACT, Problems, Text, read_column, read_integer, read_object, read_or_null

MAX_URL_LENGTH = 2000
Found = TypeVar("Found")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_PATH = re.compile(PATH_PATTERN)
_MAX_PATH_LENGTH = 400
_BADGE = re.compile(r"([A-Za-z0-9_-]{1,32})/([A-Za-z0-9_-][A-Za-z0-9._-]{0,99})", re.ASCII)
_MIRRORED = {"mime": "image/png", "width": None, "height": None, "duration": None}


@extend_schema_field(OpenApiTypes.DATETIME)
class Timestamp(serializers.Field[datetime, Any, str, datetime]):
    def to_representation(self, value: datetime) -> str:
        return iso(value)

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        """Read ISO 8601 with a time zone, to the microsecond, in UTC."""
        if isinstance(value, str) and _MOMENT.fullmatch(value):
            try:
                return datetime.fromisoformat(value).astimezone(UTC)
            except (ValueError, OverflowError):  # no such day, or outside of the years 1 to 9999
                problems.append((path, "Not a valid timestamp."))
                return value
        problems.append((path, "Must be a timestamp such as 2024-05-01T12:30:00Z or 2024-05-01T12:30:00.250+02:00."))
        return value


@extend_schema_field(OpenApiTypes.INT64)
class UnixTime(serializers.Field[datetime, Any, int, datetime]):
    """Whole UNIX seconds."""

    def to_representation(self, value: datetime) -> int:
        return int(value.timestamp())


@extend_schema_field(OpenApiTypes.DATE)
class Day(serializers.Field[date, Any, str, date]):
    def to_representation(self, value: date) -> str:
        return value.isoformat()

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and _DAY.fullmatch(value):
            try:
                return date.fromisoformat(value)
            except ValueError:
                problems.append((path, "Not a valid date."))
                return value
        problems.append((path, "Must be a day such as 2024-05-01."))
        return value


@extend_schema_field(OpenApiTypes.DOUBLE)
class Number(serializers.Field[float, Any, float, float]):
    def __init__(self, *, minimum: int = -EXACT, **options: Any) -> None:
        super().__init__(**options)
        self.minimum = minimum

    def to_representation(self, value: float) -> float:
        """Return a whole number without a fraction, as JSON's readers write it."""
        return int(value) if float(value).is_integer() else value

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            problems.append((path, "Must be a number."))
        elif not self.minimum <= value <= EXACT:
            problems.append((path, f"Must be between {self.minimum} and {EXACT}."))
        else:
            return float(value)
        return value


class TextOrNull(serializers.CharField):
    """The tables say "" for what the form says null."""

    absent = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_null": True, "read_only": True, **options})

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]  # null is in the contract
        return value or None


@extend_schema_field(OpenApiTypes.STR)  # no `format: uri`, which "" is not
class UploadUrl(serializers.Field[Asset, Any, str, Asset]):
    """The URL of an asset; "" where there is none."""

    def get_attribute(self, instance: Any) -> Any:
        """Return the asset or None, which DRF would not pass on. Any: rows of every model that names an asset."""
        return super().get_attribute(instance) or ""

    def to_representation(self, value: Asset | str) -> str:
        return addresses.upload(value.path) if isinstance(value, Asset) else ""


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


class AssetSerializer(CompiledSerializer[Asset]):
    """An uploaded file. Width and height in pixels, duration in seconds."""

    url = serializers.SerializerMethodField()
    mime = serializers.CharField()
    width = serializers.IntegerField(allow_null=True)
    height = serializers.IntegerField(allow_null=True)
    duration = Number(allow_null=True)

    @extend_schema_field(OpenApiTypes.URI)
    def get_url(self, asset: Asset) -> str:
        return addresses.upload(asset.path)

    def read(self, value: Any, path: str, problems: Problems) -> AssetFacts | Mirrored | None:
        return read_asset(value, path, problems)


_FACTS = read_object(
    {
        "url": Text(MAX_URL_LENGTH, min_length=1).read,
        "mime": read_column(Asset, "mime", min_length=1),
        "width": read_or_null(read_integer()),
        "height": read_or_null(read_integer()),
        "duration": read_or_null(Number(minimum=0).read),
    }
)
_URL = Text(MAX_URL_LENGTH)


def read_asset(
    value: Any, path: str, problems: Problems, *, may_be_mirrored: bool = False
) -> AssetFacts | Mirrored | None:
    """Read an asset object; with `may_be_mirrored`, the picture of the chat platform into `Mirrored`."""
    before = len(problems)
    facts = _FACTS(value, path, problems)
    if len(problems) > before:
        return None
    url = facts.pop("url")
    if may_be_mirrored and _is_mirrored(url):
        return Mirrored(url, is_usual=facts == _MIRRORED)
    found = _read_url(_upload_path, url, f"{path}.url", problems)
    return None if found is None else AssetFacts(found, **facts)


def _is_mirrored(url: str) -> bool:
    return url.startswith(addresses.mirrored_avatar(""))


def _upload_path(url: str) -> str:
    """Return the path of the file that is uploaded at `url`."""
    prefix = addresses.upload("")
    if not url.startswith(prefix):
        raise ValueError(f"Must lie under UPLOAD_CDN_URL, which is set to {settings.UPLOAD_CDN_URL}.")
    path = url.removeprefix(prefix)
    if not _PATH.fullmatch(path) or len(path) > _MAX_PATH_LENGTH:
        raise ValueError("Behind UPLOAD_CDN_URL, use a path of letters, digits and . _ ~ - / (at most 400 characters).")
    return path


def _badge_image(url: str) -> tuple[str, str]:
    """Return the catalogue and the file of badge artwork."""
    prefix = addresses.badge_images()
    if not url.startswith(prefix):
        raise ValueError(f"Must lie under {prefix} (ASSET_URL).")
    found = _BADGE.fullmatch(url.removeprefix(prefix))
    if found is None:
        raise ValueError(f"Must be {prefix}<catalog>/<file>.")
    return found[1], found[2]


def _picture(url: str) -> AssetFacts | Mirrored | None:
    """Return a user's picture, of which only the URL is known; None for ""."""
    if not url or _is_mirrored(url):
        return Mirrored(url, is_usual=True) if url else None
    path = _upload_path(url)
    return AssetFacts(path, mimetypes.guess_type(path)[0] or "application/octet-stream", None, None, None)


def _read_url(parsed: Callable[[str], Found], value: Any, path: str, problems: Problems) -> Found | None:
    """Return what `parsed` makes of a URL. It raises ValueError, with a sentence, for a refused one."""
    try:
        if problem := _URL.problem_of(value):
            raise ValueError(problem)
        return parsed(value)
    except ValueError as error:
        problems.append((path, str(error)))
    return None


read_badge_image = functools.partial(_read_url, _badge_image)
read_picture = functools.partial(_read_url, _picture)
