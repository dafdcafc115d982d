"""Fields that the forms share."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.compiled_serializer import CompiledSerializer
from lookup import addresses
from lookup.models import Asset


def iso(timestamp: datetime) -> str:
    """Return `timestamp` in ISO 8601, in UTC with `Z` and always three decimals."""
    if timestamp.tzinfo is not UTC:
        timestamp = timestamp.astimezone(UTC)
    return timestamp.isoformat(timespec="milliseconds")[:-6] + "Z"


def number(value: float) -> int | float:
    """A whole number without a fraction, as JSON's readers write it."""
    return int(value) if float(value).is_integer() else value


@extend_schema_field(OpenApiTypes.DATETIME)
class Timestamp(serializers.Field[datetime, Any, str, datetime]):
    def to_representation(self, value: datetime) -> str:
        return iso(value)


@extend_schema_field(OpenApiTypes.INT64)
class UnixTime(serializers.Field[datetime, Any, int, datetime]):
    """Whole UNIX seconds."""

    def to_representation(self, value: datetime) -> int:
        return int(value.timestamp())


@extend_schema_field(OpenApiTypes.DATE)
class Day(serializers.Field[date, Any, str, date]):
    def to_representation(self, value: date) -> str:
        return value.isoformat()


@extend_schema_field(OpenApiTypes.DOUBLE)
class Number(serializers.Field[float, Any, float, float]):
    def to_representation(self, value: float) -> float:
        return number(value)


class TextOrNull(serializers.CharField):
    """The tables say "" for what the form says null."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_null": True, "read_only": True, **options})

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]  # null is in the contract
        return value or None


@extend_schema_field(OpenApiTypes.URI)
class UploadUrl(serializers.Field[Asset, Any, str, Asset]):
    """The URL of an asset; "" where there is none."""

    def get_attribute(self, instance: Any) -> Any:
        """Any: rows of every model that names an asset. DRF would leave None alone."""
        return super().get_attribute(instance) or ""

    def to_representation(self, value: Asset | str) -> str:
        return addresses.upload(value.path) if isinstance(value, Asset) else ""


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
