"""GET /api/lookup/presence/{chatId}: the presence of a member as of now."""

from __future__ import annotations

from accounts import authentication, hot
from accounts.api_view import FAILURES, HotView, error_answer
from accounts.hot import Answer
from accounts.models import Permission
from presence import members, openapi
from presence.errors import ChatIdInvalid


class PresenceLookup(HotView):
    permission = Permission.LOOKUP_PRESENCE

    def respond(self, request: hot.Request, **parameters: str) -> Answer:
        try:
            check_id(request.method, parameters["chat_id"])
            if request.method in ("GET", "HEAD"):
                request.beside = members.reading(parameters["chat_id"])
        except FAILURES as error:
            return error_answer(request, self.api_error(error))
        return super().respond(request, **parameters)

    @openapi.presence_lookup
    def get(self, request: hot.Request, chat_id: str) -> bytes:
        reply = request.caller.reply if request.caller else None
        return members.body_of(chat_id, request.now, reply)


def check_id(method: str | None, chat_id: str) -> None:
    """Refuse a malformed id before the key is looked at; the address's limit counts it all the same."""
    if method in ("GET", "HEAD"):
        try:
            members.check(chat_id)
        except ChatIdInvalid:
            authentication.count_address()
            raise
