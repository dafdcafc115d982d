"""Comments with their replies, as pages show them, without comments of banned users."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from lookup.models import Comment, CommentLike, FeedbackVote, ProfileBlock
from lookup.serializers.rows import CommentRow

PREVIEWED = 3  # replies below a comment in a list

_COLUMNS = (
    *("id", "content", "like_count", "reply_count", "is_pinned", "created_at"),
    *("author_id", "author__uid", "author__username", "author__display_name"),
    "author__document__profile__document__avatar_path",
    "author__document__profile__document__mirrors_chat",
)


def find(user_id: str, comment_id: str) -> CommentRow | None:
    """Return the comment on this user's profiles; None for a reply, a banned author or no comment. 1 query."""
    rows = _shown().filter(user=user_id, pk=comment_id, parent__isnull=True)
    found = rows.values_list(*_COLUMNS).first()
    return None if found is None else CommentRow._make(found)


def replies(comment_id: str, *, limit: int, offset: int = 0) -> list[CommentRow]:
    """Return replies to the comment, oldest first. 1 query."""
    rows = _shown().filter(parent=comment_id).order_by("created_at", "pk").values_list(*_COLUMNS)
    return [CommentRow._make(row) for row in rows[offset : offset + limit]]


def first_replies(rows: Sequence[CommentRow]) -> dict[str, list[CommentRow]]:
    """Return the first replies to each of these comments, by its id. 1 query; none where there are no replies."""
    found: dict[str, list[CommentRow]] = defaultdict(list)
    parents = [row.id for row in rows if row.reply_count]
    if parents:
        place = Window(RowNumber(), partition_by=F("parent"), order_by=["created_at", "pk"])
        numbered = _shown().filter(parent__in=parents).annotate(place=place).filter(place__lte=PREVIEWED)
        for parent, _, *row in numbered.order_by("parent", "place").values_list("parent", "place", *_COLUMNS):
            found[parent].append(CommentRow._make(row))
    return found


def liked_by(viewer_id: str, comment_ids: Sequence[str]) -> frozenset[str]:
    """Return the ids of the comments that the viewer likes. 1 query; none without comments."""
    rows = (
        CommentLike.objects.filter(user=viewer_id, comment__in=comment_ids)
        if comment_ids
        else CommentLike.objects.none()
    )
    return frozenset(rows.values_list("comment", flat=True))


def vote_of(viewer_id: str, user_id: str) -> bool | None:
    """Return whether the viewer likes the profile; None without a vote. 1 query."""
    return FeedbackVote.objects.filter(user=user_id, voter=viewer_id).values_list("is_like", flat=True).first()


def is_blocked(viewer_id: str, user_id: str) -> bool:
    """Return whether `user_id` has blocked the viewer. 1 query."""
    return ProfileBlock.objects.filter(user=user_id, blocked=viewer_id).exists()


def _shown() -> QuerySet[Comment]:
    return Comment.objects.filter(author__is_active=True)
