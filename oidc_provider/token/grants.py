"""The two grants of the token endpoint: a code for tokens, a refresh token for newer ones.

Each reads once (the app, what it presents, whose it is) and writes once (`issuing`). Client authentication comes first
and burns nothing.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from datetime import datetime
from typing import Any

from django.conf import settings

from accounts.hashing import digest
from accounts.models import User
from oidc_provider.applications import clients
from oidc_provider.applications.clients import Credentials
from oidc_provider.applications.models import Application
from oidc_provider.applications.scopes import in_order, parse
from oidc_provider.errors import InvalidClient, InvalidGrant, InvalidScope
from oidc_provider.log import request_log
from oidc_provider.parameters import Parameters, required
from oidc_provider.token import claims, issuing, signing, token_queries, tokens
from oidc_provider.token.issuing import NewTokens
from oidc_provider.token.token_queries import Presented
from oidc_provider.token.tokens import seconds

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}\Z")  # RFC 7636 §4.1


def exchange_code(form: Parameters, credentials: Credentials, now: datetime) -> dict[str, Any]:
    """The token response (RFC 6749 §4.1.4) for an authorization code. 2 queries on PostgreSQL."""
    client_id = clients.lookup_id(credentials.client_id)
    found = _authenticated(credentials, token_queries.read_code(client_id, digest(form.get("code"))))
    return _redeemed(found, client_id, form, now)


def exchange_own_code(*, application: Application, owner: User, form: Parameters, now: datetime) -> dict[str, Any]:
    """The token response for a code that the owner of an app brought back from trying it on our own pages.

    We hold no secret to send, so the owner's session stands for it. Only for a code whose person is the owner; all
    other rules are those of `exchange_code`.
    """
    if application.user_id != owner.pk:
        raise clients.refused()
    found = token_queries.read_code(application.client_id, digest(form.get("code")))
    if found is None or found.is_suspended:
        raise InvalidClient("This app is suspended.")
    if found.pk is not None:
        request_log.about(user_id=found.subject.id)
        if found.subject.id != owner.pk:
            raise InvalidGrant("The code was made for another person.")
    return _redeemed(found, application.client_id, form, now)


def _redeemed(found: Presented, client_id: str, form: Parameters, now: datetime) -> dict[str, Any]:
    """`found`: of an app that has proved itself."""
    required(form, "code", "redirect_uri", "code_verifier")
    if found.pk is None:
        raise InvalidGrant("The code is unknown, expired, or was made for another app.")
    if found.used_at is not None:
        tokens.revoke_family(found.family, found.application_id)
        raise InvalidGrant("The code was used before; every token that came from it is revoked.")
    if found.expires_at <= now or not found.subject.is_active:
        raise InvalidGrant("The code is unknown, expired, or was made for another app.")
    if form.get("redirect_uri") != found.redirect_uri:
        raise InvalidGrant("The redirect_uri is not the one of the authorization request.")
    if not _fits(form.get("code_verifier"), found.code_challenge):
        raise InvalidGrant("The code_verifier does not fit the code_challenge.")
    scopes = found.scopes()
    id_token = _id_token(found, client_id, scopes, now)
    new = issuing.exchange(found, scopes, now)
    if new is None:
        raise InvalidGrant("The code was used before.")
    return _response(new, scopes, id_token, now)


def refresh(form: Parameters, credentials: Credentials, now: datetime) -> dict[str, Any]:
    """The token response (RFC 6749 §6) for a refresh token. 2 queries on PostgreSQL."""
    client_id = clients.lookup_id(credentials.client_id)
    found = _authenticated(credentials, token_queries.read_refresh_token(client_id, digest(form.get("refresh_token"))))
    required(form, "refresh_token")
    if found.pk is not None and found.used_at is not None:  # before the expiry: its family may outlive a rotated token
        if now - found.used_at > settings.REFRESH_REUSE_TOLERANCE:
            tokens.revoke_family(found.family, found.application_id)
        raise InvalidGrant("The refresh token was used before.")
    if found.pk is None or found.expires_at <= now or not found.subject.is_active:
        raise InvalidGrant("The refresh token is unknown, expired, revoked, or was made for another app.")
    scopes = found.scopes()
    if form.get("scope"):
        wanted = parse(form.get("scope"))
        if not wanted or not set(wanted) <= set(scopes):
            raise InvalidScope("A refresh can narrow the scope that the user granted, never widen it.")
        scopes = in_order(wanted)
    id_token = _id_token(found, client_id, scopes, now)
    new = issuing.rotate(found, scopes, now)
    if new is None:
        raise InvalidGrant("The refresh token was used before.")
    return _response(new, scopes, id_token, now)


def _authenticated(credentials: Credentials, found: Presented | None) -> Presented:
    """InvalidClient unless there is such an app and it proves itself."""
    if found is None:
        raise clients.refused()
    clients.check(credentials, found.client_secret, is_suspended=found.is_suspended)
    if found.pk is not None:
        request_log.about(user_id=found.subject.id)
    return found


def _fits(verifier: str, challenge: str) -> bool:
    """RFC 7636 §4.6 with S256."""
    if not _VERIFIER.match(verifier):
        return False
    hashed = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    return secrets.compare_digest(hashed, challenge)


def _id_token(found: Presented, client_id: str, scopes: list[str], now: datetime) -> str | None:
    """Signed before the code or token is used up: a key that cannot sign burns nothing."""
    if "openid" not in scopes:
        return None
    issued_at = int(now.timestamp())
    return signing.signer().jwt(
        {
            "iss": settings.BASE_URL,
            "aud": client_id,
            "exp": issued_at + seconds(settings.ID_TOKEN_LIFETIME),
            "iat": issued_at,
            "auth_time": found.auth_time,
            **({"nonce": found.nonce} if found.nonce else {}),
            **claims.of(found.subject, scopes),
        }
    )


def _response(new: NewTokens, scopes: list[str], id_token: str | None, now: datetime) -> dict[str, Any]:
    lifetime = seconds(settings.ACCESS_TOKEN_LIFETIME)
    return {
        "access_token": new.access_token,
        "token_type": "Bearer",
        "expires_in": lifetime,
        "expires_at": int(now.timestamp()) + lifetime,
        "scope": " ".join(scopes),
        **({"id_token": id_token} if id_token else {}),
        **({"refresh_token": new.refresh_token} if new.refresh_token else {}),
    }
