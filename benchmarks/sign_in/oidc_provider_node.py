"""node-oidc-provider: rows of our adapter's table, with the payloads that the library writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import psycopg

from benchmarks.sign_in import values
from benchmarks.sign_in.copying import copy
from benchmarks.sign_in.values import ACCESS, CODE, REFRESH, SCOPES, Plan

_SCOPE = " ".join(SCOPES)
Row = tuple[Any, ...]
Payload = dict[str, Any]  # Any: JSON


def fill(database_url: str, plan: Plan) -> None:
    """Write the accounts, the clients, a grant of each account, and all codes and tokens."""
    with psycopg.connect(database_url) as connection:
        accounts = (
            (f"user-{n}", True, f"user-{n}", f"User {n}", f"user-{n}@example.org", True) for n in range(plan.users)
        )
        copy(connection, "account", "id is_active username name email email_verified", accounts)
        copy(connection, "oidc_model", "kind id payload grant_id expires_at", _rows(plan))


def _rows(plan: Plan) -> Iterator[Row]:
    for number in range(values.APPS):
        yield "Client", values.app(number).client_id, json.dumps(_client(number)), None, None
    for number in range(plan.users):
        granted = {"accountId": f"user-{number}", "openid": {"scope": _SCOPE}}
        yield _row(plan, "Grant", f"grant-{number}", values.app_of(number), granted, values.REFRESH_LIFETIME)
    for number in range(plan.tokens):
        app, common = plan.app_of(number), _common(plan, number)
        code = {
            "codeChallenge": values.challenge(number),
            "codeChallengeMethod": "S256",
            "redirectUri": values.REDIRECT_URL,
            "nonce": f"nonce-{number}",
            "authTime": _seconds(plan.now),
        }
        begun = _seconds(plan.now)
        refresh = {"gty": "authorization_code", "rotations": 0, "iiat": begun, "authTime": begun}
        yield _row(plan, "AuthorizationCode", values.secret(CODE, number), app, common | code, values.CODE_LIFETIME)
        yield _row(plan, "RefreshToken", values.secret(REFRESH, number), app, common | refresh, values.REFRESH_LIFETIME)
        access = common | {"gty": "authorization_code", "extra": {}}
        yield _row(plan, "AccessToken", values.secret(ACCESS, number), app, access, values.ACCESS_LIFETIME)


def _row(plan: Plan, kind: str, identifier: str, app: int, more: Payload, lifetime: timedelta) -> Row:
    expires = plan.now + lifetime
    payload = {
        "iat": _seconds(plan.now),
        "exp": _seconds(expires),
        "jti": identifier,
        "kind": kind,
        "clientId": values.app(app).client_id,
        **more,
    }
    return kind, identifier, json.dumps(payload), more.get("grantId"), expires


def _common(plan: Plan, number: int) -> Payload:
    user = plan.user_of(number)
    return {"accountId": f"user-{user}", "grantId": f"grant-{user}", "scope": _SCOPE}


def _client(number: int) -> Payload:
    app = values.app(number)
    return {
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "redirect_uris": [values.REDIRECT_URL],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "introspection_endpoint_auth_method": "client_secret_basic",
        "scope": _SCOPE,
    }


def _seconds(at: datetime) -> int:
    return int(at.timestamp())
