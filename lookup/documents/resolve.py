"""Find the user of a lookup by one statement with all that the answer says, or the reason why they are not shown.

The statement is portable between PostgreSQL and SQLite. Which texts it reads is a number, a bit for each: a few
statements are prepared for a connection, and not one for each of thousands of combinations.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from accounts.models.names import NAME_PATTERN
from infrastructure import text_rules, timestamps
from infrastructure.databases.statements import Statement
from lookup.documents import documents, sql
from lookup.documents.registry import DOCUMENT_COLUMNS
from lookup.errors import ProfilePrivate, TypeInvalid, UserNotFound, ValueInvalid
from lookup.serializers.rows import UserRow

MAX_VALUE_LENGTH = 64
MAX_UID = 2**63 - 1  # what the column holds
_NAME = re.compile(NAME_PATTERN)
_UID = re.compile(r"[0-9]+")

# Ban and privacy are read from the user itself. No fingerprint: the document has to be rendered.
_USER = """u.id, u.is_active, u.public_api_access, d.profile_id,
    CASE WHEN d.user_version = u.public_version THEN d.fingerprint END"""
_ACCOUNT = f"{_USER}, d.plan_ends, d.head, d.lapsed_head"
_ACCOUNT_TYPES = "sbbssitt"
_COUNTERS = "f.views, f.likes, f.dislikes, f.comments, f.aliases"
_COUNTER_TYPES = "iiiitt"
# Of more than are shown, PostgreSQL would read all: it plans a statement for a user who has few.
_FEW_COMMENTS = f"CASE WHEN f.comments BETWEEN 1 AND {sql.MAX_COMMENTS} THEN {{}} END"
_NONE = (0, 0, 0, 0, b"[]", None)
_BITS = {include: 1 << place for place, include in enumerate(DOCUMENT_COLUMNS)}
_TEXTS = ", ".join(
    f"CASE WHEN (CAST($2 AS integer) & {_BITS[include]}) <> 0 THEN d.{column} END"
    for include, column in DOCUMENT_COLUMNS.items()
)
_MAIN = "LEFT JOIN lookup_profiledocument d ON d.user_id = u.id AND d.is_main"
_OF_ALIAS = """LEFT JOIN lookup_alias a ON a.name_id = n.key
    LEFT JOIN lookup_profiledocument d ON d.user_id = u.id
    AND CASE WHEN a.profile_id IS NULL THEN d.is_main ELSE d.profile_id = a.profile_id END"""
_OF_USER = "JOIN lookup_userdocument f ON f.user_id = u.id"


class Parts(NamedTuple):
    """The parts that a lookup asks for. `texts`: includes of the document. `has_comments`: with the counters.
    `is_alias_profile`: for an alias with a profile of its own, that profile's document. `is_earlier`: the earlier form
    with the counters only."""

    texts: tuple[str, ...] = ()
    has_counters: bool = False
    has_comments: bool = False
    is_alias_profile: bool = False
    is_earlier: bool = False


EARLIER = Parts(has_counters=True, is_earlier=True)


class AnswerRow(NamedTuple):
    """`profile_id`, `fingerprint` and `head` are None without a document; `fingerprint` also where it has to be
    rendered. `head`: the user in the requested form; the earlier form is all of it, up to the number of views. `texts`:
    by include; None, and 0 for counters, where they were not requested. `shown_comments`: for `sql.comments_of`, unless
    there are more than that shows."""

    user_id: str
    is_active: bool
    public_api_access: bool
    profile_id: str | None
    fingerprint: str | None
    head: bytes | None
    texts: Mapping[str, bytes]
    views: int
    likes: int
    dislikes: int
    comments: int
    aliases: bytes
    shown_comments: bytes | None


Row = TypeVar("Row", UserRow, AnswerRow)


def find(by: str, value: str, columns: Sequence[str], now: datetime, *, is_alias_profile: bool = False) -> UserRow:
    """Return the visible user whom `value` names, with these columns of a fresh document; see `sql.read_user`. 1 query.

    Raises TypeInvalid, ValueInvalid, UserNotFound, ProfilePrivate.
    """
    key = _key(by, value)
    return _fresh(lambda: sql.read_user(by, key, columns, now, is_alias_profile=is_alias_profile))


def answer(by: str, value: str, parts: Parts, now: datetime) -> AnswerRow:
    """Return these parts of the visible user whom `value` names, from a fresh document. 1 query if it is fresh.

    Raises TypeInvalid, ValueInvalid, UserNotFound, ProfilePrivate.
    """
    key = _key(by, value)
    return _fresh(lambda: read(by, key, parts, now))


def _fresh(read_row: Callable[[], Row | None]) -> Row:
    """Return the row of a visible user, read again where its document had to be rendered."""
    row = _shown(read_row())
    if row.fingerprint != documents.fingerprint():
        documents.refresh(str(row.profile_id))
        row = _shown(read_row())
    return row


def _shown(row: Row | None) -> Row:
    """Return `row`, if its user may be shown."""
    if row is None or not row.is_active:
        raise UserNotFound
    if not row.public_api_access:
        raise ProfilePrivate
    if row.profile_id is None:
        raise UserNotFound
    return row


def _key(by: str, value: str) -> str | int:
    """Return the value to look for in the table.

    Raises TypeInvalid, ValueInvalid, and UserNotFound for a value that no row can have.
    """
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


def read(by: str, key: str | int, parts: Parts, now: datetime) -> AnswerRow | None:
    """Return the parts of the user whom `key` names, or None. `by`: a type; a username in upper case. 1 query."""
    statement, bits = _prepared(by, parts)
    row = statement.one(key, bits) if bits else statement.one(key)
    if row is None:
        return None
    user_id, is_active, is_public, profile_id, fingerprint, plan_ends, head, lapsed_head = row[:8]
    if plan_ends is not None and plan_ends <= timestamps.microseconds(now):
        head = lapsed_head
    texts = dict(zip(DOCUMENT_COLUMNS, row[-len(DOCUMENT_COLUMNS) :], strict=True)) if parts.texts else {}
    counters = row[8:14] if parts.has_counters else _NONE
    return AnswerRow(user_id, is_active, is_public, profile_id, fingerprint, head, texts, *counters)


@functools.lru_cache(maxsize=1_000)
def _prepared(by: str, parts: Parts) -> tuple[Statement, int]:
    """Return the statement, and which texts it shall read."""
    if parts.is_earlier:
        return _earlier(by), 0
    bits = sum(_BITS[include] for include in parts.texts)
    statement = _statement(
        by,
        has_texts=bits > 0,
        has_counters=parts.has_counters,
        has_comments=parts.has_comments,
        is_of_alias=parts.is_alias_profile and by == "username",
    )
    return statement, bits


@functools.cache
def _statement(by: str, *, has_texts: bool, has_counters: bool, has_comments: bool, is_of_alias: bool) -> Statement:
    source, condition = sql.TYPES[by]
    columns, types = _ACCOUNT, _ACCOUNT_TYPES
    if has_counters:
        shown = _FEW_COMMENTS.format(sql.comments_column("u.id")) if has_comments else "NULL"
        columns, types, source = f"{columns}, {_COUNTERS}, {shown}", types + _COUNTER_TYPES, f"{source} {_OF_USER}"
    if has_texts:
        columns, types = f"{columns}, {_TEXTS}", types + "t" * len(DOCUMENT_COLUMNS)
    document = _OF_ALIAS if is_of_alias else _MAIN
    return Statement(f"SELECT {columns} FROM {source} {document} WHERE {condition}", types)


@functools.cache
def _earlier(by: str) -> Statement:
    source, condition = sql.TYPES[by]
    columns = f"{_USER}, NULL, d.earlier, NULL, {_COUNTERS}, NULL"
    types = _ACCOUNT_TYPES + _COUNTER_TYPES
    return Statement(f"SELECT {columns} FROM {source} {_OF_USER} {_MAIN} WHERE {condition}", types)
