"""What apps do with codes and tokens: exchange, refresh, read user info, introspect.

Each grant reads once (the app, its code or token, the user) and writes once. Client authentication comes first and uses
nothing up. Lifetimes, PKCE, rotation and reuse protection are those of `OAUTH2_PROVIDER`.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from jwcrypto.common import base64url_encode
from oauth2_provider.settings import oauth2_settings

from accounts.models import User
from infrastructure.hashing import digest
from oidc_provider import client_requests, request_log, revocation
from oidc_provider.applications import roles
from oidc_provider.applications.scopes import in_order, parse
from oidc_provider.client_requests import Credentials, Parameters, required
from oidc_provider.errors import InsufficientScope, InvalidGrant, InvalidScope, InvalidToken, MissingToken
from oidc_provider.models import Application, Role
from oidc_provider.token import signing, token_queries
from oidc_provider.token.token_queries import Bearer, NewTokens, PresentedGrant

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}\Z")  # RFC 7636 §4.1


def exchange(form: Parameters, credentials: Credentials, now: datetime) -> dict[str, Any]:
    """Return the token response (RFC 6749 §4.1.4) for a code. InvalidClient before anything else. 2 queries."""
    return _exchanged(_authenticated(credentials, token_queries.read_code, form.get("code")), form, now)


def exchange_own(form: Parameters, now: datetime, *, application: Application, owner: User) -> dict[str, Any]:
    """Return the token response for the login test of an owner or developer of the app, made for their own code.
    2 queries, 1 more for an app of a team.

    Their session replaces the client secret, of which only the hash is stored. InvalidClient as `exchange`.
    """
    role = roles.role_of(owner, application)
    if role is None or not role.includes(Role.DEVELOPER):
        raise client_requests.refused()
    found = token_queries.read_code(application.client_id, digest(form.get("code")))
    if found is None or not found.is_usable:
        raise client_requests.suspended()
    request_log.about(user_id=found.subject.id)
    if found.pk is not None and found.subject.id != owner.pk:
        raise InvalidGrant("The code was made for another person.")
    return _exchanged(found, form, now)


def _exchanged(found: PresentedGrant, form: Parameters, now: datetime) -> dict[str, Any]:
    uses_pkce = bool(found.code_challenge) or oauth2_settings.PKCE_REQUIRED
    required(form, "code", "redirect_uri", *(["code_verifier"] if uses_pkce else []))
    if found.pk is None:
        raise InvalidGrant("The code is unknown, expired, or was made for another app.")
    if found.used_at is not None:
        revocation.revoke_family(found.family, found.subject.id, found.application_id)
        raise InvalidGrant("The code was used before; every token that came from it is revoked.")
    if found.expires_at <= now or not found.subject.is_active:
        raise InvalidGrant("The code is unknown, expired, or was made for another app.")
    if form.get("redirect_uri") != found.redirect_uri:
        raise InvalidGrant("The redirect_uri is not the one of the authorization request.")
    if uses_pkce and not _fits(form.get("code_verifier"), found.code_challenge):
        raise InvalidGrant("The code_verifier does not fit the code_challenge.")
    scopes = found.scopes()
    id_token = _id_token(found, scopes, now)
    new = token_queries.exchange(found, scopes, now)
    if new is None:
        raise InvalidGrant("The code was used before, or the user has disconnected the app.")
    return _response(new, scopes, id_token, now)


def refresh(form: Parameters, credentials: Credentials, now: datetime) -> dict[str, Any]:
    """Return the token response (RFC 6749 §6) for a refresh token. InvalidClient before anything else. 2 queries."""
    found = _authenticated(credentials, token_queries.read_refresh_token, form.get("refresh_token"))
    required(form, "refresh_token")
    if found.pk is not None and found.used_at is not None:  # before the expiry: its family may outlive a rotated token
        grace_period = timedelta(seconds=oauth2_settings.REFRESH_TOKEN_GRACE_PERIOD_SECONDS)  # an app may try again
        if oauth2_settings.REFRESH_TOKEN_REUSE_PROTECTION and now - found.used_at > grace_period:
            revocation.revoke_family(found.family, found.subject.id, found.application_id)
        raise InvalidGrant("The refresh token was used before.")
    if found.pk is None or found.expires_at <= now or not found.subject.is_active:
        raise InvalidGrant("The refresh token is unknown, expired, revoked, or was made for another app.")
    scopes = found.scopes()
    if form.get("scope"):
        wanted = parse(form.get("scope"))
        if not wanted or not set(wanted) <= set(scopes):
            raise InvalidScope("A refresh can narrow the scope that the user granted, never widen it.")
        scopes = in_order(wanted)
    id_token = _id_token(found, scopes, now)
    if oauth2_settings.ROTATE_REFRESH_TOKEN:
        new = token_queries.rotate(found, scopes, now)
    else:
        new = token_queries.renew(found, form.get("refresh_token"), scopes, now)
    if new is None:
        raise InvalidGrant("The refresh token was used before.")
    return _response(new, scopes, id_token, now)


def _authenticated(
    credentials: Credentials, read: Callable[[str, str], PresentedGrant | None], secret: str
) -> PresentedGrant:
    """Read the app with its code or token `secret`, and log its user. InvalidClient: an unknown app, a wrong secret."""
    found = read(client_requests.lookup_id(credentials.client_id), digest(secret))
    if found is None:
        raise client_requests.refused()
    client_requests.authenticate(credentials, found.stored_secrets, is_usable=found.is_usable)
    request_log.about(user_id=found.subject.id)
    return found


def _fits(verifier: str, challenge: str) -> bool:
    """Whether the verifier fits the challenge (RFC 7636 §4.6, S256)."""
    hashed = base64url_encode(hashlib.sha256(verifier.encode()).digest())
    return _VERIFIER.match(verifier) is not None and secrets.compare_digest(hashed, challenge)


def _id_token(found: PresentedGrant, scopes: list[str], now: datetime) -> str | None:
    """Sign before the code or token is used up, so that a missing key uses nothing up."""
    if "openid" not in scopes:
        return None
    issued_at = int(now.timestamp())
    return signing.signer().jwt(
        {
            "iss": settings.BASE_URL,
            "aud": found.client_id,
            "exp": issued_at + oauth2_settings.ID_TOKEN_EXPIRE_SECONDS,
            "iat": issued_at,
            "auth_time": found.auth_time,
            **({"nonce": found.nonce} if found.nonce else {}),
            **({"sid": found.sid} if found.sid else {}),
            **found.subject.claims(scopes),
        }
    )


def _response(new: NewTokens, scopes: list[str], id_token: str | None, now: datetime) -> dict[str, Any]:
    lifetime: int = oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS
    return {
        "access_token": new.access_token,
        "token_type": "Bearer",
        "expires_in": lifetime,
        "expires_at": int(now.timestamp()) + lifetime,
        "scope": " ".join(scopes),
        **({"id_token": id_token} if id_token else {}),
        **({"refresh_token": new.refresh_token} if new.refresh_token else {}),
    }


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
    client_id = client_requests.lookup_id(credentials.client_id)
    found = token_queries.read_for_introspection(client_id, digest(token), now)
    if found is None:
        raise client_requests.refused()
    client_requests.authenticate(credentials, found.stored_secrets, is_usable=found.is_usable)
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
