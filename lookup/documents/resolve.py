"""Find the users of a lookup by one statement with all that the answer says, or the reason why they are not shown.

The statements are written by hand: at these endpoints the ORM's compiler costs more than everything else together. They
are portable between PostgreSQL and SQLite, and named as the models are; tests run each on both, by index only. Which
texts one reads is a number, a bit for each: a few statements are prepared for a connection, and not one for each of
thousands of combinations.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from accounts.models.names import NAME_PATTERN
from infrastructure import text_rules, timestamps
from infrastructure.databases import statements
from infrastructure.databases.statements import Statement
from infrastructure.requests.api_json import json_bytes, utf8
from infrastructure.requests.errors import ApiError
from lookup.documents import documents, registry
from lookup.documents.registry import DOCUMENT_COLUMNS
from lookup.errors import ProfilePrivate, TypeInvalid, UserNotFound, ValueInvalid
from lookup.serializers.current import FeedbackSerializer, comments_json
from lookup.serializers.rows import CommentRow

ALIAS_PROFILE = "showAliasProfile"  # the switch
MAX_VALUE_LENGTH = 64
MAX_UID = 2**63 - 1  # what the column holds
MAX_COMMENTS = 100
_NAME = re.compile(NAME_PATTERN)
_UID = re.compile(r"[0-9]+")


class Key(NamedTuple):
    """How a `type` finds its users. `kind`: the SQL type of the column; `letter`: of `Statement`."""

    tables: str
    column: str
    kind: str = "text"
    letter: str = "s"


TYPES = {
    "username": Key("accounts_name n JOIN accounts_user u ON u.id = n.user_id", "n.key"),
    "uid": Key("accounts_user u", "u.uid", "bigint", "i"),
    "id": Key("accounts_user u", "u.id"),
    "chat": Key(
        "accounts_linkedaccount l JOIN accounts_user u ON u.id = l.user_id AND l.kind = 'CHAT'", "l.external_id"
    ),
}
# The columns are the fields of CommentRow.
_COMMENT = """c.id, c.content, c.like_count, c.reply_count, c.is_pinned, c.created_at,
        w.id AS author_id, w.uid, w.username, w.display_name, p.avatar_path, p.mirrors_chat"""
_COMMENT_TYPES = "ssiibdsisssb"
_AUTHOR = """JOIN accounts_user w ON w.id = c.author_id AND w.is_active
    JOIN lookup_userdocument g ON g.user_id = w.id
    JOIN lookup_profiledocument p ON p.profile_id = g.profile_id"""
_LISTED = f"""
    SELECT {_COMMENT}
    FROM lookup_comment c
    {_AUTHOR}
    WHERE c.user_id = {{user}} AND c.parent_id IS NULL
    ORDER BY c.is_pinned DESC, c.created_at DESC, c.id
"""
_COMMENTS = f"{_LISTED} LIMIT {MAX_COMMENTS}"
_COMMENTS_OF_USER = Statement(_COMMENTS.format(user="$1"), _COMMENT_TYPES)
# Replies are of the comments that have some; `parent` and `place` order both.
_COMMENTS_PAGE = Statement(
    f"""
    WITH listed AS ({_LISTED.format(user="$1")} LIMIT $2 OFFSET $3)
    SELECT l.*, NULL AS parent,
        ROW_NUMBER() OVER (ORDER BY l.is_pinned DESC, l.created_at DESC, l.id) AS place
    FROM listed l
    UNION ALL
    SELECT * FROM (
        SELECT {_COMMENT}, c.parent_id AS parent,
            ROW_NUMBER() OVER (PARTITION BY c.parent_id ORDER BY c.created_at, c.id) AS place
        FROM listed l JOIN lookup_comment c ON c.parent_id = l.id AND l.reply_count > 0
        {_AUTHOR}
    ) r WHERE r.place <= $4
    ORDER BY parent, place
    """,
    f"{_COMMENT_TYPES}si",
)

# Ban and privacy are read from the user itself. No fingerprint: the document has to be rendered.
_USER = """u.id, u.is_active, u.public_api_access, d.profile_id,
    CASE WHEN d.user_version = u.public_version THEN d.fingerprint END"""
_ACCOUNT = f"{_USER}, d.plan_ends, d.head, d.lapsed_head"
_EARLIER = f"{_USER}, NULL, d.earlier, NULL"
_ACCOUNT_TYPES = "sbbssitt"
_COUNTERS = "f.views, f.likes, f.dislikes, f.comments, f.aliases"
_COUNTER_TYPES = "iiiitt"
# Of more than are shown, PostgreSQL would read all: it plans a statement for a user who has few.
_COLLECTED = f"SELECT {statements.collected_rows(CommentRow._fields)} FROM ({_COMMENTS.format(user='u.id')}) listed"
# Of several users who have more. PostgreSQL plans for users who have few, too; the inner LIMIT, which no user reaches,
# keeps it from looking up the authors of all comments of a user before it orders them.
_IN_ORDER = """(
        SELECT * FROM lookup_comment WHERE user_id = u.user_id AND parent_id IS NULL
        ORDER BY is_pinned DESC, created_at DESC, id LIMIT 2147483647
    ) c"""
_COMMENTS_IN_ORDER = f"""
    SELECT {_COMMENT} FROM {_IN_ORDER} {_AUTHOR}
    ORDER BY c.is_pinned DESC, c.created_at DESC, c.id LIMIT {MAX_COMMENTS}"""
_COMMENTS_OF_USERS = Statement(
    f"""
    SELECT u.user_id, (SELECT {statements.collected_rows(CommentRow._fields)} FROM ({_COMMENTS_IN_ORDER}) listed)
    FROM lookup_userdocument u WHERE {statements.is_listed("u.user_id", "text", "$1")}
    """,
    "st",
)
_FEW_COMMENTS = f"CASE WHEN f.comments BETWEEN 1 AND {MAX_COMMENTS} THEN ({_COLLECTED}) END"
_NONE = (0, 0, 0, 0, b"[]", None)
_BITS = {include: 1 << place for place, include in enumerate(DOCUMENT_COLUMNS)}
_TEXTS = ", ".join(
    f"CASE WHEN (CAST($2 AS integer) & {_BITS[include]}) <> 0 THEN d.{column} END"
    for include, column in DOCUMENT_COLUMNS.items()
)
_MAIN = "LEFT JOIN lookup_profiledocument d ON d.user_id = u.id AND d.is_main"
_OF_ALIAS = """LEFT JOIN lookup_alias a ON a.name_id = n.key
    LEFT JOIN lookup_profiledocument d ON d.user_id = u.id
    AND CASE WHEN a.redirects OR a.profile_id IS NULL THEN d.is_main ELSE d.profile_id = a.profile_id END"""
_OF_USER = "JOIN lookup_userdocument f ON f.user_id = u.id"
_FEEDBACK = FeedbackSerializer()
_KEYS = {include: f',"{include}":'.encode() for include in registry.INCLUDES}


class Parts(NamedTuple):
    """The parts that a lookup asks for. `texts`: includes of the document. `has_comments`: with the counters.
    `is_alias_profile`: for an alias that shows a profile of its own, that profile's document. `is_earlier`: the earlier
    form with the counters only. `has_own_links`: which links the owner marks, which no lookup answers."""

    texts: tuple[str, ...] = ()
    has_counters: bool = False
    has_comments: bool = False
    is_alias_profile: bool = False
    is_earlier: bool = False
    has_own_links: bool = False


EARLIER = Parts(has_counters=True, is_earlier=True)


class UserRow(NamedTuple):
    """`profile_id`, `fingerprint` and `head` are None without a document; `fingerprint` also where it has to be
    rendered. `head`: the user in the requested form; the earlier form is all of it, up to the number of views. `texts`:
    by include; None, and 0 for counters, where they were not requested. `shown_comments`: the first ones as JSON,
    unless there are more than MAX_COMMENTS. `own_links`: a JSON list of ids."""

    id: str
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
    own_links: bytes = b"[]"

    @property
    def account(self) -> dict[str, Any]:
        """Return `user` of the current form. Any: a JSON value."""
        account: dict[str, Any] = json.loads(self.head or b"{}")
        return account


class Prepared(NamedTuple):
    """Which parts of a user are asked for, and what reads them. `by`: what kind of value names the user. `of_many`: the
    statement for several users, whose rows begin with their keys. `bits`: a bit for each text that the statements shall
    read."""

    by: str
    parts: Parts
    statement: Statement
    of_many: Statement
    bits: int

    def of(self, value: str) -> Question:
        """Return the question for the user whom `value` names. Raises ValueInvalid, and UserNotFound for a value that
        no row can have."""
        return self.of_key(_key(self.by, value))

    def of_each(self, values: Iterable[str]) -> Batch:
        """Return the question for the users whom `values` name. Raises ValueInvalid, if any of them does."""
        return Batch(self, tuple(self._key_or_none(value) for value in values))

    def _key_or_none(self, value: str) -> str | int | None:
        try:
            return _key(self.by, value)
        except UserNotFound:
            return None

    def of_key(self, key: str | int) -> Question:
        """Return the question for the user whom `key` names, as the table has it; a username in upper case."""
        return Question(self.parts, self.statement, (key, self.bits) if self.bits else (key,))


class Batch(NamedTuple):
    """Which parts of which users are asked for. `keys`: in the order of the answer, as `Prepared.of_key` takes them;
    None for a value that no row can have."""

    prepared: Prepared
    keys: tuple[str | int | None, ...]


class Question(NamedTuple):
    """Which parts of which user are asked for, and what reads them."""

    parts: Parts
    statement: Statement
    values: tuple[str | int, ...]


@functools.lru_cache(maxsize=1_000)
def prepared(by: str, parts: Parts) -> Prepared:
    """Return what reads these parts of any user. `by`: the kind of the value that names one. Raises TypeInvalid."""
    if by not in TYPES:
        raise TypeInvalid
    bits = sum(_BITS[include] for include in parts.texts)
    is_of_alias = parts.is_alias_profile and by == "username"
    # What is equal for any texts: a process has one statement for all of them.
    alike = parts._replace(texts=(), is_alias_profile=is_of_alias)
    of_one, of_many = (_statement(by, alike, has_texts=bits > 0, is_of_many=is_many) for is_many in (False, True))
    return Prepared(by, parts, of_one, of_many, bits)


def answer(by: str, value: str, parts: Parts, now: datetime) -> UserRow:
    """Return these parts of the visible user whom `value` names, from a fresh document. 1 query if it is fresh.

    Raises TypeInvalid, ValueInvalid, UserNotFound, ProfilePrivate.
    """
    return answer_to(prepared(by, parts).of(value), now)


def answer_to(asked: Question, now: datetime) -> UserRow:
    """Return what is asked for, as `answer`. Raises UserNotFound, ProfilePrivate."""
    row = _shown(_read(asked, now))
    if row.fingerprint != documents.fingerprint():
        documents.refresh(str(row.profile_id))
        row = _shown(_read(asked, now))
    return row


def answers_to(asked: Batch, includes: Collection[str], now: datetime) -> list[bytes]:
    """Return the answer for each key: what `answer_to` and `body` make of it, or the error that `answer_to` raises, as
    JSON. 1 query if all documents are fresh, and 1 for the users with more than MAX_COMMENTS."""
    found = _read_many(asked, now)
    current = documents.fingerprint()
    users = [one for one in found.values() if isinstance(one, UserRow)]
    if stale := {str(user.profile_id) for user in users if user.fingerprint != current}:
        documents.refresh(*stale)
        found = _read_many(asked, now)
        users = [one for one in found.values() if isinstance(one, UserRow)]
    has_comments = asked.prepared.parts.has_comments
    many = [user.id for user in users if has_comments and user.comments > MAX_COMMENTS]
    comments = read_comments_of_many(many) if many else {}
    answers = {key: _element(one, includes, comments) for key, one in found.items()}
    return [answers[key] for key in asked.keys]


def _element(found: UserRow | ApiError, includes: Iterable[str], comments: Mapping[str, list[CommentRow]]) -> bytes:
    if isinstance(found, ApiError):
        return json_bytes(found.body())
    return b"{%b}" % body(found, includes, comments.get(found.id))


def _shown(row: UserRow | None) -> UserRow:
    """Return `row`, if its user may be shown."""
    if row is None or not row.is_active:
        raise UserNotFound
    if not row.public_api_access:
        raise ProfilePrivate
    if row.profile_id is None:
        raise UserNotFound
    return row


def _key(by: str, value: str) -> str | int:
    """Return the value to look for in the table. Raises ValueInvalid, and UserNotFound for one that no row can have."""
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


def read(by: str, key: str | int, parts: Parts, now: datetime) -> UserRow | None:
    """Return the parts of the user whom `key` names, or None. `by`: a type; a username in upper case. 1 query."""
    return _read(prepared(by, parts).of_key(key), now)


def _read(asked: Question, now: datetime) -> UserRow | None:
    row = asked.statement.one(*asked.values)
    return None if row is None else _user_row(row, asked.parts, now)


def _read_many(asked: Batch, now: datetime) -> dict[str | int | None, UserRow | ApiError]:
    """Return, by key, the users who may be shown, and why the others may not. 1 query, whatever the keys are."""
    _, parts, _, statement, bits = asked.prepared
    keys = dict.fromkeys(asked.keys)
    listed = json.dumps([key for key in keys if key is not None])
    rows = statement.all(listed, bits) if bits else statement.all(listed)
    found = {row[0]: _user_row(row[1:], parts, now) for row in rows}
    return {key: _shown_or_error(found.get(key)) for key in keys}


def _shown_or_error(row: UserRow | None) -> UserRow | ApiError:
    try:
        return _shown(row)
    except (UserNotFound, ProfilePrivate) as error:
        return error


def _user_row(row: statements.Row, parts: Parts, now: datetime) -> UserRow:
    user_id, is_active, is_public, profile_id, fingerprint, plan_ends, head, lapsed_head = row[:8]
    if plan_ends is not None and plan_ends <= timestamps.microseconds(now):
        head = lapsed_head
    texts = dict(zip(DOCUMENT_COLUMNS, row[-len(DOCUMENT_COLUMNS) :], strict=True)) if parts.texts else {}
    counters = row[8:14] if parts.has_counters else _NONE
    found = UserRow(user_id, is_active, is_public, profile_id, fingerprint, head, texts, *counters)
    return found._replace(own_links=row[-len(DOCUMENT_COLUMNS) - 1]) if parts.has_own_links else found


@functools.cache
def _statement(by: str, parts: Parts, *, has_texts: bool, is_of_many: bool = False) -> Statement:
    source, column, kind, letter = TYPES[by]
    columns, types = _EARLIER if parts.is_earlier else _ACCOUNT, _ACCOUNT_TYPES
    if parts.has_counters:
        shown = _FEW_COMMENTS if parts.has_comments else "NULL"
        columns, types, source = f"{columns}, {_COUNTERS}, {shown}", types + _COUNTER_TYPES, f"{source} {_OF_USER}"
    if parts.has_own_links:
        columns, types = f"{columns}, d.own_links", f"{types}t"
    if has_texts:
        columns, types = f"{columns}, {_TEXTS}", types + "t" * len(DOCUMENT_COLUMNS)
    document = _OF_ALIAS if parts.is_alias_profile else _MAIN
    condition = f"{column} = $1"
    if is_of_many:
        columns, types, condition = f"{column}, {columns}", letter + types, statements.is_listed(column, kind, "$1")
    return Statement(f"SELECT {columns} FROM {source} {document} WHERE {condition}", types)


def body(user: UserRow, includes: Iterable[str], comments: Iterable[CommentRow] | None = None) -> bytes:
    """Return `user` and these includes, in their order, as members of a JSON object. `comments`: the shown ones, where
    they have been read. 1 query for those of a user with more than are shown, if they have not."""
    parts = [b'"error":null,"user":', user.head or b""]
    read = user.texts.get
    for include in includes:
        text = read(include)
        if text is None:
            text = _live_text(user, include, comments)
        parts += (_KEYS[include], text)
    return b"".join(parts)


def _live_text(user: UserRow, include: str, comments: Iterable[CommentRow] | None) -> bytes:
    """Return an include that changes without the document."""
    if include == "aliases":
        return user.aliases
    if include == "views":
        return b"%d" % user.views
    if include == "feedback":
        return utf8(_FEEDBACK.to_json(user))
    return comments_json(user.comments, _comments(user) if comments is None else comments)


def _comments(user: UserRow) -> list[CommentRow]:
    if user.comments > MAX_COMMENTS:
        return read_comments(user.id)
    return _collected(user.shown_comments)


def _collected(rows: bytes | None) -> list[CommentRow]:
    """Return comments that a statement collected into JSON."""
    return [_comment(row) for row in json.loads(rows.decode())] if rows else []


def _comment(row: list[Any]) -> CommentRow:
    """Read a comment: PostgreSQL writes booleans and a time zone into the JSON, SQLite numbers and no zone."""
    created_at = datetime.fromisoformat(row[5])
    row[4], row[5], row[11] = bool(row[4]), created_at, bool(row[11])
    if created_at.tzinfo is None:
        row[5] = created_at.replace(tzinfo=UTC)
    return CommentRow._make(row)


def read_comments(user_id: str) -> list[CommentRow]:
    """Return the comments that a lookup shows, of users who are not banned. 1 query."""
    return [CommentRow._make(row) for row in _COMMENTS_OF_USER.all(user_id)]


def read_comments_of_many(user_ids: list[str]) -> dict[str, list[CommentRow]]:
    """Return the comments that lookups show, as `read_comments`, by the id of their user. 1 query."""
    found = _COMMENTS_OF_USERS.all(json.dumps(user_ids))
    return {user_id: _collected(rows) for user_id, rows in found}


def read_comments_page(
    user_id: str, *, limit: int, offset: int = 0, replies: int
) -> tuple[list[CommentRow], dict[str, list[CommentRow]]]:
    """Return a page of all comments in the order of lookups, and the first `replies` to each, by its id. 1 query."""
    listed: list[CommentRow] = []
    found: dict[str, list[CommentRow]] = {}
    for *row, parent, _ in _COMMENTS_PAGE.all(user_id, limit, offset, replies):
        (listed if parent is None else found.setdefault(parent, [])).append(CommentRow._make(row))
    return listed, found
