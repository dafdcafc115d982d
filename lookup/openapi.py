"""The OpenAPI descriptions of the lookups and leaderboards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import serializers

from accounts import openapi
from lookup.documents import registry, resolve
from lookup.errors import LimitInvalid, ProfilePrivate, TypeInvalid, UserNotFound, ValueInvalid
from lookup.serializers import current, earlier
from lookup.shapes.settings_schema import FIELDS

Target = TypeVar("Target", bound=Callable[..., Any])


class CurrentLookupSerializer(serializers.Serializer[Any]):
    """`error` and `user`, and a key for each include that was asked for."""

    error = serializers.CharField(allow_null=True, help_text="Null.")
    user = current.UserSerializer()

    def get_fields(self) -> dict[str, Any]:
        """Any: fields of every type."""
        return super().get_fields() | {name: one.form(required=False) for name, one in registry.INCLUDES.items()}


ONLY_TRUE = "Only the exact string `true` enables it."  # said of each switch


def _true(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.BOOL, default=False, description=f"{description} {ONLY_TRUE}")


_BASIC = OpenApiExample(
    "Without includes",
    value={
        "error": None,
        "user": {
            "id": "0c3c2a6a3b0e4a0f9d7e5f0b1a2c3d4e",
            "uid": 7,
            "username": "ada",
            "name": "Ada Example",
            "avatarUrl": "https://cdn.example.org/avatars/ada.png",
            "chatId": "268473310986240001",
            "scrobblerUsername": "ada-listens",
            "premium": False,
            "verified": True,
            "imagehost": False,
            "inactive": False,
            "createdAt": "2026-01-31T12:00:00.000Z",
        },
    },
    response_only=True,
    status_codes=["200"],
)


class _StyledProfile(OpenApiSerializerExtension):
    """Adds the style fields, which come from the table of settings. `form`: the column with their names."""

    form: ClassVar[str]

    def map_serializer(self, auto_schema: AutoSchema, direction: Literal["request", "response"]) -> dict[str, Any]:
        schema = dict(auto_schema._map_basic_serializer(self.target, direction))
        styles = {name: field.rule.json_schema() for field in FIELDS if (name := getattr(field, self.form))}
        schema["properties"] = {**schema["properties"], **styles}
        schema["required"] = [*schema["required"], *styles]
        return schema


class EarlierProfileExtension(_StyledProfile):
    target_class = earlier.EarlierProfileSerializer
    form = "earlier"


class BoardProfileExtension(_StyledProfile):
    target_class = earlier.BoardProfileSerializer
    form = "leaderboard"


user_lookup = extend_schema(
    operation_id="lookup_user",
    summary="Look up a user",
    description="A basic record, and the sections of the profile that are asked for.",
    tags=["Lookup"],
    parameters=[
        OpenApiParameter(
            "type",
            str,
            required=True,
            enum=tuple(resolve.TYPES),
            description="`username` takes no notice of case and falls back to aliases.",
        ),
        OpenApiParameter("value", {"type": "string", "minLength": 1, "maxLength": 64}, required=True),
        _true("showAliasProfile", "Where `value` is an alias with a profile of its own, show that profile."),
        *(_true(name, include.meaning) for name, include in registry.INCLUDES.items()),
    ],
    responses={
        200: OpenApiResponse(CurrentLookupSerializer, examples=[_BASIC]),
        **openapi.NOT_MODIFIED,
        **openapi.error_responses(
            *(TypeInvalid, ValueInvalid, UserNotFound, ProfilePrivate), *openapi.KEY_ERRORS, *openapi.COMMON_ERRORS
        ),
    },
)


def _earlier_errors(*errors: Any) -> dict[int, OpenApiResponse]:
    """Any: error classes. Key errors are 404 here."""
    instances = [error() if isinstance(error, type) else error for error in openapi.ACCOUNT_KEY_ERRORS]
    as_404 = [error if error.status == 429 else error.with_status(404) for error in instances]
    return openapi.error_responses(*errors, *as_404, *openapi.COMMON_ERRORS)


def _earlier_lookup(by: str, schema: dict[str, Any]) -> Callable[[Target], Target]:
    return extend_schema(
        operation_id=f"lookup_{by}",
        summary=f"Look up a user by {by}, earlier form",
        description="Every failed request answers 404, those of a limit aside.",
        tags=["Lookup, earlier form"],
        parameters=[OpenApiParameter(by, schema, OpenApiParameter.PATH)],
        responses={
            200: earlier.EarlierUserSerializer,
            **openapi.NOT_MODIFIED,
            **_earlier_errors(UserNotFound, ProfilePrivate),
        },
    )


username_lookup = _earlier_lookup("username", {"type": "string", "maxLength": 64})
uid_lookup = _earlier_lookup("uid", {"type": "string", "pattern": "^[0-9]+$"})

_LIMIT = OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": 100, "default": 10})


def board(name: str, ranked_by: str) -> Callable[[Target], Target]:
    described = extend_schema(
        operation_id=f"leaderboard_{name}",
        summary=f"Users ranked by {ranked_by}",
        description="Ranked every five minutes; `change` is the rank before minus the rank now, 0 for new users.",
        tags=["Leaderboards"],
        parameters=[_LIMIT],
        responses={
            200: earlier.BoardEntrySerializer(many=True),
            **openapi.NOT_MODIFIED,
            **_earlier_errors(LimitInvalid),
        },
    )
    return extend_schema_view(get=described)


chat_avatar = extend_schema(
    operation_id="chat_avatar",
    summary="The current chat-platform picture of a user",
    description="Redirects to it. Profiles that mirror their chat-platform picture point here.",
    tags=["Lookup"],
    parameters=[OpenApiParameter("user_id", str, OpenApiParameter.PATH, description="The user's `id`.")],
    responses={
        302: OpenApiResponse(description="`Location` is the picture."),
        **openapi.error_responses(UserNotFound, *openapi.COMMON_ERRORS),
    },
)
