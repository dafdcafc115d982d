"""What userinfo and introspection say of a token."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings

from infrastructure.hashing import digest
from oidc_provider.applications import clients
from oidc_provider.applications.clients import Credentials
from oidc_provider.errors import InsufficientScope, InvalidToken, MissingToken
from oidc_provider.token import token_queries
from oidc_provider.token.token_queries import Bearer


def bearer(access_token: str, now: datetime) -> Bearer:
    """Return app, scopes and user of an access token. MissingToken, InvalidToken. 1 query."""
    if not access_token:
        raise MissingToken("Send the access token as Authorization: Bearer.")
    found = token_queries.read_access_token(digest(access_token), now)
    if found is None:
        raise InvalidToken("The access token is unknown, expired or revoked.")
    return found


def userinfo(found: Bearer) -> dict[str, Any]:
    """Return the claims (OpenID Connect Core §5.3). InsufficientScope without `openid`."""
    if "openid" not in found.scopes:
        raise InsufficientScope("The access token lacks the scope openid.")
    return found.subject.claims(found.scopes)


def introspection(credentials: Credentials, token: str, now: datetime) -> dict[str, Any]:
    """Describe a live token of the calling app (RFC 7662 §2.2), or return `{"active": False}`.

    InvalidClient for wrong credentials. 1 query reads both kinds of token, so no hint is needed.
    """
    client_id = clients.lookup_id(credentials.client_id)
    found = token_queries.read_for_introspection(client_id, digest(token), now)
    if found is None:
        raise clients.refused()
    clients.check(credentials, found.client_secret, is_usable=found.is_usable)
    if not found.token_type:
        return {"active": False}
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
