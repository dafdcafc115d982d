"""GET /api/lookup/presence/{chatId}/events: the presence of a member, and every change of it, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone

from accounts import hashing, hot, jobs
from accounts.api_view import ApiRequest, ApiView
from accounts.authentication import header_credential
from presence import members, openapi
from presence.presentation import Presence
from presence.streaming import streams
from presence.streaming.streams import AsyncStream, BlockingStream, KeyInUse
from presence.views import current


class PresenceEvents(ApiView):
    """Keys, limits and errors are those of the lookup."""

    permission = current.PresenceLookup.permission

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        current.check_id(request.method, kwargs["chat_id"])
        return super().answer(request, *args, **kwargs)

    @openapi.presence_events
    def get(self, request: ApiRequest, chat_id: str) -> StreamingHttpResponse:
        presence = members.presence_of(chat_id, timezone.now())
        content = _nothing(request) if request.method == "HEAD" else _stream(request, presence)
        response = StreamingHttpResponse(content, content_type=streams.CONTENT_TYPE)
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Accel-Buffering"] = "no"  # nginx passes each event on at once
        jobs.close_connections()  # other requests need them; this one may last for an hour
        return response


def _stream(request: ApiRequest, presence: Presence) -> BlockingStream | AsyncStream:
    kind = AsyncStream if isinstance(request, ASGIRequest) else BlockingStream
    return kind(
        presence=presence,
        key=KeyInUse(
            request.caller.key_id,
            hashing.digest(header_credential(hot.Request.of(request)) or ""),
            PresenceEvents.permission,
        ),
        last_event_id=request.META.get("HTTP_LAST_EVENT_ID", ""),
    )


def _nothing(request: ApiRequest) -> tuple[()] | AsyncIterator[bytes]:
    """Of a HEAD, in the form that the server of `request` wants."""
    return _no_events() if isinstance(request, ASGIRequest) else ()


async def _no_events() -> AsyncIterator[bytes]:
    nothing: tuple[bytes, ...] = ()
    for event in nothing:
        yield event
