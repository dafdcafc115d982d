"""Links accounts of the music scrobbler.

It speaks a protocol of its own (https://www.last.fm/api/webauth): people are sent to it with our API key and come back
with a token, which a request signed by MD5 turns into their name.
"""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
import time
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase

from accounts.linking import link_flow
from accounts.linking.link_flow import Identity
from infrastructure import http_client
from infrastructure.http_client import NoAnswer

logger = logging.getLogger(__name__)

STATES = "scrobbler_states"  # session key: the linkings that were begun, and when (UNIX seconds)
STATE_LIFETIME = 600
MAX_STATES = 5
MAX_ID = 64  # characters
_TOKEN = re.compile(r"[\x21-\x7e]{1,200}")

NOT_GRANTED = {14}  # error codes of auth.getSession
TOKEN_IS_OVER = {4, 15}


class Refused(Exception):
    """There is no account to link; the message is for the person."""


def begin(session: SessionBase) -> str:
    """Return a state that only this session knows, for 10 minutes."""
    now = time.time()
    alive = {state: at for state, at in session.get(STATES, {}).items() if now - at < STATE_LIFETIME}
    state = secrets.token_urlsafe(24)
    session[STATES] = {**dict(list(alive.items())[1 - MAX_STATES :]), state: now}
    return state


def take(session: SessionBase, state: str) -> bool:
    """Return whether this session has begun the state, not long ago. It counts once."""
    states = dict(session.get(STATES, {}))
    begun_at = states.pop(state, None)
    if begun_at is None:
        return False
    session[STATES] = states
    return bool(time.time() - begun_at < STATE_LIFETIME)


def authorize_url(callback_url: str) -> str:
    """Return where the person allows it. The service adds `token` to `callback_url`."""
    query = urlencode({"api_key": settings.SCROBBLER.api_key, "cb": callback_url})
    return f"{settings.SCROBBLER.authorize_url}?{query}"


def identity_of(token: str) -> Identity:
    """Return the identity behind the token, which uses it up. Refused: unknown token, or no answer."""
    if not _TOKEN.fullmatch(token):
        raise Refused(link_flow.NOT_ALLOWED)
    call = {"method": "auth.getSession", "api_key": settings.SCROBBLER.api_key, "token": token}
    signed = {**call, "api_sig": signature(call, settings.SCROBBLER.secret), "format": "json"}
    try:
        body = http_client.read("POST", settings.SCROBBLER.api_url, form=signed, seconds=link_flow.SECONDS).body
    except NoAnswer as error:
        logger.warning("The scrobbler did not answer: %s", error)
        raise Refused(link_flow.NOT_ANSWERING) from error
    return _identity(body if isinstance(body, dict) else {})


def signature(call: dict[str, str], secret: str) -> str:
    """Return `api_sig`: MD5 over names and values, sorted by name, then the secret, as the protocol demands."""
    text = "".join(f"{name}{value}" for name, value in sorted(call.items())) + secret
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _identity(body: dict[str, Any]) -> Identity:
    """Return the identity of an answer, which may be an error."""
    code = body.get("error")
    number = code if isinstance(code, int) else None
    if number in NOT_GRANTED:
        raise Refused(link_flow.NOT_ALLOWED)
    if number in TOKEN_IS_OVER:
        raise Refused(link_flow.ASKED_TOO_LATE)
    session = body.get("session")
    name = http_client.name_of(session.get("name")) if isinstance(session, dict) else ""
    if code is not None or not name or len(name.lower()) > MAX_ID:
        logger.warning("The scrobbler gave no account to link: error %.20r", number)
        raise Refused(link_flow.NOT_ANSWERING)
    return Identity(external_id=name.lower(), name=name)
