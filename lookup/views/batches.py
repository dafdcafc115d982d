"""The endpoint POST /api/lookup/users: up to 50 users by one request, each as the lookup of one user answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from accounts import rate_limits
from accounts.api_view import BusyView
from accounts.models import Permission
from infrastructure.requests import request_context
from infrastructure.requests.errors import ApiError
from lookup import openapi
from lookup.documents import registry, resolve
from lookup.documents.resolve import Batch
from lookup.errors import BatchInvalid, BatchTooLarge, ValuesInvalid
from lookup.views import api

MAX_BODY = 16_384  # bytes; 50 values of 64 characters of four bytes, and every switch, take 13,700
_SWITCHES = (resolve.ALIAS_PROFILE, *registry.INCLUDES)


class AskedBatch(NamedTuple):
    """What a batch asks for. `includes`: in the order of the answer."""

    includes: tuple[str, ...]
    batch: Batch


class UsersLookup(BusyView):
    """A lookup of several users. Its cost is counted before anything is read; a refused body costs one request."""

    permission = Permission.LOOKUP_USER

    def cost(self, request: request_context.Request) -> int:
        """Return how many requests of the key this one counts for."""
        if request.asked is None:
            try:
                request.asked = _asked(request)
            except ApiError as error:  # which the handler raises, once the key is accepted
                request.asked = error
        return 1 if isinstance(request.asked, ApiError) else rate_limits.batch_cost(len(request.asked.batch.keys))

    @openapi.users_lookup
    def post(self, request: request_context.Request) -> bytes:
        asked = request.asked
        if isinstance(asked, ApiError):
            raise asked
        answers = resolve.answers_to(asked.batch, asked.includes, request.now)
        return b'{"error":null,"results":[%b]}' % b",".join(answers)


def _asked(request: request_context.Request) -> AskedBatch:
    """Read the body. Raises BatchTooLarge, BatchInvalid, TypeInvalid, ValuesInvalid, ValueInvalid.

    Names that it does not know are ignored, as in a query.
    """
    body = _body(request)
    switches = [body.get(name, False) for name in _SWITCHES]
    if not all(isinstance(switch, bool) for switch in switches):
        raise BatchInvalid
    by = body.get("type")
    enabled = [name for name, switch in zip(_SWITCHES, switches, strict=True) if switch]
    includes, prepared = api.prepared(by if isinstance(by, str) else "", enabled)
    return AskedBatch(includes, prepared.of_each(_values(body.get("values"))))


def _values(sent: object) -> Sequence[str]:
    if not isinstance(sent, list) or not 1 <= len(sent) <= rate_limits.MAX_BATCH:
        raise ValuesInvalid
    try:
        "".join(sent).encode()
    except (TypeError, UnicodeEncodeError):  # something else than a string, or half of a surrogate pair
        raise ValuesInvalid from None
    return sent


def _body(request: request_context.Request) -> dict[str, Any]:
    """Return the JSON object that was sent (Any: JSON). No more than MAX_BODY bytes meet the decoder."""
    try:
        sent = request.body(MAX_BODY)
    except (EOFError, OSError, ValueError):  # it ends early, its client is gone, its length is no number
        raise BatchInvalid from None
    if len(sent) > MAX_BODY:
        raise BatchTooLarge
    try:
        body = _DECODER.decode(sent.decode())
    except (ValueError, RecursionError):
        raise BatchInvalid from None
    if not isinstance(body, dict):
        raise BatchInvalid
    return body


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises ValueError where it repeats a name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _no_constant(name: str) -> object:
    raise ValueError(name)  # NaN and the infinities, which JSON has not


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)
