"""What an access token lets its app read of its user (OpenID Connect Core §5.3)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from oidc_provider import claims, request_log, statements
from oidc_provider.errors import InsufficientScope, InvalidToken, MissingToken
from oidc_provider.secret_hasher import digest


def answer(access_token: str, now: datetime) -> dict[str, Any]:
    """The claims. MissingToken, InvalidToken, or InsufficientScope without `openid`. 1 query."""
    if not access_token:
        raise MissingToken("Send the access token as Authorization: Bearer.")
    found = statements.read_access_token(digest(access_token), now)
    if found is None:
        raise InvalidToken("The access token is unknown, expired or revoked.")
    client_id, scopes, subject = found
    request_log.about(client_id=client_id, user_id=subject.id)
    if "openid" not in scopes:
        raise InsufficientScope("The access token lacks the scope openid.")
    return claims.of(subject, scopes)
