"""Write comments as rows, and totals beyond the rows that a line holds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import groupby

from infrastructure.databases import bulk
from infrastructure.timestamps import milliseconds
from lookup.documents import counters, rendering
from lookup.models import Comment, UserDocument
from lookup.transfer.conflicts import Claims, batches
from lookup.transfer.content import WrittenProfiles
from lookup.transfer.people import kept
from lookup.transfer.reading import Json, Line

_COMMENT_COLUMNS = (
    *("author", "content", "is_pinned", "created_at"),
    *("like_count", "reply_count", "imported_like_count", "imported_reply_count"),
)
_DOCUMENT_COLUMNS = (
    *("profile", "views", "likes", "dislikes", "comments", "unlock_due"),
    *("imported_likes", "imported_dislikes", "imported_comments"),
)


def write(lines: list[Line], claims: Claims, written: WrittenProfiles) -> None:
    """Add and change comments; never remove other users' comments, votes, likes and replies.

    So a total is what the line says, or what is stored where that is more.
    """
    _write_comments(lines, claims)
    held: dict[str, UserDocument] = {}
    for batch in batches(set(written.profiles) & set(claims.users)):
        locked = UserDocument.objects.select_for_update(no_key=True).filter(pk__in=batch).order_by("pk")
        held |= {document.pk: document for document in locked}
    counts = counters.counted(list(held))
    rows = [_document(line, held.get(line.user_id), counts, claims) for line in lines]
    rows += [bulk.build(UserDocument, user_id=author.user.pk, uid=author.user.uid) for author in written.people.authors]
    for row in rows:
        row.profile_id = written.profiles[row.pk].pk
        if one := written.new.get(row.profile_id):
            vars(row).update(rendering.user_columns(one))
    bulk.save(rows, held=set(held), columns=_DOCUMENT_COLUMNS)


def _document(
    line: Line, held: UserDocument | None, counts: dict[str, tuple[int, int, int]], claims: Claims
) -> UserDocument:
    """Return the counters of the line, with what they hold beyond the rows. The line names the badges: none are due."""
    items = line.comments()
    own = sum(item["author"]["id"] not in claims.banned for item in items)
    likes, dislikes, comments = 0, 0, own
    if held is not None:
        counted = counts[line.user_id]
        likes, dislikes = counted[0] - held.imported_likes, counted[1] - held.imported_dislikes
        comments = counted[2] - held.imported_comments
    feedback = line.data["feedback"]
    row = bulk.build(
        UserDocument,
        user_id=line.user_id,
        uid=line.user["uid"],
        views=line.data["views"],
        imported_likes=max(feedback["likes"] - likes, 0),
        imported_dislikes=max(feedback["dislikes"] - dislikes, 0),
        imported_comments=max(line.data["comments"]["count"] - len(items) - (comments - own), 0),
    )
    row.likes, row.dislikes = likes + row.imported_likes, dislikes + row.imported_dislikes
    row.comments = comments + row.imported_comments
    return row


def _write_comments(lines: Iterable[Line], claims: Claims) -> None:
    counted: dict[str, tuple[int, int]] = {}
    for batch in batches(claims.comments):
        rows_there = Comment.objects.select_for_update(no_key=True).filter(pk__in=batch)
        list(rows_there.order_by("pk").values_list("pk"))  # concurrent bans and likes wait
        counted |= counters.counted_of_comments(batch)
    rows = [
        _comment(line, item, created_at, claims.comments.get(item["id"]), counted)
        for line in lines
        for item, created_at in zip(line.comments(), _timestamps(line, claims), strict=True)
    ]
    bulk.save(rows, held=set(claims.comments), columns=_COMMENT_COLUMNS)


def _comment(
    line: Line, item: Json, created_at: datetime, held: Comment | None, counted: dict[str, tuple[int, int]]
) -> Comment:
    likes, replies = counted.get(item["id"], (0, 0))
    if held is not None:
        likes, replies = likes - held.imported_like_count, replies - held.imported_reply_count
    return bulk.build(
        Comment,
        id=item["id"],
        user_id=line.user_id,
        author_id=item["author"]["id"],
        content=item["content"],
        is_pinned=item["pinned"],
        created_at=created_at,
        like_count=max(item["likeCount"], likes),
        reply_count=max(item["replyCount"], replies),
        imported_like_count=max(item["likeCount"] - likes, 0),
        imported_reply_count=max(item["replyCount"] - replies, 0),
    )


def _timestamps(line: Line, claims: Claims) -> list[datetime]:
    """Return the timestamps of the comments. Microseconds keep the order of the line among comments that lookups show
    with equal timestamps."""
    timestamps: list[datetime] = []
    for _, run in groupby(line.comments(), lambda item: (item["pinned"], milliseconds(item["createdAt"]))):
        items = list(run)
        stored = [getattr(claims.comments.get(item["id"]), "created_at", None) for item in items]
        found = [kept(item["createdAt"], at) for item, at in zip(items, stored, strict=True)]
        newest = max(found)
        places = [(newest - at, item["id"]) for at, item in zip(found, items, strict=True)]
        if places != sorted(places):
            start = newest.replace(microsecond=newest.microsecond // 1000 * 1000)
            found = [start + timedelta(microseconds=after) for after in range(len(items) - 1, -1, -1)]
        timestamps += found
    return timestamps
