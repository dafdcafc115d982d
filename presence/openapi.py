"""What the OpenAPI document says of the presence lookup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from accounts import openapi
from infrastructure.requests.errors import ApiError
from lookup.errors import ProfilePrivate
from presence.answer.serializers import PresenceSerializer
from presence.errors import ChatIdInvalid, ChatNotFound, NotMember, PresenceUnavailable

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
