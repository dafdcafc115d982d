"""Better Auth: its own migrations, then rows as its own endpoints write them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg

from benchmarks.sign_in import values
from benchmarks.sign_in.copying import copy
from benchmarks.sign_in.values import ACCESS, CODE, REFRESH, Plan, base64url, sha256

SCOPES = ("openid", "profile", "email", "offline_access")
_LISTED = json.dumps(SCOPES)
Row = tuple[Any, ...]


def fill(database_url: str, plan: Plan) -> None:
    """Write the users, their sessions, the apps, and all codes and tokens."""
    now, later = plan.now, plan.now + timedelta(days=7)
    with psycopg.connect(database_url) as connection:
        users = ((f"user-{n}", f"User {n}", f"user-{n}@example.org", True, now, now) for n in range(plan.users))
        copy(connection, "user", "id name email emailVerified createdAt updatedAt", users)
        sessions = (
            (f"session-{n}", later, values.secret("session", n), now, now, f"user-{n}") for n in range(plan.users)
        )
        copy(connection, "session", "id expiresAt token createdAt updatedAt userId", sessions)
        copy(connection, "oauthClient", _APP, _apps(plan))
        copy(connection, "verification", "id identifier value expiresAt createdAt updatedAt", _codes(plan))
        tokens = "id token clientId sessionId userId expiresAt createdAt scopes"
        copy(connection, "oauthRefreshToken", f"{tokens} authTime", _refresh_tokens(plan))
        copy(connection, "oauthAccessToken", tokens, _access_tokens(plan))


_APP = (
    "id clientId clientSecret disabled scopes redirectUris tokenEndpointAuthMethod applicationType grantTypes "
    "responseTypes requirePKCE clientCredentialsScopes dpopBoundAccessTokens name createdAt updatedAt"
)


def _apps(plan: Plan) -> Iterator[Row]:
    for number in range(values.APPS):
        app = values.app(number)
        grants, redirects = json.dumps(["authorization_code", "refresh_token"]), json.dumps([values.REDIRECT_URL])
        yield (
            f"client-{number}", app.client_id, _hashed(app.client_secret), False, _LISTED, redirects,
            "client_secret_basic", "web", grants, '["code"]', True, "[]", False, f"App {number}", plan.now, plan.now,
        )  # fmt: skip


def _codes(plan: Plan) -> Iterator[Row]:
    expires = plan.now + values.CODE_LIFETIME
    for number in range(plan.tokens):
        query = {
            "response_type": "code",
            "client_id": values.app(plan.app_of(number)).client_id,
            "redirect_uri": values.REDIRECT_URL,
            "scope": " ".join(SCOPES),
            "state": "state",
            "nonce": f"nonce-{number}",
            "code_challenge": values.challenge(number),
            "code_challenge_method": "S256",
        }
        user = plan.user_of(number)
        about = {
            "type": "authorization_code",
            "query": query,
            "userId": f"user-{user}",
            "sessionId": f"session-{user}",
            "authTime": int(plan.now.timestamp() * 1000),
        }
        identifier = _hashed(values.secret(CODE, number))
        yield f"code-{number}", identifier, json.dumps(about), expires, plan.now, plan.now


def _refresh_tokens(plan: Plan) -> Iterator[Row]:
    expires = plan.now + values.REFRESH_LIFETIME
    for number in range(plan.tokens):
        yield (*_token(plan, REFRESH, number), expires, plan.now, _LISTED, plan.now)


def _access_tokens(plan: Plan) -> Iterator[Row]:
    expires = plan.now + values.ACCESS_LIFETIME
    for number in range(plan.tokens):
        yield (*_token(plan, ACCESS, number), expires, plan.now, _LISTED)


def _token(plan: Plan, kind: str, number: int) -> Row:
    user = plan.user_of(number)
    client_id = values.app(plan.app_of(number)).client_id
    return f"{kind}-{number}", _hashed(values.secret(kind, number)), client_id, f"session-{user}", f"user-{user}"


def _hashed(value: str) -> str:
    """How Better Auth stores secrets and tokens."""
    return base64url(sha256(value))
