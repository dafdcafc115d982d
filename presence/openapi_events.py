"""What the OpenAPI document says of the presence events."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from presence import openapi

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
    parameters=[openapi.CHAT_ID, _LAST_EVENT_ID, openapi.RETRY_AFTER],
    responses={
        (200, "text/event-stream"): OpenApiResponse(
            OpenApiTypes.STR, description="Events.", examples=[OpenApiExample("A stream", value=_EXAMPLE)]
        ),
        **openapi.responses(),
    },
)
