"""The counters: views, likes and dislikes, comments, and each comment's likes and replies.

A change of a counter and a recount both lock the row of its user, so neither reads a count that the other is about to
change. Votes, comments and likes of banned users are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet

from accounts.models import User
from infrastructure.databases import bulk
from lookup.models import Comment, CommentLike, FeedbackVote, UserDocument


@transaction.atomic
def recount_after(user: User) -> None:
    """Receiver of `user_banned` and `ban_lifted`: count again wherever this user voted, commented, replied or liked."""
    _recount_where(*_touched_by(user))


@transaction.atomic
def withdraw(user: User) -> None:
    """Receiver of `user_deleted`: delete what the user left on other users' profiles, then count there again."""
    users, comments = _touched_by(user)
    _lock(Q(pk__in=comments) | Q(author=user))
    FeedbackVote.objects.filter(voter=user).delete()
    CommentLike.objects.filter(user=user).delete()
    Comment.objects.filter(author=user).delete()
    _recount_where(users, comments)


def _touched_by(user: User) -> tuple[set[str], set[str]]:
    """Return the ids of users and of comments whose counters `user` has contributed to."""
    users = set(FeedbackVote.objects.filter(voter=user).values_list("user_id", flat=True))
    written = Comment.objects.filter(author=user)
    users |= set(written.filter(parent__isnull=True).values_list("user_id", flat=True))
    comments = set(CommentLike.objects.filter(user=user).values_list("comment_id", flat=True))
    comments |= set(written.filter(parent__isnull=False).values_list("parent_id", flat=True))
    return users, comments


def _recount_where(users: Collection[str], comments: Collection[str]) -> None:
    if comments:
        recount_comments(comments)
    if users:
        recount(users)


@transaction.atomic
def recount(user_ids: Collection[str]) -> None:
    """Set likes, dislikes and comments of these users to what the tables say."""
    rows = list(UserDocument.objects.select_for_update(no_key=True).filter(pk__in=user_ids).order_by("pk"))
    counts = counted(user_ids)
    for row in rows:
        row.likes, row.dislikes, row.comments = counts[row.pk]
        row.unlock_due = True
    UserDocument.objects.bulk_update(rows, ["likes", "dislikes", "comments", "unlock_due"], batch_size=200)


@transaction.atomic
def recount_comments(comment_ids: Collection[str]) -> None:
    """Set likes and replies of these comments to what the tables say."""
    rows = _lock(Q(pk__in=comment_ids))
    counts = counted_of_comments(comment_ids)
    for row in rows:
        row.like_count, row.reply_count = counts[row.pk]
    Comment.objects.bulk_update(rows, ["like_count", "reply_count"], batch_size=200)


def _lock(found: Q) -> list[Comment]:
    """Return the comments, locked: a reply after what it replies to, as by who deletes one, or they would wait for each
    other."""
    rows = Comment.objects.select_for_update(no_key=True).filter(found)
    return list(rows.order_by(F("parent").asc(nulls_first=True), "pk"))


def counted(user_ids: Collection[str]) -> dict[str, tuple[int, int, int]]:
    """Return likes, dislikes and comments, with imported ones, of each user that has a document. 3 queries."""
    users = bulk.one_parameter(user_ids)
    votes = _numbers(FeedbackVote.objects.filter(user__in=users, voter__is_active=True), "user", "is_like")
    written = Comment.objects.filter(user__in=users, parent__isnull=True, author__is_active=True)
    comments = _numbers(written, "user")
    imported = UserDocument.objects.filter(pk__in=users).values_list(
        "pk", "imported_likes", "imported_dislikes", "imported_comments"
    )
    return {
        pk: (likes + votes[pk, True], dislikes + votes[pk, False], number + comments[pk,])
        for pk, likes, dislikes, number in imported
    }


def counted_of_comments(comment_ids: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return likes and replies, with imported ones, of each comment. 3 queries."""
    comments = bulk.one_parameter(comment_ids)
    likes = _numbers(CommentLike.objects.filter(comment__in=comments, user__is_active=True), "comment")
    replies = _numbers(Comment.objects.filter(parent__in=comments, author__is_active=True), "parent")
    imported = Comment.objects.filter(pk__in=comments).values_list("pk", "imported_like_count", "imported_reply_count")
    return {pk: (one + likes[pk,], two + replies[pk,]) for pk, one, two in imported}


def _numbers(rows: QuerySet[Any], *columns: str) -> Counter[tuple[Any, ...]]:
    """Return how many rows there are for each combination of values of the columns. Any: rows of any model."""
    found = rows.values(*columns).annotate(number=Count("pk")).order_by().values_list(*columns, "number")
    return Counter({tuple(values): number for *values, number in found})


def add(user_id: str, **amounts: int) -> None:
    """Add to counters of a user: `add(user_id, likes=1, dislikes=-1)`. The caller holds the transaction."""
    changes = {name: F(name) + amount for name, amount in amounts.items()}
    UserDocument.objects.filter(pk=user_id).update(unlock_due=True, **changes)


def add_to_comment(comment_id: str, **amounts: int) -> None:
    """Add to `like_count` and `reply_count` of a comment. The caller holds the transaction."""
    Comment.objects.filter(pk=comment_id).update(**{name: F(name) + amount for name, amount in amounts.items()})
