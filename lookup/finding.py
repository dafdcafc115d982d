"""Who a lookup means, and whether it may be answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from accounts.models.names import NAME_PATTERN
from lookup import documents, rows
from lookup.errors import ProfilePrivate, TypeInvalid, UserNotFound, ValueInvalid
from lookup.rows import UserRow

MAX_VALUE_LENGTH = 64
MAX_UID = 2**63 - 1  # what the column holds
_NAME = re.compile(NAME_PATTERN)
_UID = re.compile(r"[0-9]+")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def find(by: str, value: str, columns: Sequence[str], now: datetime, *, is_alias_profile: bool = False) -> UserRow:
    """The visible user whom `value` names, with these columns of a fresh document; see `rows.read_user`. 1 query.

    Raises TypeInvalid, ValueInvalid, UserNotFound, ProfilePrivate.
    """
    if by not in rows.TYPES:
        raise TypeInvalid
    if not 1 <= len(value) <= MAX_VALUE_LENGTH:
        raise ValueInvalid
    key = _key(by, value)
    row = rows.read_user(by, key, columns, now, is_alias_profile=is_alias_profile)
    if row is None or not row.is_active:
        raise UserNotFound
    if not row.public_api_access:
        raise ProfilePrivate
    if row.fingerprint != documents.fingerprint():
        documents.refresh(row.profile_id)
        row = rows.read_user(by, key, columns, now, is_alias_profile=is_alias_profile)
        if row is None:  # deleted meanwhile
            raise UserNotFound
    return row


def _key(by: str, value: str) -> str | int:
    """What the table is asked for. UserNotFound for a value that no row can have."""
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
    if _UNSTORABLE.search(value):
        raise UserNotFound
    return value
