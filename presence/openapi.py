"""What the OpenAPI document says of the presence lookup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
    extend_schema_field,
)
from rest_framework import serializers

from accounts import openapi, rate_limits
from infrastructure.requests.errors import ApiError
from lookup.errors import ProfilePrivate
from presence.answer.serializers import PresenceSerializer
from presence.errors import (
    ChatIdInvalid,
    ChatIdsInvalid,
    ChatNotFound,
    NotMember,
    OriginNotNamed,
    PresenceUnavailable,
    StreamTokenInvalid,
)

CHAT_ID = OpenApiParameter(
    "chat_id",
    {"type": "string", "pattern": "^[0-9]{17,19}$", "example": "268473310986240001"},
    OpenApiParameter.PATH,
    description="The account's id on the chat platform: `user.chatId` of the lookup.",
)
MISSES: tuple[type[ApiError], ...] = (NotMember, ChatNotFound, ProfilePrivate)
RETRY_AFTER = OpenApiParameter(
    "Retry-After",
    {"type": "integer", "minimum": 1},
    OpenApiParameter.HEADER,
    description="In how many seconds to ask again.",
    response=[429, 503],
)
_ADA = json.loads(Path(__file__).with_name("openapi_example.json").read_text("utf-8"))


class MissSerializer(serializers.Serializer[Any]):
    """Why the account is invisible."""

    error = serializers.CharField()
    miss = serializers.ChoiceField(["notMember", "notFound"], required=False)


def responses() -> dict[int, OpenApiResponse]:
    """Return the errors of a lookup by chat id, each with its body as an example."""
    found = openapi.error_responses(ChatIdInvalid, *openapi.KEY_ERRORS, *openapi.COMMON_ERRORS, PresenceUnavailable())
    found[404] = OpenApiResponse(
        MissSerializer,
        description=(
            "The account has not joined the chat server, or no account has this id. No `miss`: the user who linked "
            "the account turned public API access off."
        ),
        examples=[OpenApiExample(error.__name__, value=error().body()) for error in MISSES],
    )
    return dict(sorted(found.items()))


presence_lookup = extend_schema(
    operation_id="lookup_presence",
    summary="Look up a member's live presence",
    description=(
        "Status and activities as of this moment; the banner is read anew by the first lookup after 30 seconds, and "
        "shown by the next one; biography and the badges that come with it are at most a day old, and null at the "
        "very first lookup. Only members of the service's chat server are "
        "visible, and none whose user turned public API access off. While nobody can know a presence, the answer is "
        "503, never an invented `offline`."
    ),
    tags=["Lookup"],
    parameters=[CHAT_ID, RETRY_AFTER],
    responses={
        200: OpenApiResponse(PresenceSerializer, examples=[OpenApiExample("A member", value=_ADA)]),
        **openapi.NOT_MODIFIED,
        **responses(),
    },
)


class PresenceErrorSerializer(MissSerializer):
    """In the place of an account whose presence cannot be shown."""


_ELEMENT = PolymorphicProxySerializer(
    component_name="PresenceElement",
    serializers=[PresenceSerializer, PresenceErrorSerializer],
    resource_type_field_name=None,
    many=True,
)


@extend_schema_field(_ELEMENT)
class ElementsField(serializers.Field[Any, Any, Any, Any]):
    """For each id, in the order asked: the body of the lookup of one member."""


class PresencesSerializer(serializers.Serializer[Any]):
    """`results` has an element for each id, in the order asked."""

    error = serializers.CharField(allow_null=True, help_text="Null.")
    results = ElementsField()


IDS = OpenApiParameter(
    "ids",
    {
        "type": "string",
        "pattern": f"^[0-9]{{17,19}}(,[0-9]{{17,19}}){{0,{rate_limits.MAX_BATCH - 1}}}$",
        "maxLength": 20 * rate_limits.MAX_BATCH - 1,
        "example": "268473310986240001,268473310986240002",
    },
    required=True,
    description="1 to 50 ids of accounts on the chat platform, with commas between them. An id may be repeated.",
)
presences_lookup = extend_schema(
    operation_id="lookup_presences",
    summary="Look up the presence of several members",
    description=(
        "Up to 50 members by one request, each as the lookup of one member answers, or with the error in its place. It "
        "counts as one request of the key for each 10 ids begun; the address counts one. An account that is not known "
        "yet is `errors.presenceUnavailable`; for each 10 ids begun, one such account is looked up."
    ),
    tags=["Lookup"],
    parameters=[IDS, RETRY_AFTER],
    responses={
        200: OpenApiResponse(
            PresencesSerializer,
            examples=[
                OpenApiExample(
                    "A member, and an account that is none",
                    value={"error": None, "results": [_ADA, NotMember().body()]},
                )
            ],
        ),
        **openapi.error_responses(ChatIdsInvalid, *openapi.KEY_ERRORS, *openapi.COMMON_ERRORS, PresenceUnavailable()),
    },
)


_LAST_EVENT_ID = OpenApiParameter(
    "Last-Event-ID",
    str,
    OpenApiParameter.HEADER,
    description="The id of the last event that came: a presence that is still the same is not sent again.",
)
_EXAMPLE = (
    "retry: 3000\n\n"
    'event: presence\nid: 9f2c41d07ab35e68\ndata: {"id":"268473310986240001","username":"ada", …}\n\n'
    ": heartbeat\n\n"
    'event: unavailable\nid:\ndata: {"error":"errors.presenceUnavailable"}\n\n'
)
_EVENTS = """\
Server-sent events (WHATWG HTML). The first `presence` comes at once, the next within a second of every change; `data`
is one line, the body of the lookup. Comments (`: heartbeat`) come every 15 seconds.

| Event | Data | Then |
| --- | --- | --- |
| `presence` | the presence | the stream goes on |
| `unavailable` | the lookup's 503: nobody can know the presence at the moment | it goes on, with `presence` |
| `gone` | the lookup's 404: the member has left the chat server, or the user turned public API access off | it ends |
| `closed` | the error of the key, which has been revoked, disabled or withdrawn, or has expired | it ends |

Opening a stream counts as one request; a key may hold five of them. A stream ends after an hour: connect again.
"""

presence_events = extend_schema(
    operation_id="lookup_presence_events",
    summary="Follow a member's live presence",
    description=_EVENTS,
    tags=["Lookup"],
    parameters=[CHAT_ID, _LAST_EVENT_ID, RETRY_AFTER],
    responses={
        (200, "text/event-stream"): OpenApiResponse(
            OpenApiTypes.STR, description="Events.", examples=[OpenApiExample("A stream", value=_EXAMPLE)]
        ),
        **responses(),
    },
)


def _parameter(name: str, description: str, *, is_required: bool = False, **schema: Any) -> OpenApiParameter:
    return OpenApiParameter(
        name, {"type": "string", **schema}, OpenApiParameter.QUERY, required=is_required, description=description
    )


_EXAMPLE_OF_MANY = (
    "retry: 3000\n\n"
    'event: presence\ndata: {"id":"268473310986240001","presence":{"id":"268473310986240001","username":"ada", …}}\n\n'
    "id: 9f2c41d07ab341c0ffee21aa\nevent: gone\n"
    'data: {"id":"268473310986240002","error":"errors.lookupNotMember","miss":"notMember"}\n\n'
    ": heartbeat\n\n"
)
_EVENTS_OF_MANY = """\
Server-sent events (WHATWG HTML) of up to 100 members. One event for each member comes at once, in the order of `ids`;
the next within a second of a member's change. `data` is one line of JSON, and its `id` names the member.

| Event | Data | Then |
| --- | --- | --- |
| `presence` | `{"id", "presence"}`: the body of the lookup | the stream goes on |
| `unavailable` | `{"id", "error"}`: nobody knows the presence of this member at the moment | it goes on |
| `gone` | `{"id", "error"}`, `miss` too where there is one: the lookup's 404 | it goes on: the member may come back |
| `closed` | the error of the key, without an `id` | it ends |

The last event of several has an id, at most 1200 characters; sent back, what has not changed is not sent again. Opening
a stream of N members counts as one request for each ten begun, and as one of the five streams of the key.
A browser opens the stream with `token` in place of the key, and only for pages of origins that the key names: they
alone are answered with `Access-Control-Allow-Origin`.
"""
_KEY_OR_TOKEN = (StreamTokenInvalid, OriginNotNamed)

presence_events_of_many = extend_schema(
    operation_id="lookup_presence_events_of_many",
    summary="Follow the live presence of up to 100 members",
    description=_EVENTS_OF_MANY,
    tags=["Lookup"],
    parameters=[
        _parameter(
            "ids",
            "1 to 100 ids of chat accounts, between commas. Repeated ones count, and are followed once.",
            is_required=True,
            pattern="^[1-9][0-9]{16,18}(,[1-9][0-9]{16,18}){0,99}$",
            example="268473310986240001",
        ),
        _parameter("token", "A stream token, in place of the key.", minLength=43, maxLength=43),
        _parameter("lastEventId", "As `Last-Event-ID`, which a page cannot set.", maxLength=1200),
        _LAST_EVENT_ID,
        RETRY_AFTER,
    ],
    responses={
        (200, "text/event-stream"): OpenApiResponse(
            OpenApiTypes.STR, description="Events.", examples=[OpenApiExample("A stream", value=_EXAMPLE_OF_MANY)]
        ),
        **openapi.error_responses(
            ChatIdsInvalid, *_KEY_OR_TOKEN, *openapi.KEY_ERRORS, *openapi.COMMON_ERRORS, PresenceUnavailable()
        ),
    },
)


class StreamTokenSerializer(serializers.Serializer[Any]):
    """A token that opens streams for a minute."""

    error = serializers.JSONField(allow_null=True, default=None, help_text="null")
    token = serializers.CharField(min_length=43, max_length=43)
    expiresAt = serializers.DateTimeField()  # noqa: N815 - the name in the JSON


presence_stream_token = extend_schema(
    operation_id="lookup_presence_stream_token",
    summary="Make a token for a browser's stream",
    description=(
        "The token opens streams of many members for 60 seconds, in place of the key: your server asks for it, and the "
        "page connects with it. Streams that are open by then go on, as long as the key works. It counts as one "
        "request and takes no body."
    ),
    tags=["Lookup"],
    request=None,
    parameters=[RETRY_AFTER],
    responses={
        200: OpenApiResponse(
            StreamTokenSerializer,
            examples=[
                OpenApiExample(
                    "A token",
                    value={
                        "error": None,
                        "token": "W9x0vXzJ3rK1mN5pQ7sT2uV4wY6zA8bC0dE2fG4hJ6k",
                        "expiresAt": "2026-11-26T19:00:00.000Z",
                    },
                )
            ],
        ),
        **openapi.error_responses(*openapi.KEY_ERRORS, *openapi.COMMON_ERRORS),
    },
)
