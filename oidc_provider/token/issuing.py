"""The write of the token path: it uses up a code or refresh token and inserts the new tokens, or does neither.

A conditional UPDATE lets one of two concurrent requests win. On PostgreSQL the write is one statement, which commits by
itself; SQLite has no INSERT inside WITH, so there it is a short transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from oauth2_provider.settings import oauth2_settings

from infrastructure.databases.statements import Statement, Value
from infrastructure.hashing import digest
from oidc_provider.secret_hasher import new_secret
from oidc_provider.token.token_queries import PresentedGrant

# $1 now, $2 what was presented, $3 to $8 of the access token, $9 to $12 of the refresh token.
_USE_CODE = "UPDATE oidc_provider_grant SET used_at = $1 WHERE id = $2 AND used_at IS NULL RETURNING id"
_ROTATE = """
    UPDATE oidc_provider_refreshtoken SET revoked = $1, updated = $1 WHERE id = $2 AND revoked IS NULL RETURNING id
"""
_KEEP = "UPDATE oidc_provider_refreshtoken SET updated = $1 WHERE id = $2 AND revoked IS NULL RETURNING id"
_INSERT_ACCESS = """
    INSERT INTO oidc_provider_accesstoken
        (token, resource, token_checksum, user_id, application_id, token_family, scope, expires, created, updated)
    SELECT '', '[]', $3, $4, $5, $6, $7, $8, $1, $1
"""
_INSERT_REFRESH = """
    INSERT INTO oidc_provider_refreshtoken
        (token, resource, token_checksum, user_id, application_id, token_family, scope, expires_at, auth_time,
         created, updated)
    SELECT '', '[]', $9, $4, $5, $6, $10, $11, $12, $1, $1
"""
_FOR_ACCESS_TOKEN = 8  # values


@dataclass(frozen=True)
class NewTokens:
    """The values of new tokens, which are not stored."""

    access_token: str
    refresh_token: str | None


class _Issue:
    """Run the statement `use_up` and insert the tokens."""

    def __init__(self, use_up: str) -> None:
        used = f"WITH used AS ({use_up})"
        self._both = Statement(
            f"{used}, issued AS ({_INSERT_ACCESS} FROM used RETURNING id) {_INSERT_REFRESH} FROM issued RETURNING id",
            "i",
            is_read=False,
        )
        self._access_alone = Statement(f"{used} {_INSERT_ACCESS} FROM used RETURNING id", "i", is_read=False)
        self._use_up = Statement(use_up, "i", is_read=False)
        self._access_token = Statement(f"{_INSERT_ACCESS} RETURNING id", "i", is_read=False)
        self._refresh_token = Statement(f"{_INSERT_REFRESH} RETURNING id", "i", is_read=False)

    def __call__(self, values: list[Value]) -> bool:
        """Return False if another request was first; waits until that one has ended."""
        if connection.vendor == "postgresql":
            statement = self._access_alone if len(values) == _FOR_ACCESS_TOKEN else self._both
            return statement.one(*values) is not None
        with transaction.atomic():
            if self._use_up.one(*values) is None:
                return False
            self._access_token.one(*values)
            if len(values) > _FOR_ACCESS_TOKEN:
                self._refresh_token.one(*values)
        return True


_for_code, _for_refresh_token, _for_kept_token = _Issue(_USE_CODE), _Issue(_ROTATE), _Issue(_KEEP)


def exchange(code: PresentedGrant, scopes: list[str], now: datetime) -> NewTokens | None:
    """Return the tokens for a code, or None if it is used. 1 query on PostgreSQL."""
    return _issued(_for_code, code, scopes, now)


def rotate(refresh_token: PresentedGrant, scopes: list[str], now: datetime) -> NewTokens | None:
    """Return the tokens for a refresh token, or None if it is rotated. 1 query on PostgreSQL."""
    return _issued(_for_refresh_token, refresh_token, scopes, now)


def renew(refresh_token: PresentedGrant, value: str, scopes: list[str], now: datetime) -> NewTokens | None:
    """Without rotation: return a new access token and the kept refresh token `value`. 1 query on PostgreSQL."""
    access_token = new_secret()
    is_issued = _for_kept_token(_of_access_token(access_token, refresh_token, scopes, now))
    return NewTokens(access_token, value) if is_issued else None


def _issued(issue: _Issue, presented: PresentedGrant, scopes: list[str], now: datetime) -> NewTokens | None:
    """Issue an access token for `scopes`, and a refresh token if offline_access is granted and still registered.

    The refresh token keeps all granted scopes, even beside an access token with fewer.
    """
    access_token, refresh_token = new_secret(), None
    values = _of_access_token(access_token, presented, scopes, now)
    if "offline_access" in presented.scopes():
        refresh_token = new_secret()
        expires_at = now + timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
        values += [digest(refresh_token), presented.scope, expires_at, presented.auth_time]
    return NewTokens(access_token, refresh_token) if issue(values) else None


def _of_access_token(value: str, presented: PresentedGrant, scopes: list[str], now: datetime) -> list[Value]:
    """Return the values $1 to $8."""
    expires = now + timedelta(seconds=oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS)
    family = presented.family.replace("-", "")
    owner: list[Value] = [presented.subject.id, presented.application_id, family]
    return [now, presented.pk, digest(value), *owner, " ".join(scopes), expires]
