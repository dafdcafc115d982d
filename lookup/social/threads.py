"""Comments with their replies, as pages show them, without comments of banned users."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from lookup.models import Comment
from lookup.serializers.rows import CommentRow

PREVIEWED = 3  # replies below a comment in a list
COLUMNS = (  # of CommentRow
    *("id", "content", "like_count", "reply_count", "is_pinned", "created_at"),
    *("author_id", "author__uid", "author__username", "author__display_name"),
    "author__document__profile__document__avatar_path",
    "author__document__profile__document__mirrors_chat",
)


def find(user_id: str, comment_id: str) -> CommentRow | None:
    """Return the comment on this user's profiles; None for a reply, a banned author or no comment. 1 query."""
    rows = _shown().filter(user=user_id, pk=comment_id, parent__isnull=True)
    found = rows.values_list(*COLUMNS).first()
    return None if found is None else CommentRow._make(found)


def replies(comment_id: str, *, limit: int, offset: int = 0) -> list[CommentRow]:
    """Return replies to the comment, oldest first. 1 query."""
    rows = _shown().filter(parent=comment_id).order_by("created_at", "pk").values_list(*COLUMNS)
    return [CommentRow._make(row) for row in rows[offset : offset + limit]]


def first_replies(rows: Sequence[CommentRow]) -> dict[str, list[CommentRow]]:
    """Return the first replies to each of these comments, by its id. 1 query; none where there are no replies."""
    found: dict[str, list[CommentRow]] = defaultdict(list)
    parents = [row.id for row in rows if row.reply_count]
    if parents:
        place = Window(RowNumber(), partition_by=F("parent"), order_by=["created_at", "pk"])
        numbered = _shown().filter(parent__in=parents).annotate(place=place).filter(place__lte=PREVIEWED)
        for parent, _, *row in numbered.order_by("parent", "place").values_list("parent", "place", *COLUMNS):
            found[parent].append(CommentRow._make(row))
    return found


def _shown() -> QuerySet[Comment]:
    return Comment.objects.filter(author__is_active=True)
