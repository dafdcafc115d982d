"""Finds the user of a lookup, or the reason why they are not shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from accounts import text_rules
from accounts.models.names import NAME_PATTERN
from lookup import documents, sql
from lookup.answer_sql import AnswerRow
from lookup.errors import ProfilePrivate, TypeInvalid, UserNotFound, ValueInvalid
from lookup.sql import UserRow

MAX_VALUE_LENGTH = 64
MAX_UID = 2**63 - 1  # what the column holds
_NAME = re.compile(NAME_PATTERN)
_UID = re.compile(r"[0-9]+")


def find(by: str, value: str, columns: Sequence[str], now: datetime, *, is_alias_profile: bool = False) -> UserRow:
    """The visible user whom `value` names, with these columns of a fresh document; see `sql.read_user`. 1 query.

    Raises TypeInvalid, ValueInvalid, UserNotFound, ProfilePrivate.
    """
    key = _key(by, value)
    row = sql.read_user(by, key, columns, now, is_alias_profile=is_alias_profile)
    if row is None or not row.is_active:
        raise UserNotFound
    if not row.public_api_access:
        raise ProfilePrivate
    if row.fingerprint != documents.fingerprint():
        documents.refresh(row.profile_id)
        row = sql.read_user(by, key, columns, now, is_alias_profile=is_alias_profile)
        if row is None:  # deleted meanwhile
            raise UserNotFound
    return row


def answer(
    by: str,
    value: str,
    read: Callable[[str | int], AnswerRow | None],
    now: datetime,
    *,
    is_alias_profile: bool = False,
) -> AnswerRow:
    """The row that `read` finds for the visible user whom `value` names, from a fresh document. 1 query if it is fresh.

    Raises as `find`.
    """
    row = _shown(read(key := _key(by, value)))
    if row.fingerprint != documents.fingerprint():
        find(by, value, (), now, is_alias_profile=is_alias_profile)  # renders it
        row = _shown(read(key))
        if row.head is None:  # deleted meanwhile
            raise UserNotFound
    return row


def _shown(row: AnswerRow | None) -> AnswerRow:
    """`row`, if its user may be shown."""
    if row is None or not row.is_active:
        raise UserNotFound
    if not row.is_public:
        raise ProfilePrivate
    return row


def _key(by: str, value: str) -> str | int:
    """The value to look for in the table. TypeInvalid, ValueInvalid; UserNotFound for a value that no row can have."""
    if by not in sql.TYPES:
        raise TypeInvalid
    if not 1 <= len(value) <= MAX_VALUE_LENGTH:
        raise ValueInvalid
    if by == "uid":
        if not _UID.fullmatch(value):
            raise ValueInvalid
        if (uid := int(value)) > MAX_UID:
            raise UserNotFound
        return uid
    if by == "username":
        if not _NAME.fullmatch(value):
            raise UserNotFound
        return value.upper()
    if text_rules.find_unstorable(value):
        raise UserNotFound
    return value
