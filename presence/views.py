"""The views of live presence: lookup, event streams and profile card."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from accounts import authentication, jobs, rate_limits
from accounts.api_keys import keys
from accounts.api_view import FAILURES, ApiRequest, ApiView, BusyView, error_answer, json_bytes, json_response
from accounts.authentication import header_credential
from accounts.models import Permission
from infrastructure import hashing, timestamps
from infrastructure.requests import content_security, request_context
from infrastructure.requests.request_context import Answer, Caller, Prefetch
from lookup.documents import resolve
from lookup.documents.resolve import Parts
from lookup.errors import ProfilePrivate, UserNotFound
from lookup.page import context, svg_card
from lookup.page.context import Elsewhere
from lookup.views import cards
from presence import openapi
from presence.answer import card, members, picture
from presence.errors import ChatIdInvalid, ChatIdsInvalid, OriginNotNamed, PresenceUnavailable, StreamTokenInvalid
from presence.streaming import streams, tokens, watching
from presence.streaming.streams import Asked, AsyncStream, BlockingStream, KeyInUse

IDS = re.compile(f"{members.ID}(?:,{members.ID}){{0,{rate_limits.MAX_BATCH - 1}}}")
# A fragment that is opened by itself is text: nothing in it is loaded, sent or framed.
CARD_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

MOST_LENGTH = 20 * streams.MOST_MEMBERS  # characters of `ids`: 19 digits and a comma for each


class PresenceLookup(BusyView):
    """GET /api/lookup/presence/{chatId}: the presence of a member as of now."""

    permission = Permission.LOOKUP_PRESENCE
    is_conditional = True

    def respond(self, request: request_context.Request, **parameters: str) -> Answer:
        try:
            check_id(request.method, parameters["chat_id"])
        except FAILURES as error:
            return error_answer(request, self.api_error(error))
        return super().respond(request, **parameters)

    def prefetch(self, request: request_context.Request, **parameters: str) -> Prefetch | None:
        return members.prefetch(parameters["chat_id"]) if request.method in ("GET", "HEAD") else None

    @openapi.presence_lookup
    def get(self, request: request_context.Request, chat_id: str) -> bytes:
        return members.body_of(chat_id, request.now, request.prefetch.reply if request.prefetch else None)


def check_id(method: str | None, chat_id: str) -> None:
    """Refuse a malformed id before the key is checked; the address's limit counts the request."""
    if method in ("GET", "HEAD"):
        try:
            members.check(chat_id)
        except ChatIdInvalid:
            authentication.count_address()
            raise


class PresencesLookup(BusyView):
    """GET /api/lookup/presence?ids=: the presence of several members as of now."""

    permission = PresenceLookup.permission

    def respond(self, request: request_context.Request, **parameters: str) -> Answer:
        if request.method in ("GET", "HEAD"):
            try:
                request.asked = asked_ids(request)
            except FAILURES as error:
                return error_answer(request, self.api_error(error))
        return super().respond(request, **parameters)

    def cost(self, request: request_context.Request) -> int:
        return rate_limits.batch_cost(len(request.asked))

    @openapi.presences_lookup
    def get(self, request: request_context.Request) -> bytes:
        answers = members.bodies_of(request.asked, request.now, lookups=self.cost(request))
        return b'{"error":null,"results":[%b]}' % b",".join(answers)


def asked_ids(request: request_context.Request) -> list[str]:
    """Return the ids of the query. Malformed ones are refused as by `check_id`. Raises ChatIdsInvalid;
    SuspiciousOperation as the query."""
    try:
        text = request.query.single("ids") or ""
        if not IDS.fullmatch(text):
            raise ChatIdsInvalid
    except (ChatIdsInvalid, SuspiciousOperation):
        authentication.count_address()
        raise
    return text.split(",")


class PresenceEvents(ApiView):
    """GET /api/lookup/presence/{chatId}/events: the presence, and every change of it, as server-sent events.

    Keys, limits and errors are as for the lookup.
    """

    permission = PresenceLookup.permission

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        check_id(request.method, kwargs["chat_id"])
        return super().answer(request, *args, **kwargs)

    @openapi.presence_events
    def get(self, request: ApiRequest, chat_id: str) -> StreamingHttpResponse:
        presence = members.presence_of(chat_id, timezone.now())
        secret_hash = hashing.digest(header_credential(request_context.Request.of(request)) or "")
        asked: Asked = {
            "told": {int(chat_id): watching.of_presence(presence)},
            "key": KeyInUse(request.caller.key_id, request.caller.owner_id, secret_hash, self.permission),
            "last_event_id": request.META.get("HTTP_LAST_EVENT_ID", ""),
        }
        return _stream_response(request, asked)


class PresenceEventsOfMany(ApiView):
    """GET /api/lookup/presence/events?ids=…: the presence of up to MOST_MEMBERS members, and every change of it.

    `token` takes the place of the key's header: a browser can send none. Only its answers may be read by pages, of the
    origins that the key names.
    """

    permission = PresenceLookup.permission
    secret_hash = ""  # of the key; a view serves one request

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            try:
                _ids_of(request_context.Request.of(request))
            except (ChatIdsInvalid, SuspiciousOperation):
                authentication.count_address()
                raise
        return super().answer(request, *args, **kwargs)

    def cost(self, request: request_context.Request) -> int:
        return streams.places(len(_ids_of(request)))

    def caller_of(self, request: request_context.Request) -> Caller:
        if "token" not in request.query:
            self.secret_hash = hashing.digest(header_credential(request) or "")
            return super().caller_of(request)
        secret_hash = tokens.secret_hash_of(request.query.single("token") or "")
        if secret_hash is None:
            authentication.count_address()
            raise StreamTokenInvalid
        self.secret_hash = secret_hash
        return authentication.check_hash(
            secret_hash, permission=self.permission, now=request.now, cost=self.cost(request)
        )

    @openapi.presence_events_of_many
    def get(self, request: ApiRequest) -> StreamingHttpResponse:
        value = request_context.Request.of(request)
        headers = _cors(value, request.caller.key_id) if "token" in value.query else {}
        told, unwatched = watching.first_news(_ids_of(value), value.now)
        asked: Asked = {
            "told": told,
            "key": KeyInUse(request.caller.key_id, request.caller.owner_id, self.secret_hash, self.permission),
            "last_event_id": value.meta.get("HTTP_LAST_EVENT_ID") or value.query.single("lastEventId") or "",
            "form": streams.MANY,
            "unwatched": unwatched,
        }
        response = _stream_response(request, asked)
        for name, content in headers.items():
            response.headers[name] = content
        return response


def _ids_of(request: request_context.Request) -> list[str]:
    """Return the ids of the query, each once. Raises ChatIdsInvalid; SuspiciousOperation as the query."""
    text = request.query.single("ids") or ""
    ids = text.split(",") if len(text) <= MOST_LENGTH else []
    if not 1 <= len(ids) <= streams.MOST_MEMBERS:
        raise ChatIdsInvalid
    try:
        for chat_id in ids:
            members.check(chat_id)
    except ChatIdInvalid as error:
        raise ChatIdsInvalid from error
    if any(chat_id.startswith("0") for chat_id in ids):  # no other way to write the number of another id
        raise ChatIdsInvalid
    return list(dict.fromkeys(ids))


def _cors(request: request_context.Request, key_id: int) -> dict[str, str]:
    """Return the headers by which a page may read the answer to a token. Raises OriginNotNamed. 1 query for a page."""
    origin = request.meta.get("HTTP_ORIGIN")
    if origin is None:  # no page of another origin: browsers always name theirs
        return {"Vary": "Origin"}
    if origin not in keys.origins_of(key_id):
        raise OriginNotNamed
    return {"Vary": "Origin", "Access-Control-Allow-Origin": origin}


class PresenceStreamToken(ApiView):
    """POST /api/lookup/presence/stream-token: a token for PresenceEventsOfMany."""

    permission = PresenceLookup.permission

    @openapi.presence_stream_token
    def post(self, request: ApiRequest) -> HttpResponse:
        secret_hash = hashing.digest(header_credential(request_context.Request.of(request)) or "")
        token = tokens.issue(secret_hash, now=timezone.now())
        expires_at = timestamps.iso(token.expires_at)
        return json_response(json_bytes({"error": None, "token": token.text, "expiresAt": expires_at}))


def _stream_response(request: ApiRequest, asked: Asked) -> StreamingHttpResponse:
    """Return the answer that is the stream, or to HEAD its headers."""
    kind = AsyncStream if isinstance(request, ASGIRequest) else BlockingStream
    content = _nothing(request) if request.method == "HEAD" else kind(**asked)
    response = StreamingHttpResponse(content, content_type=streams.CONTENT_TYPE)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"  # nginx passes each event on at once
    jobs.close_connections()  # other requests need them; this one may last for an hour
    return response


def _nothing(request: ApiRequest) -> tuple[()] | AsyncIterator[bytes]:
    """Return the content of a HEAD, as WSGI or ASGI iterates it."""
    return _no_events() if isinstance(request, ASGIRequest) else ()


async def _no_events() -> AsyncIterator[bytes]:
    nothing: tuple[bytes, ...] = ()
    for event in nothing:
        yield event


@csrf_exempt  # no cookie decides anything: a POST is 405
@require_safe
def show_card(request: HttpRequest, name: str) -> HttpResponse:
    """Show the card on a profile page, for the script that refreshes it: GET /presence/card/{username}.

    200 with HTML, 204 where there is no card now, 404 where the name shows no profile.
    """
    try:
        user = resolve.answer("username", name, Parts(("profile",), is_alias_profile=True), timezone.now())
    except (UserNotFound, ProfilePrivate):
        return _card_response("", status=404)
    chosen = json.loads(user.texts["profile"])["settings"]
    is_mirrored = chosen["avatarSettings"]["enabled"] and chosen["avatarSettings"]["mirrorChat"]
    found = card.of_user(user.account["chatId"], chosen, is_mirrored=is_mirrored, now=timezone.now())
    if found is None:
        return _card_response("", status=204)
    return _card_response(render_to_string("presence/card.html", {"card": found}))


@csrf_exempt  # as above
@require_safe
def show_picture(request: HttpRequest, name: str) -> HttpResponse:
    """Show the card for other sites: GET /{username}/presence.svg. 1 query and 1 read of the store.

    404 for a name without a profile, and for a profile without presence, alike.
    """
    now, look = timezone.now(), svg_card.look_of(request.GET.dict())
    try:
        user = resolve.answer("username", name, Parts(("profile",), has_counters=True, is_alias_profile=True), now)
    except (UserNotFound, ProfilePrivate):
        return cards.missing()
    place = context.place_of(user, name)
    if isinstance(place, Elsewhere):
        return cards.elsewhere("presence_picture", place, look)
    profile = json.loads(user.texts["profile"])
    chat_id, chosen = user.account["chatId"], profile["settings"]
    shown_name = profile["displayName"] or user.account["name"] or user.account["username"]
    try:
        found = card.find(chat_id, chosen, is_mirrored=False, now=now)
    except PresenceUnavailable:
        found = card.unknown(shown_name)
    if found is None:
        return cards.missing()
    return cards.picture(request, picture.draw(found, chosen, look, now))


def _card_response(html: str, *, status: int = 200) -> HttpResponse:
    """Return a response that neither caches nor pages of other sites may use."""
    response = HttpResponse(html, status=status)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers[content_security.HEADER] = CARD_POLICY
    return response
