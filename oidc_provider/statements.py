"""The SQL of the token path, by hand: compiling the same queries by ORM takes ten times longer than running them.

Portable between PostgreSQL and SQLite. Names of tables and columns are those of the models; every statement is run by
tests on both databases. Everything else in this app goes through the ORM.
"""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import connection

from lookup import addresses
from oidc_provider.claims import Subject

Row = tuple[Any, ...]

_SUBJECT_COLUMNS = """
    u.id, u.is_active, u.uid, u.username, u.display_name, u.email,
    EXISTS (SELECT 1 FROM account_emailaddress e WHERE e.user_id = u.id AND e.email = u.email AND e.verified),
    d.avatar_path, d.mirrors_chat, chat.external_id, chat.name, scrobbler.external_id, scrobbler.name
"""
_SUBJECT_JOINS = """
    LEFT JOIN accounts_linkedaccount chat ON chat.user_id = u.id AND chat.kind = 'CHAT'
    LEFT JOIN accounts_linkedaccount scrobbler ON scrobbler.user_id = u.id AND scrobbler.kind = 'SCROBBLER'
    LEFT JOIN lookup_userdocument f ON f.user_id = u.id
    LEFT JOIN lookup_profiledocument d ON d.profile_id = f.profile_id
"""
_CODE = f"""
    SELECT a.id, a.client_secret, a.suspended_at IS NOT NULL, a.registered_scopes,
        p.id, p.token_family, p.scope, p.auth_time, p.expires, p.used_at,
        p.redirect_uri, p.code_challenge, p.nonce, {_SUBJECT_COLUMNS}
    FROM oidc_provider_application a
    LEFT JOIN oidc_provider_grant p ON p.application_id = a.id AND p.code = %s
        AND EXISTS (SELECT 1 FROM oidc_provider_approval v WHERE v.application_id = a.id AND v.user_id = p.user_id)
    LEFT JOIN accounts_user u ON u.id = p.user_id
    {_SUBJECT_JOINS}
    WHERE a.client_id = %s
"""
_REFRESH_TOKEN = f"""
    SELECT a.id, a.client_secret, a.suspended_at IS NOT NULL, a.registered_scopes,
        p.id, p.token_family, p.scope, p.auth_time, p.expires_at, p.revoked,
        '', '', '', {_SUBJECT_COLUMNS}
    FROM oidc_provider_application a
    LEFT JOIN oidc_provider_refreshtoken p ON p.application_id = a.id AND p.token_checksum = %s
    LEFT JOIN accounts_user u ON u.id = p.user_id
    {_SUBJECT_JOINS}
    WHERE a.client_id = %s
"""
_ACCESS_TOKEN = f"""
    SELECT a.client_id, a.registered_scopes, t.scope, {_SUBJECT_COLUMNS}
    FROM oidc_provider_accesstoken t
    JOIN oidc_provider_application a ON a.id = t.application_id AND a.suspended_at IS NULL
    JOIN accounts_user u ON u.id = t.user_id AND u.is_active
    {_SUBJECT_JOINS}
    WHERE t.token_checksum = %s AND t.expires > %s
"""
_SUBJECT = f"SELECT {_SUBJECT_COLUMNS} FROM accounts_user u {_SUBJECT_JOINS} WHERE u.id = %s"
_INTROSPECTION = """
    SELECT a.client_secret, a.suspended_at IS NOT NULL, a.registered_scopes,
        t.user_id, t.scope, t.created, t.expires, r.user_id, r.scope, r.created, r.expires_at
    FROM oidc_provider_application a
    LEFT JOIN oidc_provider_accesstoken t ON t.application_id = a.id AND t.token_checksum = %s AND t.expires > %s
        AND EXISTS (SELECT 1 FROM accounts_user u WHERE u.id = t.user_id AND u.is_active)
    LEFT JOIN oidc_provider_refreshtoken r ON r.application_id = a.id AND r.token_checksum = %s AND r.expires_at > %s
        AND r.revoked IS NULL AND EXISTS (SELECT 1 FROM accounts_user u WHERE u.id = r.user_id AND u.is_active)
    WHERE a.client_id = %s
"""
_USE_CODE = "UPDATE oidc_provider_grant SET used_at = %s WHERE id = %s AND used_at IS NULL"
_ROTATE = "UPDATE oidc_provider_refreshtoken SET revoked = %s, updated = %s WHERE id = %s AND revoked IS NULL"
_INSERT_ACCESS_TOKEN = """
    INSERT INTO oidc_provider_accesstoken
        (token, resource, token_checksum, user_id, application_id, token_family, scope, expires, created, updated)
    VALUES ('', '[]', %s, %s, %s, %s, %s, %s, %s, %s)
"""
_INSERT_REFRESH_TOKEN = """
    INSERT INTO oidc_provider_refreshtoken
        (token, resource, token_checksum, user_id, application_id, token_family, scope, expires_at, auth_time,
         created, updated)
    VALUES ('', '[]', %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


class Presented(NamedTuple):
    """An app, and the code or refresh token that it presents; `pk` None: the app has no such one.

    `used_at`: when the code was exchanged, the refresh token rotated. The last three columns are a code's alone.
    """

    application_id: int
    client_secret: str
    is_suspended: bool
    registered_scopes: list[str]
    pk: int | None
    family: uuid.UUID | str
    scope: str
    auth_time: int
    expires_at: datetime
    used_at: datetime | None
    redirect_uri: str
    code_challenge: str
    nonce: str
    subject: Subject

    def scopes(self) -> list[str]:
        """What was granted and is still registered."""
        return [name for name in self.scope.split() if name in self.registered_scopes]


def read_code(client_id: str, checksum: str) -> Presented | None:
    """The app with the code of this SHA-256; None where there is no such app. 1 query.

    A code whose approval is gone counts for nothing: it was made at the moment at which the user disconnected the app.
    """
    return _presented(_one(_CODE, checksum, client_id))


def read_refresh_token(client_id: str, checksum: str) -> Presented | None:
    """The app with the refresh token of this SHA-256; None where there is no such app. 1 query."""
    return _presented(_one(_REFRESH_TOKEN, checksum, client_id))


def read_access_token(checksum: str, now: datetime) -> tuple[str, list[str], Subject] | None:
    """The app's client_id, the scopes (granted, and registered still) and the user of a live access token. 1 query."""
    row = _one(_ACCESS_TOKEN, checksum, now)
    if row is None:
        return None
    registered = json.loads(row[1])
    return row[0], [name for name in row[2].split() if name in registered], _subject(row[3:])


def read_subject(user_id: str) -> Subject:
    """The user whose claims the consent page shows. 1 query."""
    return _subject(_one(_SUBJECT, user_id) or ())


class Introspected(NamedTuple):
    """An app, and a live token of its own; `token_type` empty: it has no such one."""

    client_secret: str
    is_suspended: bool
    token_type: str
    user_id: str
    scopes: list[str]
    issued_at: datetime
    expires_at: datetime


def read_for_introspection(client_id: str, checksum: str, now: datetime) -> Introspected | None:
    """The app with the live token of either kind with this SHA-256; None where there is no such app. 1 query."""
    row = _one(_INTROSPECTION, checksum, now, checksum, now, client_id)
    if row is None:
        return None
    client_secret, is_suspended, registered = row[0], bool(row[1]), json.loads(row[2])
    for token_type, (user_id, scope, issued_at, expires_at) in (("Bearer", row[3:7]), ("refresh_token", row[7:11])):
        if user_id is not None:
            scopes = [name for name in scope.split() if name in registered]
            moments = _moment(issued_at), _moment(expires_at)
            return Introspected(client_secret, is_suspended, token_type, user_id, scopes, *moments)
    return Introspected(client_secret, is_suspended, "", "", [], now, now)


def use_code(pk: int, now: datetime) -> bool:
    """Use up a code; False where somebody was faster. Call it in a transaction."""
    return _write(_USE_CODE, now, pk) == 1


def rotate(pk: int, now: datetime) -> bool:
    """Use up a refresh token; False where somebody was faster. Call it in a transaction."""
    return _write(_ROTATE, now, now, pk) == 1


def insert_access_token(presented: Presented, checksum: str, scope: str, expires: datetime, now: datetime) -> None:
    _write(_INSERT_ACCESS_TOKEN, checksum, *_owner(presented), scope, expires, now, now)


def insert_refresh_token(presented: Presented, checksum: str, expires_at: datetime, now: datetime) -> None:
    """Holds what the user granted, however narrow the access token beside it is."""
    owner = _owner(presented)
    _write(_INSERT_REFRESH_TOKEN, checksum, *owner, presented.scope, expires_at, presented.auth_time, now, now)


def _owner(presented: Presented) -> tuple[str, int, str]:
    return presented.subject.id, presented.application_id, uuid.UUID(str(presented.family)).hex


def _presented(row: Row | None) -> Presented | None:
    if row is None:
        return None
    application_id, client_secret, is_suspended, registered, pk, family, scope, auth_time = row[:8]
    expires_at, used_at, redirect_uri, code_challenge, nonce = row[8:13]
    return Presented(
        application_id=application_id,
        client_secret=client_secret,
        is_suspended=bool(is_suspended),
        registered_scopes=json.loads(registered),
        pk=pk,
        family=family,
        scope=scope,
        auth_time=auth_time,
        expires_at=_moment(expires_at),
        used_at=_moment(used_at),
        redirect_uri=redirect_uri,
        code_challenge=code_challenge,
        nonce=nonce,
        subject=_subject(row[13:]),
    )


def _subject(columns: Row) -> Subject:
    user_id, is_active, uid, username, display_name, email, is_verified, avatar_path, mirrors_chat, *linked = columns
    picture = addresses.avatar(user_id, path=avatar_path or "", mirrors_chat=bool(mirrors_chat)) or ""
    kinds = (("chat", linked[0], linked[1]), ("scrobbler", linked[2], linked[3]))
    connections = [{"type": kind, "id": account, "name": name} for kind, account, name in kinds if account is not None]
    return Subject(
        user_id, bool(is_active), uid, username, display_name, email, bool(is_verified), picture, connections
    )


def _one(statement: str, *values: Any) -> Row | None:
    """`values`: text, numbers and moments."""
    with connection.cursor() as cursor:
        cursor.execute(statement, _adapted(values))
        row: Row | None = cursor.fetchone()
        return row


def _write(statement: str, *values: Any) -> int:
    """The number of rows that the statement changed."""
    with connection.cursor() as cursor:
        cursor.execute(statement, _adapted(values))
        return int(cursor.rowcount)


def _adapted(values: tuple[Any, ...]) -> list[Any]:
    adapt = connection.ops.adapt_datetimefield_value
    return [adapt(value) if isinstance(value, datetime) else value for value in values]


def _moment(value: Any) -> Any:
    """A column's moment with its time zone, which SQLite leaves out; None stays None."""
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value
