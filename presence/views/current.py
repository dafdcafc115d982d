"""GET /api/lookup/presence/{chatId}: the presence of a member at this moment."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts import throttling
from accounts.api_json import json_bytes, json_response
from accounts.api_view import ApiRequest, ApiView
from accounts.models import Permission
from presence import members, openapi
from presence.errors import ChatIdInvalid
from presence.serializers import PresenceSerializer

_PRESENCE = PresenceSerializer()


class PresenceLookup(ApiView):
    permission = Permission.LOOKUP_PRESENCE

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """A malformed id is refused before the key is looked at; the address's limit counts it all the same."""
        if request.method in ("GET", "HEAD"):
            try:
                members.check(kwargs["chat_id"])
            except ChatIdInvalid:
                throttling.count()
                raise
        return super().answer(request, *args, **kwargs)

    @openapi.presence_lookup
    def get(self, request: ApiRequest, chat_id: str) -> HttpResponse:
        presence = members.presence_of(chat_id, timezone.now())
        return json_response(json_bytes(_PRESENCE.to_representation(presence)))
