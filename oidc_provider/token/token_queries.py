"""The statements of the token path: one prepared read for each kind of request, and the write that issues tokens.

Each runs on PostgreSQL and SQLite, with the models' names of tables and columns. The write uses up a code or refresh
token and inserts the new tokens, or does neither. A conditional UPDATE lets one of two concurrent requests win. On
PostgreSQL it is one statement, which commits by itself; SQLite has no INSERT inside WITH, so there it is a short
transaction.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection, transaction
from oauth2_provider.settings import oauth2_settings

from infrastructure.databases.statements import Statement, Value
from infrastructure.hashing import digest, new_secret
from lookup.shapes import addresses
from oidc_provider.models.applications import USABLE

Row = tuple[Any, ...]

_SUBJECT_COLUMNS = """
    u.id, u.is_active, u.uid, u.username, u.display_name, u.email,
    EXISTS (SELECT 1 FROM account_emailaddress e WHERE e.user_id = u.id AND e.email = u.email AND e.verified),
    d.avatar_path, d.mirrors_chat, chat.external_id, chat.name, scrobbler.external_id, scrobbler.name
"""
_SUBJECT_TYPES = "sbisssbsbssss"
_SUBJECT_JOINS = """
    LEFT JOIN accounts_linkedaccount chat ON chat.user_id = u.id AND chat.kind = 'CHAT'
    LEFT JOIN accounts_linkedaccount scrobbler ON scrobbler.user_id = u.id AND scrobbler.kind = 'SCROBBLER'
    LEFT JOIN lookup_profiledocument d ON d.user_id = u.id AND d.is_main
"""
_CODE = Statement(
    f"""
    SELECT a.id, a.client_secret, a.second_secret, {USABLE}, a.registered_scopes,
        p.id, p.token_family, p.scope, p.auth_time, p.expires, p.used_at,
        p.redirect_uri, p.code_challenge, p.nonce, p.sid, {_SUBJECT_COLUMNS}
    FROM oidc_provider_application a
    LEFT JOIN oidc_provider_grant p ON p.application_id = a.id AND p.code = $1
        AND EXISTS (SELECT 1 FROM oidc_provider_approval v WHERE v.application_id = a.id AND v.user_id = p.user_id)
    LEFT JOIN accounts_user u ON u.id = p.user_id
    {_SUBJECT_JOINS}
    WHERE a.client_id = $2
    """,
    f"issbsissiddssss{_SUBJECT_TYPES}",
)
_REFRESH_TOKEN = Statement(
    f"""
    SELECT a.id, a.client_secret, a.second_secret, {USABLE}, a.registered_scopes,
        p.id, p.token_family, p.scope, p.auth_time, p.expires_at, p.revoked,
        '', '', '', p.sid, {_SUBJECT_COLUMNS}
    FROM oidc_provider_application a
    LEFT JOIN oidc_provider_refreshtoken p ON p.application_id = a.id AND p.token_checksum = $1
    LEFT JOIN accounts_user u ON u.id = p.user_id
    {_SUBJECT_JOINS}
    WHERE a.client_id = $2
    """,
    f"issbsissiddssss{_SUBJECT_TYPES}",
)
_ACCESS_TOKEN = Statement(
    f"""
    SELECT a.client_id, a.registered_scopes, t.scope, {_SUBJECT_COLUMNS}
    FROM oidc_provider_accesstoken t
    JOIN oidc_provider_application a ON a.id = t.application_id AND {USABLE}
    JOIN accounts_user u ON u.id = t.user_id AND u.is_active
    {_SUBJECT_JOINS}
    WHERE t.token_checksum = $1 AND t.expires > $2
    """,
    f"sss{_SUBJECT_TYPES}",
)
_SUBJECT = Statement(f"SELECT {_SUBJECT_COLUMNS} FROM accounts_user u {_SUBJECT_JOINS} WHERE u.id = $1", _SUBJECT_TYPES)
_INTROSPECTION = Statement(
    f"""
    SELECT a.client_secret, a.second_secret, {USABLE}, a.registered_scopes,
        p.token_type, u.id, p.scope, p.created, p.expires
    FROM oidc_provider_application a
    LEFT JOIN (
        SELECT t.application_id, t.user_id, 'Bearer' AS token_type, t.scope, t.created, t.expires
        FROM oidc_provider_accesstoken t WHERE t.token_checksum = $2 AND t.expires > $3
        UNION ALL
        SELECT t.application_id, t.user_id, 'refresh_token', t.scope, t.created, t.expires_at
        FROM oidc_provider_refreshtoken t WHERE t.token_checksum = $2 AND t.expires_at > $3 AND t.revoked IS NULL
    ) p ON p.application_id = a.id
    LEFT JOIN accounts_user u ON u.id = p.user_id AND u.is_active
    WHERE a.client_id = $1
    """,
    "ssbssssdd",
)


class Subject(NamedTuple):
    """The user of a token, read along with it: the columns of _SUBJECT_COLUMNS. Without a user all are None."""

    id: str
    is_active: bool
    uid: int
    username: str
    display_name: str
    email: str
    is_email_verified: bool
    avatar_path: str | None
    mirrors_chat: bool | None
    chat_id: str | None = None
    chat_name: str | None = None
    scrobbler_id: str | None = None
    scrobbler_name: str | None = None

    def claims(self, scopes: Collection[str]) -> dict[str, Any]:
        """Return the claims that `scopes` allow, always with `sub` (docs/spec/sign-in.md, "An app")."""
        claims: dict[str, Any] = {"sub": self.id}
        if "identify" in scopes:
            claims["uid"] = self.uid
            claims["name"] = self.display_name or self.username
            claims["preferred_username"] = self.username
            picture = addresses.avatar(self.id, path=self.avatar_path or "", mirrors_chat=bool(self.mirrors_chat))
            if picture:
                claims["picture"] = picture
            claims["profile"] = f"{settings.BASE_URL}/{self.username}"
        if "email" in scopes and self.email:
            claims["email"] = self.email
            claims["email_verified"] = self.is_email_verified
        if "connections" in scopes:
            chat = ("chat", self.chat_id, self.chat_name)
            linked = (chat, ("scrobbler", self.scrobbler_id, self.scrobbler_name))
            claims["connections"] = [
                {"type": kind, "id": account, "name": name} for kind, account, name in linked if account is not None
            ]
        return claims


class PresentedGrant(NamedTuple):
    """An app with its code or refresh token; `pk` is None if the app has no such code or token.

    `used_at`: when the code was exchanged or the refresh token rotated. Only codes have redirect URI, challenge, nonce.
    `sid`: of the browser session at the app, empty where the app had no logout URL when the code was issued.
    """

    client_id: str
    application_id: int
    stored_secrets: tuple[str, ...]
    is_usable: bool
    registered_scopes: frozenset[str]
    pk: int | None
    family: str
    scope: str
    auth_time: int
    expires_at: datetime
    used_at: datetime | None
    redirect_uri: str
    code_challenge: str
    nonce: str
    sid: str
    subject: Subject

    def scopes(self) -> list[str]:
        """Return the scopes that were granted and are still registered."""
        return [name for name in self.scope.split() if name in self.registered_scopes]


def read_code(client_id: str, checksum: str) -> PresentedGrant | None:
    """Return the app with the code of this SHA-256, or None for an unknown app. 1 query.

    A code without approval is left out: it was issued while the user disconnected the app.
    """
    return _presented(client_id, _CODE.one(checksum, client_id))


def read_refresh_token(client_id: str, checksum: str) -> PresentedGrant | None:
    """Return the app with the refresh token of this SHA-256, or None for an unknown app. 1 query."""
    return _presented(client_id, _REFRESH_TOKEN.one(checksum, client_id))


class Bearer(NamedTuple):
    """The app of an access token, the scopes that were granted and are still registered, and the user."""

    client_id: str
    scopes: list[str]
    subject: Subject


def read_access_token(checksum: str, now: datetime) -> Bearer | None:
    """Return the bearer of an unexpired access token of a usable app, or None. 1 query."""
    row = _ACCESS_TOKEN.one(checksum, now)
    if row is None:
        return None
    return Bearer(row[0], _still_registered(row[2], row[1]), Subject._make(row[3:]))


def read_subject(user_id: str) -> Subject:
    """Return the user whose claims the consent page shows. 1 query."""
    return Subject._make(_SUBJECT.one(user_id) or ())


class Introspected(NamedTuple):
    """An app with a live token of its own; `token_type` is empty if it has no such token."""

    stored_secrets: tuple[str, ...]
    is_usable: bool
    token_type: str
    user_id: str
    scopes: list[str]
    issued_at: datetime
    expires_at: datetime


def read_for_introspection(client_id: str, checksum: str, now: datetime) -> Introspected | None:
    """Return the app with its live token of this SHA-256, or None for an unknown app. 1 query."""
    row = _INTROSPECTION.one(client_id, checksum, now)
    if row is None:
        return None
    *stored, is_usable, registered, token_type, user_id, scope, issued_at, expires_at = row
    stored_secrets = tuple(stored)
    if user_id is None:
        return Introspected(stored_secrets, is_usable, "", "", [], now, now)
    return Introspected(
        stored_secrets, is_usable, token_type, user_id, _still_registered(scope, registered), issued_at, expires_at
    )


def _presented(client_id: str, row: Row | None) -> PresentedGrant | None:
    if row is None:
        return None
    return PresentedGrant._make(
        (client_id, row[0], row[1:3], row[3], _scopes(row[4]), *row[5:15], Subject._make(row[15:]))
    )


@functools.lru_cache(maxsize=256)
def _scopes(text: str) -> frozenset[str]:
    """Parse a JSON list of scopes; many apps share the same text."""
    return frozenset(json.loads(text))


def _still_registered(scope: str, registered: str) -> list[str]:
    """Return the scopes in `scope` that are in `registered`, a list in JSON."""
    names = _scopes(registered)
    return [name for name in scope.split() if name in names]


# --- The write. The new tokens belong to the sign-in of the row that is used up.
# $1 now, $2 what was presented, $3 to $5 of the access token, $6 and $7 of the refresh token.
_CODES, _REFRESH_TOKENS = "oidc_provider_grant", "oidc_provider_refreshtoken"
_USE_CODE = "SET used_at = $1 WHERE id = $2 AND used_at IS NULL"
_ROTATE = "SET revoked = $1, updated = $1 WHERE id = $2 AND revoked IS NULL"
_KEEP = "SET updated = $1 WHERE id = $2 AND revoked IS NULL"
# The lock waits for an end of access that has deleted the approval and not committed yet; the code has ended with it.
# Such an end waits in turn for an exchange that has the lock. SQLite has one writer at a time.
_WHILE_APPROVED = f"""
    AND EXISTS (SELECT 1 FROM oidc_provider_approval v WHERE v.user_id = {_CODES}.user_id
        AND v.application_id = {_CODES}.application_id FOR KEY SHARE)
"""
_INSERT_ACCESS = """
    INSERT INTO oidc_provider_accesstoken
        (token, resource, token_checksum, user_id, application_id, token_family, scope, expires, created, updated)
    SELECT '', '[]', $3, user_id, application_id, token_family, $4, $5, $1, $1
"""
# It keeps all granted scopes, even beside an access token with fewer.
_INSERT_REFRESH = """
    INSERT INTO oidc_provider_refreshtoken
        (token, resource, token_checksum, user_id, application_id, token_family, scope, auth_time, sid, expires_at,
         created, updated)
    SELECT '', '[]', $6, user_id, application_id, token_family, scope, auth_time, sid, $7, $1, $1
"""
_FOR_ACCESS_TOKEN = 5  # values


@dataclass(frozen=True)
class NewTokens:
    """The values of new tokens, which are not stored."""

    access_token: str
    refresh_token: str | None


class _Issue:
    """Run the statement `use_up` and insert the tokens. `table`: of what is presented; `locking`: a condition of
    PostgreSQL's statement that locks rows."""

    def __init__(self, table: str, use_up: str, locking: str = "") -> None:
        columns = "user_id, application_id, token_family, scope, auth_time, sid"
        used = f"WITH used AS (UPDATE {table} {use_up} {locking} RETURNING {columns})"
        self._both = Statement(
            f"{used}, issued AS ({_INSERT_ACCESS} FROM used) {_INSERT_REFRESH} FROM used RETURNING id",
            "i",
            is_read=False,
        )
        self._access_alone = Statement(f"{used} {_INSERT_ACCESS} FROM used RETURNING id", "i", is_read=False)
        presented = f"FROM {table} WHERE id = $2 RETURNING id"
        self._use_up = Statement(f"UPDATE {table} {use_up} RETURNING id", "i", is_read=False)
        self._access_token = Statement(f"{_INSERT_ACCESS} {presented}", "i", is_read=False)
        self._refresh_token = Statement(f"{_INSERT_REFRESH} {presented}", "i", is_read=False)

    def __call__(self, values: list[Value]) -> bool:
        """Return False if another request was first, or an end of access; waits until that one has ended."""
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


_for_code = _Issue(_CODES, _USE_CODE, _WHILE_APPROVED)
_for_refresh_token, _for_kept_token = _Issue(_REFRESH_TOKENS, _ROTATE), _Issue(_REFRESH_TOKENS, _KEEP)


def exchange(code: PresentedGrant, scopes: list[str], now: datetime) -> NewTokens | None:
    """Return the tokens for a code, or None if it is used or its approval is gone. 1 query on PostgreSQL."""
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
    """Issue an access token for `scopes`, and a refresh token if offline_access is granted and still registered."""
    access_token, refresh_token = new_secret(), None
    values = _of_access_token(access_token, presented, scopes, now)
    if "offline_access" in presented.scopes():
        refresh_token = new_secret()
        expires_at = now + timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
        values += [digest(refresh_token), expires_at]
    return NewTokens(access_token, refresh_token) if issue(values) else None


def _of_access_token(value: str, presented: PresentedGrant, scopes: list[str], now: datetime) -> list[Value]:
    """Return the values $1 to $5."""
    expires = now + timedelta(seconds=oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS)
    return [now, presented.pk, digest(value), " ".join(scopes), expires]
