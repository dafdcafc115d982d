"""Tells an app whether a token of its own still lives (RFC 7662)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings

from oidc_provider import clients, request_log, statements
from oidc_provider.clients import Credentials
from oidc_provider.secret_hasher import digest


def describe(credentials: Credentials, token: str, now: datetime) -> dict[str, Any]:
    """What RFC 7662 §2.2 says of a live token of the calling app, `{"active": false}` of every other one.

    InvalidClient unless the app proves itself. 1 query for the app and a token of either kind, so no hint is needed.
    """
    client_id = clients.lookup_id(credentials.client_id)
    found = statements.read_for_introspection(client_id, digest(token), now)
    if found is None:
        raise clients.refused()
    clients.check(credentials, found.client_secret, is_suspended=found.is_suspended)
    if not found.token_type:
        return {"active": False}
    request_log.about(user_id=found.user_id)
    return {
        "active": True,
        "iss": settings.BASE_URL,
        "client_id": client_id,
        "sub": found.user_id,
        "scope": " ".join(found.scopes),
        "token_type": found.token_type,
        "exp": int(found.expires_at.timestamp()),
        "iat": int(found.issued_at.timestamp()),
    }
