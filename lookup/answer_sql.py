"""The statement of a lookup: all that its answer says, in one row, for any user, however many there are.

Portable between PostgreSQL and SQLite. Which texts it reads is a number, a bit for each: a few statements are prepared
for a connection, and not one for each of thousands of combinations.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from accounts import epoch
from accounts.databases.statements import Statement
from lookup import sql
from lookup.registry import DOCUMENT_COLUMNS

# Ban and privacy are read from the user itself. No fingerprint: the document is to be rendered anew.
_USER = """u.id, u.is_active, u.public_api_access,
    CASE WHEN d.user_version = u.public_version THEN d.fingerprint END"""
_ACCOUNT = f"{_USER}, d.plan_ends, d.head, d.lapsed_head"
_ACCOUNT_TYPES = "sbbsitt"
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
# How each `type` finds its user.
_BY = {
    "username": ("accounts_name n JOIN accounts_user u ON u.id = n.user_id", "n.key = $1"),
    "uid": ("accounts_user u", "u.uid = $1"),
    "id": ("accounts_user u", "u.id = $1"),
    "chat": (
        "accounts_linkedaccount l JOIN accounts_user u ON u.id = l.user_id",
        "l.kind = 'CHAT' AND l.external_id = $1",
    ),
}


class Wanted(NamedTuple):
    """The parts that a lookup asks for. `texts`: includes of the document. `has_comments`: beside the counters.
    `is_alias_profile`: where the name is an alias with a profile of its own, the document of that one."""

    texts: tuple[str, ...] = ()
    has_counters: bool = False
    has_comments: bool = False
    is_alias_profile: bool = False


class AnswerRow(NamedTuple):
    """`head`: the user in the requested form; None: no document has been rendered. `texts`: by
    include, None for those that were not asked for. The counters are 0 where they were not asked for.
    `shown_comments`: for `sql.comments_of`, unless there are more than that shows."""

    user_id: str
    is_active: bool
    is_public: bool
    fingerprint: str | None
    head: bytes | None
    texts: Mapping[str, bytes]
    views: int
    likes: int
    dislikes: int
    comments: int
    aliases: bytes
    shown_comments: bytes | None


_EARLIER = Wanted(has_counters=True)


def read(by: str, value: str | int, wanted: Wanted, now: datetime) -> AnswerRow | None:
    """The user whom `value` names, or None. `by`: a type; a username in upper case. 1 query."""
    statement, bits = _prepared(by, wanted)
    row = statement.one(value, bits) if bits else statement.one(value)
    return None if row is None else _answer_row(row, wanted, now)


def read_earlier(by: str, value: str | int, now: datetime) -> AnswerRow | None:
    """The same with the earlier form, up to the number of views, in place of the head. 1 query."""
    row = _earlier(by).one(value)
    return None if row is None else _answer_row(row, _EARLIER, now)


def _answer_row(row: tuple[Any, ...], wanted: Wanted, now: datetime) -> AnswerRow:
    """Any: columns of the types in `_ACCOUNT_TYPES` and the like."""
    user_id, is_active, is_public, fingerprint, plan_ends, head, lapsed_head = row[:7]
    if plan_ends is not None and plan_ends <= epoch.microseconds(now):
        head = lapsed_head
    texts = dict(zip(DOCUMENT_COLUMNS, row[-len(DOCUMENT_COLUMNS) :], strict=True)) if wanted.texts else {}
    counters = row[7:13] if wanted.has_counters else _NONE
    return AnswerRow(user_id, is_active, is_public, fingerprint, head, texts, *counters)


@functools.lru_cache(maxsize=1_000)
def _prepared(by: str, wanted: Wanted) -> tuple[Statement, int]:
    """The statement, and which texts it shall read."""
    bits = sum(_BITS[include] for include in wanted.texts)
    statement = _statement(
        by,
        has_texts=bits > 0,
        has_counters=wanted.has_counters,
        has_comments=wanted.has_comments,
        is_of_alias=wanted.is_alias_profile and by == "username",
    )
    return statement, bits


@functools.cache
def _statement(by: str, *, has_texts: bool, has_counters: bool, has_comments: bool, is_of_alias: bool) -> Statement:
    source, condition = _BY[by]
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
    source, condition = _BY[by]
    columns = f"{_USER}, NULL, d.earlier, NULL, {_COUNTERS}, NULL"
    types = _ACCOUNT_TYPES + _COUNTER_TYPES
    return Statement(f"SELECT {columns} FROM {source} {_OF_USER} {_MAIN} WHERE {condition}", types)
