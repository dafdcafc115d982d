"""The SQL of the lookups, by hand: at these endpoints the ORM's compiler costs more than everything else together.

Portable between PostgreSQL and SQLite, named as the models are; tests run every statement on both. Each reads by index
only.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from infrastructure.databases import statements
from infrastructure.databases.statements import Statement
from lookup.serializers.rows import CommentRow, UserRow

Row = tuple[Any, ...]

MAX_COMMENTS = 100

# Empty where the document holds something else of its user than the tables.
_FINGERPRINT = "CASE WHEN d.user_version = u.public_version THEN d.fingerprint ELSE '' END"
_USER_COLUMNS = f"""
    u.id, u.uid, u.username, u.display_name, u.plan, u.plan_expires_at, u.is_active, u.public_api_access,
    u.is_verified, u.is_inactive, u.created_at, chat.external_id, scrobbler.name,
    d.profile_id, {_FINGERPRINT}, d.avatar_path, d.mirrors_chat,
    f.views, f.likes, f.dislikes, f.comments
"""
_USER_TYPES = "sisssdbbbbdsssssbiiii"
_JOINS = """
    JOIN lookup_userdocument f ON f.user_id = u.id
    JOIN lookup_profiledocument d ON d.profile_id = {profile}
    LEFT JOIN accounts_linkedaccount chat ON chat.user_id = u.id AND chat.kind = 'CHAT'
    LEFT JOIN accounts_linkedaccount scrobbler ON scrobbler.user_id = u.id AND scrobbler.kind = 'SCROBBLER'
"""
_MAIN = _JOINS.format(profile="f.profile_id")
_OF_ALIAS = "LEFT JOIN lookup_alias a ON a.name_id = n.key" + _JOINS.format(
    profile="COALESCE(a.profile_id, f.profile_id)"
)
# How each `type` finds its user: tables and condition.
TYPES = {
    "username": ("accounts_name n JOIN accounts_user u ON u.id = n.user_id", "n.key = $1"),
    "uid": ("accounts_user u", "u.uid = $1"),
    "id": ("accounts_user u", "u.id = $1"),
    "chat": (
        "accounts_linkedaccount l JOIN accounts_user u ON u.id = l.user_id",
        "l.kind = 'CHAT' AND l.external_id = $1",
    ),
}

# The columns are the fields of CommentRow.
_LISTED = """
    SELECT c.id, c.content, c.like_count, c.reply_count, c.is_pinned, c.created_at,
        w.id AS author_id, w.uid, w.username, w.display_name, p.avatar_path, p.mirrors_chat
    FROM lookup_comment c
    JOIN accounts_user w ON w.id = c.author_id AND w.is_active
    JOIN lookup_userdocument g ON g.user_id = w.id
    JOIN lookup_profiledocument p ON p.profile_id = g.profile_id
    WHERE c.user_id = {user} AND c.parent_id IS NULL
    ORDER BY c.is_pinned DESC, c.created_at DESC, c.id
"""
_COMMENTS = f"{_LISTED} LIMIT {MAX_COMMENTS}"
_COMMENTS_PAGE = Statement(_LISTED.format(user="$1") + " LIMIT $2 OFFSET $3", "ssiibdsisssb")
_COMMENTS_OF_USER = Statement(_COMMENTS.format(user="$1"), "ssiibdsisssb")
# A person in a list: the columns of PersonRow. `profile`: SQL for the display name of the profile.
PERSON = """u.id, u.username, COALESCE(NULLIF({profile}, ''), NULLIF(u.display_name, ''), u.username), u.is_verified,
    d.avatar_path, d.mirrors_chat"""
PERSON_TYPES = "sssbsb"
# All that an entry depends on, as one text, which is sent and compared sooner than columns; NULL: the document has to
# be rendered.
_BOARD_STATE = """e.score || ' ' || e.change || ' ' || f.views || ' ' ||
    CASE WHEN d.user_version = u.public_version AND d.fingerprint = $3 THEN d.leaderboard_digest END"""
_BOARD_SOURCE = """
    FROM lookup_leaderboardentry e
    JOIN accounts_user u ON u.id = e.user_id AND u.is_active AND u.public_api_access
    JOIN lookup_userdocument f ON f.user_id = u.id
    LEFT JOIN lookup_profiledocument d ON d.user_id = u.id AND d.is_main
    WHERE e.board = $1
    ORDER BY e.rank
    LIMIT $2
"""
_BOARD_STATES = Statement(f"SELECT {_BOARD_STATE}{_BOARD_SOURCE}", "t")
_BOARD = Statement(
    f"SELECT {_BOARD_STATE}, e.score, e.change, f.views, d.leaderboard, f.profile_id{_BOARD_SOURCE}", "tiiits"
)
_MAIN_DISPLAY_NAME = "(SELECT p.display_name FROM lookup_profile p WHERE p.id = f.profile_id)"
# The columns are the fields of PlaceRow.
_PLACES = Statement(
    f"SELECT e.score, e.change, e.is_new, {PERSON.format(profile=_MAIN_DISPLAY_NAME)}{_BOARD_SOURCE}",
    f"iib{PERSON_TYPES}",
)


class PersonRow(NamedTuple):
    """A user as lists of people show them. `display_name`: of the profile, else of the account, else the username."""

    id: str
    username: str
    display_name: str
    is_verified: bool
    avatar_path: str
    mirrors_chat: bool


class PlaceRow(NamedTuple):
    """A place on a leaderboard as the page shows it."""

    score: int
    change: int
    is_new: bool
    person: PersonRow


class BoardRow(NamedTuple):
    """A place on a leaderboard with its user as the read model holds it.

    `state`: changes with anything else of the entry; None: the document is stale.
    `change`: as the ranking stored it; users who left the board since then do not count.
    """

    state: bytes | None
    score: int
    change: int
    views: int
    text: bytes | None
    profile_id: str

    @property
    def has_digest(self) -> bool:
        """Whether `state` covers the text: documents of an earlier release have no digest."""
        return self.state is not None and not self.state.endswith(b" ")


def read_user(
    by: str,
    value: str | int,
    columns: Sequence[str],
    now: datetime,
    *,
    is_alias_profile: bool = False,
) -> UserRow | None:
    """Return the user whom `value` names, with these columns of the document (`aliases` too), or None.

    `by`: one of TYPES; a username in upper case. `is_alias_profile`: for an alias with a profile of its own, that
    profile's document. 1 query.
    """
    row = _user_statement(by, tuple(columns), is_of_alias=is_alias_profile and by == "username").one(value)
    known = len(UserRow._fields) - 2
    return None if row is None else UserRow._make((*row[:known], now, row[known:]))


@functools.cache
def _user_statement(by: str, columns: tuple[str, ...], *, is_of_alias: bool) -> Statement:
    source, condition = TYPES[by]
    asked = "".join(f", f.{column}" if column == "aliases" else f", d.{column}" for column in columns)
    joins = _OF_ALIAS if is_of_alias else _MAIN
    return Statement(
        f"SELECT {_USER_COLUMNS}{asked} FROM {source} {joins} WHERE {condition}", _USER_TYPES + "s" * len(columns)
    )


def read_comments(user_id: str) -> list[CommentRow]:
    """Return the comments that a lookup shows, of users who are not banned. 1 query."""
    return [CommentRow._make(row) for row in _COMMENTS_OF_USER.all(user_id)]


def read_comments_page(user_id: str, *, limit: int, offset: int = 0) -> list[CommentRow]:
    """Return a page of all comments in the order of lookups. 1 query."""
    return [CommentRow._make(row) for row in _COMMENTS_PAGE.all(user_id, limit, offset)]


def comments_column(user: str) -> str:
    """Return SQL for the comments that a lookup shows, as one column; `user`: an SQL expression. See `comments_of`."""
    return f"(SELECT {statements.collected_rows(CommentRow._fields)} FROM ({_COMMENTS.format(user=user)}) listed)"


def comments_of(text: bytes | None) -> list[CommentRow]:
    """Return the comments in a column of `comments_column`."""
    return [_comment(row) for row in json.loads(text.decode())] if text else []


def _comment(row: list[Any]) -> CommentRow:
    """Read a comment: PostgreSQL writes booleans and a time zone into the JSON, SQLite numbers and no zone."""
    row[4], row[5], row[11] = bool(row[4]), _at(datetime.fromisoformat(row[5])), bool(row[11])
    return CommentRow._make(row)


def read_board(board: str, limit: int, fingerprint: str) -> list[BoardRow]:
    """Return the first `limit` places of visible users, in order. `fingerprint`: of a fresh document. 1 query."""
    return [BoardRow._make(row) for row in _BOARD.all(str(board), limit, fingerprint)]


def read_places(board: str, limit: int) -> list[PlaceRow]:
    """Return the first `limit` places of visible users, in order, for the page. 1 query."""
    return [
        PlaceRow(score, change, is_new, PersonRow._make(person))
        for score, change, is_new, *person in _PLACES.all(str(board), limit)
    ]


def read_board_states(board: str, limit: int, fingerprint: str) -> list[bytes | None]:
    """Return the `state` of each entry of `read_board`, without reading their texts. 1 query."""
    return [state for (state,) in _BOARD_STATES.all(str(board), limit, fingerprint)]


def _at(value: Any) -> Any:
    """Return a column's timestamp with its time zone, which SQLite leaves out; None stays None."""
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value
