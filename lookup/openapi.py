"""The OpenAPI descriptions of the lookups and leaderboards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework import serializers

from accounts import openapi, rate_limits
from lookup.documents import registry, resolve
from lookup.errors import (
    BatchInvalid,
    BatchTooLarge,
    LimitInvalid,
    ProfilePrivate,
    TypeInvalid,
    UserNotFound,
    ValueInvalid,
    ValuesInvalid,
)
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


_ALIAS_PROFILE = "Where {} is an alias with a profile of its own, show that profile."
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


_ASKED_BATCH = OpenApiExample(
    "Two users with their badges",
    value={"type": "username", "values": ["ada", "ben"], "badges": True},
    request_only=True,
)
_BATCH = OpenApiExample(
    "Without includes",
    value={"error": None, "results": [_BASIC.value, UserNotFound().body()]},
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
        _true(resolve.ALIAS_PROFILE, _ALIAS_PROFILE.format("`value`")),
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


class LookupBatchSerializer(serializers.Serializer[Any]):
    """`type`, `values` and the switches. Other names are ignored."""

    type = serializers.ChoiceField(tuple(resolve.TYPES), help_text="What `values` are.")
    values = serializers.ListField(
        child=serializers.CharField(min_length=1, max_length=resolve.MAX_VALUE_LENGTH),
        min_length=1,
        max_length=rate_limits.MAX_BATCH,
        help_text="The users, in the order of the answer. A value may be repeated.",
    )

    def get_fields(self) -> dict[str, Any]:
        """Any: fields of every type."""
        switches = {resolve.ALIAS_PROFILE: _ALIAS_PROFILE.format("a value")}
        switches |= {name: include.meaning for name, include in registry.INCLUDES.items()}
        return super().get_fields() | {
            name: serializers.BooleanField(required=False, default=False, help_text=meaning)
            for name, meaning in switches.items()
        }


class ElementErrorSerializer(serializers.Serializer[Any]):
    """In the place of a user who cannot be shown."""

    error = serializers.ChoiceField([UserNotFound.error, ProfilePrivate.error])


_ELEMENT = PolymorphicProxySerializer(
    component_name="LookupElement",
    serializers=[CurrentLookupSerializer, ElementErrorSerializer],
    resource_type_field_name=None,
    many=True,
)


@extend_schema_field(_ELEMENT)
class ElementsField(serializers.Field[Any, Any, Any, Any]):
    """For each value, in the order asked: the answer of the lookup of one user."""


class LookupResultsSerializer(serializers.Serializer[Any]):
    """`results` has an element for each value, in the order asked."""

    error = serializers.CharField(allow_null=True, help_text="Null.")
    results = ElementsField()


users_lookup = extend_schema(
    operation_id="lookup_users",
    summary="Look up several users",
    description=(
        "Up to 50 users by one request, each as the lookup of one user answers, or with the error in its place. It "
        "counts as one request of the key for each 10 values begun; the address counts one. A 400 or 413 counts as one."
    ),
    tags=["Lookup"],
    request={"application/json": LookupBatchSerializer},
    examples=[_ASKED_BATCH],
    responses={
        200: OpenApiResponse(LookupResultsSerializer, examples=[_BATCH]),
        **openapi.error_responses(
            *(BatchInvalid, BatchTooLarge, TypeInvalid, ValuesInvalid, ValueInvalid),
            *openapi.KEY_ERRORS,
            *openapi.COMMON_ERRORS,
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
