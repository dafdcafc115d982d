"""No table holds a code, token or secret in clear."""

from __future__ import annotations

import base64
import hashlib

import pytest
from django.db import connection
from django.test import Client

from oidc_provider.applications import applications
from oidc_provider.token import signing
from tests.factories.accounts import PASSWORD, UserFactory
from tests.oidc_provider.protocol import App, code_for


def _everything_stored() -> str:
    """Return all rows of all tables as text."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        parts = []
        for table in tables:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - names of our own tables
            parts += [_text(value) for row in cursor.fetchall() for value in row]
    return "\n".join(parts)


def _text(value: object) -> str:
    if isinstance(value, bytes | memoryview):
        return bytes(value).decode("latin-1")
    return str(value)


def _disguises(value: str) -> list[str]:
    """Return the value and its usual encodings."""
    raw = value.encode()
    return [value, raw.hex(), base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode()]


def test_no_code_token_or_secret_is_stored_in_clear(app: App, browser: Client) -> None:
    registered = applications.register(
        owner=UserFactory(), name="Fresh", redirect_urls=["https://a.example/"], scopes=["openid"], by=None
    )
    unused, used = code_for(browser, app.application), code_for(browser, app.application, scope="openid offline_access")
    first = app.exchange(used).json()
    second = app.refresh(first["refresh_token"]).json()
    reset = applications.reset_secret(application=registered.application, by=None)
    secrets = {
        "unused code": unused,
        "used code": used,
        "access token": first["access_token"],
        "rotated refresh token": first["refresh_token"],
        "refreshed access token": second["access_token"],
        "refresh token": second["refresh_token"],
        "id_token": first["id_token"],
        "client secret": registered.client_secret,
        "reset client secret": reset,
        "password": PASSWORD,
        "signing key": signing.signer().private_key.private_bytes_raw().hex(),
    }
    stored = _everything_stored()
    found = [name for name, value in secrets.items() if any(disguise in stored for disguise in _disguises(value))]
    assert found == []


def test_codes_tokens_and_secrets_are_found_by_their_sha_256(app: App, browser: Client) -> None:
    unused = code_for(browser, app.application)
    tokens = app.sign_in(browser)
    stored = _everything_stored()
    for value in (unused, tokens["access_token"], tokens["refresh_token"], app.secret):
        assert hashlib.sha256(value.encode()).hexdigest() in stored


@pytest.mark.django_db
def test_codes_and_tokens_have_no_index_for_like() -> None:
    """Django adds such an index to unique texts on PostgreSQL: no query reads it, and each INSERT updates it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%%varchar_pattern_ops%%' AND tablename IN "
            "('oidc_provider_grant', 'oidc_provider_accesstoken', 'oidc_provider_refreshtoken')"
        )
        assert cursor.fetchall() == []


@pytest.mark.django_db
def test_using_up_a_code_or_a_token_touches_no_index() -> None:
    """An UPDATE within a page costs a quarter of one that adds an entry to each index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE tablename IN ('oidc_provider_grant', 'oidc_provider_refreshtoken') "
            "AND indexdef ~ 'used_at|revoked|updated'"
        )
        assert cursor.fetchall() == []
        cursor.execute(
            "SELECT relname, reloptions FROM pg_class WHERE relname ~ '^oidc_provider_(grant|refreshtoken)$' ORDER BY 1"
        )
        assert cursor.fetchall() == [
            ("oidc_provider_grant", ["fillfactor=85"]),  # which leaves space within each page
            ("oidc_provider_refreshtoken", ["fillfactor=85"]),
        ]
