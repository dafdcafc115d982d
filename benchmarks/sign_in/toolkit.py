"""django-oauth-toolkit: rows as it writes them. Each refresh token has an access token, whose scopes are its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg

from benchmarks.sign_in import values
from benchmarks.sign_in.copying import copy
from benchmarks.sign_in.values import ACCESS, CODE, REFRESH, SCOPES, Plan, sha256

_SCOPE = " ".join(SCOPES)
Row = tuple[Any, ...]


def fill(database_url: str, plan: Plan) -> None:
    """Write the users, the apps, and all codes and tokens."""
    with psycopg.connect(database_url) as connection:
        copy(connection, "auth_user", _USER, _users(plan))
        copy(connection, "oauth2_provider_application", _APP, _apps(plan))
        copy(connection, "oauth2_provider_grant", _CODE, _codes(plan))
        copy(connection, "oauth2_provider_accesstoken", _TOKEN, _access_tokens(plan))
        copy(connection, "oauth2_provider_refreshtoken", _REFRESH, _refresh_tokens(plan))
        for table in ("grant", "accesstoken", "refreshtoken"):
            connection.execute(
                f"SELECT setval(pg_get_serial_sequence('oauth2_provider_{table}', 'id'), {2 * plan.tokens + 1})"
            )


_USER = "id password is_superuser username first_name last_name email is_staff is_active date_joined"
_APP = (
    "id client_id user_id redirect_uris post_logout_redirect_uris client_type authorization_grant_type client_secret "
    "hash_client_secret name skip_authorization created updated algorithm allowed_origins registration_source"
)
_CODE = (
    "id code user_id application_id expires redirect_uri scope created updated code_challenge code_challenge_method "
    "nonce claims resource"
)
_TOKEN = "id token token_checksum user_id application_id expires scope created updated resource"  # noqa: S105
_REFRESH = "id token token_checksum user_id application_id access_token_id token_family created updated resource"


def _users(plan: Plan) -> Iterator[Row]:
    for number in range(plan.users):
        name, email = f"user-{number}", f"user-{number}@example.org"
        yield number + 1, "!", False, name, f"User {number}", "", email, False, True, plan.now


def _apps(plan: Plan) -> Iterator[Row]:
    for number in range(values.APPS):
        app = values.app(number)
        yield (
            number + 1, app.client_id, 1, values.REDIRECT_URL, "", "confidential", "authorization-code",
            app.client_secret, False, f"App {number}", False, plan.now, plan.now, "RS256", "", "manual",
        )  # fmt: skip


def _codes(plan: Plan) -> Iterator[Row]:
    expires = plan.now + values.CODE_LIFETIME
    for number in range(plan.tokens):
        yield (
            number + 1, values.secret(CODE, number), *_owner(plan, number), expires, values.REDIRECT_URL, _SCOPE,
            plan.now, plan.now, values.challenge(number), "S256", f"nonce-{number}", "", "[]",
        )  # fmt: skip


def _access_tokens(plan: Plan) -> Iterator[Row]:
    """First those that belong to the refresh tokens, then those that the requests use."""
    expires = plan.now + values.ACCESS_LIFETIME
    for identifier, kind, number in (
        *((number + 1, "beside", number) for number in range(plan.tokens)),
        *((number + 1 + plan.tokens, ACCESS, number) for number in range(plan.tokens)),
    ):
        value = values.secret(kind, number)
        owner = _owner(plan, number)
        yield identifier, value, sha256(value).hex(), *owner, expires, _SCOPE, plan.now, plan.now, "[]"


def _refresh_tokens(plan: Plan) -> Iterator[Row]:
    for number in range(plan.tokens):
        value = values.secret(REFRESH, number)
        owner = _owner(plan, number)
        yield number + 1, value, sha256(value).hex(), *owner, number + 1, uuid.uuid4(), plan.now, plan.now, "[]"


def _owner(plan: Plan, number: int) -> tuple[int, int]:
    return plan.user_of(number) + 1, plan.app_of(number) + 1
