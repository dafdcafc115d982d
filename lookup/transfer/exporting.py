"""Export profiles as JSON lines: for each user a version, and the current lookup with all of its includes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from accounts.models import User
from infrastructure import timestamps
from lookup.documents import documents, resolve
from lookup.documents.registry import DOCUMENT_COLUMNS, INCLUDES
from lookup.documents.resolve import MAX_COMMENTS, UserRow
from lookup.models import Comment
from lookup.serializers.current import VERSION
from lookup.serializers.rows import CommentRow
from lookup.social.comments import COLUMNS as COMMENT_COLUMNS

BATCH = 200
_PROFILE = "document__profile__document"
_COLUMNS = (
    *("uid", "public_version", "pk", "is_active", "public_api_access", "document__profile"),
    *(f"{_PROFILE}__{name}" for name in ("fingerprint", "user_version", "plan_ends", "head", "lapsed_head")),
    *(f"document__{name}" for name in ("views", "likes", "dislikes", "comments", "aliases")),
    *(f"{_PROFILE}__{name}" for name in DOCUMENT_COLUMNS.values()),
)


def lines(*, user_ids: Collection[str] | None = None, hidden_too: bool = False) -> Iterator[bytes]:
    """Yield the lines of all users, or of `user_ids`, by uid. BATCH of them are in memory, with constant queries.

    `hidden_too`: also of users whom lookups do not show; only the user may get such a line.
    """
    last = -1
    shown = Q() if hidden_too else _VISIBLE
    while batch := _batch(user_ids, last, shown):
        comments = _comments([row.id for _, row in batch])
        for _, row in batch:
            yield b'{"version":%d,%b}' % (VERSION, resolve.body(row, INCLUDES, comments[row.id]))
        last = batch[-1][0]


def left_out(*, user_ids: Collection[str] | None = None) -> int:
    """Return the number of users whom lookups do not show: banned, or with public API access turned off."""
    return _users(user_ids).filter(~_VISIBLE).count()


_VISIBLE = Q(is_active=True, public_api_access=True)


def _users(user_ids: Collection[str] | None) -> QuerySet[User]:
    return User.objects.all() if user_ids is None else User.objects.filter(pk__in=user_ids)


def _batch(user_ids: Collection[str] | None, last: int, shown: Q) -> list[tuple[int, UserRow]]:
    """Return the next users by uid. Stale documents are rendered first."""
    users = _users(user_ids).filter(shown, document__isnull=False, uid__gt=last).order_by("uid")
    now = timezone.now()
    found = [_row(*values, now=now) for values in users.values_list(*_COLUMNS)[:BATCH]]
    if stale := [row.profile_id or "" for _, row in found if row.fingerprint != documents.fingerprint()]:
        documents.rebuild(*stale)
        rows = users.filter(pk__in=[row.id for _, row in found]).values_list(*_COLUMNS)
        found = [_row(*values, now=now) for values in rows]
    return found


def _row(uid: int, public_version: int, *values: Any, now: datetime) -> tuple[int, UserRow]:
    user_id, is_active, is_public, profile_id, fingerprint, version, plan_ends, head, lapsed_head, *rest = values
    *counters, aliases = rest[:5]
    if version != public_version:
        fingerprint = None
    if plan_ends is not None and plan_ends <= timestamps.microseconds(now):
        head = lapsed_head
    texts = {include: text and text.encode() for include, text in zip(DOCUMENT_COLUMNS, rest[5:], strict=True)}
    account = (user_id, is_active, is_public, profile_id, fingerprint, head and head.encode())
    return uid, UserRow._make((*account, texts, *counters, aliases.encode(), None, b"[]"))


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
