"""Export profiles as JSON lines: for each user a version, and the current lookup with all of its includes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from accounts.models import LinkedAccount, User
from infrastructure.requests.api_json import utf8
from lookup.documents import documents
from lookup.documents.registry import DOCUMENT_COLUMNS, INCLUDES
from lookup.documents.sql import MAX_COMMENTS
from lookup.models import Comment
from lookup.serializers.current import VERSION, FeedbackSerializer, UserSerializer, comments_json
from lookup.serializers.rows import CommentRow, UserRow
from lookup.social.comments import COLUMNS as COMMENT_COLUMNS

BATCH = 200
_TEXTS = tuple(DOCUMENT_COLUMNS.values())
_USER, _FEEDBACK = UserSerializer(), FeedbackSerializer()
_PROFILE = "document__profile__document"
# The fields of UserRow, except `now` and `texts`, then the texts.
_COLUMNS = (
    *("pk", "uid", "username", "display_name", "plan", "plan_expires_at", "is_active", "public_api_access"),
    *("is_verified", "is_inactive", "created_at", "chat_id", "scrobbler_name"),
    *("document__profile", *(f"{_PROFILE}__{name}" for name in ("fingerprint", "avatar_path", "mirrors_chat"))),
    *(f"document__{name}" for name in ("views", "likes", "dislikes", "comments", "aliases")),
    *(f"{_PROFILE}__{name}" for name in _TEXTS),
)


def lines(*, user_ids: Collection[str] | None = None, hidden_too: bool = False) -> Iterator[bytes]:
    """Yield the lines of all users, or of `user_ids`, by uid. BATCH of them are in memory, with constant queries.

    `hidden_too`: also of users whom lookups do not show; only the user may get such a line.
    """
    last = -1
    shown = Q() if hidden_too else _VISIBLE
    while batch := _batch(user_ids, last, shown):
        comments = _comments([row.id for row, _ in batch])
        for row, aliases in batch:
            yield _line(row, aliases, comments[row.id])
        last = batch[-1][0].uid


def left_out(*, user_ids: Collection[str] | None = None) -> int:
    """Return the number of users whom lookups do not show: banned, or with public API access turned off."""
    return _users(user_ids).filter(~_VISIBLE).count()


_VISIBLE = Q(is_active=True, public_api_access=True)


def _users(user_ids: Collection[str] | None) -> QuerySet[User]:
    return User.objects.all() if user_ids is None else User.objects.filter(pk__in=user_ids)


def _account(kind: str, column: str) -> Subquery:
    return Subquery(LinkedAccount.objects.filter(user=OuterRef("pk"), kind=kind).values(column))


def _batch(user_ids: Collection[str] | None, last: int, shown: Q) -> list[tuple[UserRow, str]]:
    """Return the next users with what their aliases include says. Stale documents are rendered first."""
    users = _users(user_ids).filter(shown, document__isnull=False, uid__gt=last).order_by("uid")
    users = users.annotate(
        chat_id=_account(LinkedAccount.Kind.CHAT, "external_id"),
        scrobbler_name=_account(LinkedAccount.Kind.SCROBBLER, "name"),
    )
    rows = list(users.values_list(*_COLUMNS)[:BATCH])
    now = timezone.now()
    found = [_row(row, now) for row in rows]
    stale = [row.profile_id for row, _ in found if row.fingerprint != documents.fingerprint()]
    if stale:
        documents.rebuild(*stale)
        found = [_row(row, now) for row in users.filter(pk__in=[row.id for row, _ in found]).values_list(*_COLUMNS)]
    return found


def _row(values: tuple[Any, ...], now: datetime) -> tuple[UserRow, str]:
    columns = iter(values)
    facts = tuple(islice(columns, len(UserRow._fields) - 2))
    aliases = next(columns)
    return UserRow._make((*facts, now, tuple(columns))), aliases


def _comments(user_ids: Collection[str]) -> dict[str, list[CommentRow]]:
    """Return the comments that a lookup of each user shows. 1 query."""
    place = Window(
        RowNumber(),
        partition_by="user",
        order_by=[F("is_pinned").desc(), F("created_at").desc(), F("pk").asc()],
    )
    shown = Comment.objects.filter(user__in=user_ids, parent__isnull=True, author__is_active=True)
    rows = shown.annotate(place=place).filter(place__lte=MAX_COMMENTS).order_by("user", "place")
    found: dict[str, list[CommentRow]] = defaultdict(list)
    for user_id, *values in rows.values_list("user", *COMMENT_COLUMNS):
        found[user_id].append(CommentRow._make(values))
    return found


def _line(row: UserRow, aliases: str, comments: Collection[CommentRow]) -> bytes:
    """Return the line, in the order of `registry.INCLUDES`."""
    includes = {
        **{name: text.encode() for name, text in zip(DOCUMENT_COLUMNS, row.texts, strict=True)},
        "views": str(row.views).encode(),
        "aliases": aliases.encode(),
        "feedback": utf8(_FEEDBACK.to_json(row)),
        "comments": comments_json(row.comments, comments),
    }
    parts = [b'{"version":%d,"error":null,"user":' % VERSION, utf8(_USER.to_json(row))]
    for name in INCLUDES:
        parts += [b',"', name.encode(), b'":', includes[name]]
    return b"".join([*parts, b"}"])
