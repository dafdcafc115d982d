"""Comments on a profile, replies to them, likes and pins; and how pages show them, without those of banned users."""

from __future__ import annotations

import re
from datetime import timedelta

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import audit
from accounts.models import User
from accounts.models.users import new_id
from infrastructure.text_rules import validate_text
from lookup.documents import counters
from lookup.models import Comment, CommentLike
from lookup.serializers.rows import CommentRow
from lookup.social.feedback import admit, lock_people

MAX_LENGTH = 2000
LENGTH_RULE = f"Write 1 to {MAX_LENGTH} characters."
COLUMNS = (  # of CommentRow
    *("id", "content", "like_count", "reply_count", "is_pinned", "created_at"),
    *("author_id", "author__uid", "author__username", "author__display_name"),
    "author__document__profile__document__avatar_path",
    "author__document__profile__document__mirrors_chat",
)
NO_LINKS_FOR = timedelta(days=3)  # after the account was created: spam comes from new accounts
# The end of a scheme, or what a host name has: a dot inside, and at least two letters after it.
_LINK = re.compile(r"(?<=[a-z0-9+.-])://|(?<=[\w-])\.[^\W\d_]{2,}\b", re.IGNORECASE)


@transaction.atomic
def write(
    *, user: User, content: str, parent: Comment | None = None, pk: str = "", by: User, by_staff: bool = False
) -> Comment:
    """Comment on the profile of `user`, or reply to the comment `parent` on it. `pk`: the id of the new comment; an
    existing one of `by` with that id is returned. `by_staff`: staff write it for `by`, without regard to the owner's
    settings and blocks and the age of the account.

    Raises ValidationError as `validated`, or for a reply to a reply; PermissionDenied as `feedback.admit`; as all
    functions below, Comment.DoesNotExist or User.DoesNotExist where it or its profile was deleted.
    """
    content = validated(content, by=None if by_staff else by)
    _admit(user_id=user.pk, by=by, by_staff=by_staff)
    if pk and (written := Comment.objects.filter(pk=pk).first()):
        if written.author_id == by.pk:
            return written
        pk = ""
    parent = parent and _locked(parent)
    if parent is not None and (parent.parent_id is not None or parent.user_id != user.pk):
        raise ValidationError("Reply to a comment on this profile.")
    comment = Comment.objects.create(pk=pk or new_id(), user=user, author=by, parent=parent, content=content)
    if parent is None:
        counters.add(user.pk, comments=1)
    else:
        counters.add_to_comment(parent.pk, reply_count=1)
    return comment


def validated(content: str, *, by: User | None) -> str:
    """Return the content without spaces around it. Raises ValidationError: empty, longer than MAX_LENGTH, unsafe
    characters, or a link in a comment of a new account (`by`; None: staff)."""
    content = content.strip()
    if not content or len(content) > MAX_LENGTH:
        raise ValidationError(LENGTH_RULE)
    validate_text(content)
    if by and timezone.now() < by.created_at + NO_LINKS_FOR and (found := _LINK.search(content)):
        before, after = content[: found.start()].split(), content[found.start() :].split()
        link = f"{before[-1]}{after[0]}"[:60]
        raise ValidationError(
            f"Remove “{link}”: you can write links when your account is {NO_LINKS_FOR.days} days old."
        )
    return content


@transaction.atomic
def delete(*, comment: Comment, by: User, by_staff: bool = False) -> None:
    """Delete the comment with its replies and likes, as its author or as the profile's owner, which is recorded.
    `by_staff`: staff delete it, and record that themselves. Raises PermissionDenied."""
    if by.pk not in {comment.author_id, comment.user_id} and not (by_staff and by.is_staff):
        raise PermissionDenied("Only its author or the profile's owner may delete a comment.")
    user_id, parent_id = comment.user_id, comment.parent_id
    locked_for_deletion(comment).delete()
    if parent_id is None:
        counters.recount([user_id])
    else:
        counters.recount_comments([parent_id])
    if not by_staff and by.pk != comment.author_id:
        audit.record("comment:deleted", by=by, on=comment.user, comment=comment.pk, author=comment.author_id)


@transaction.atomic
def pin(*, comment: Comment, is_pinned: bool, by: User, by_staff: bool = False) -> None:
    """Pin or unpin the comment, as the profile's owner, which is recorded. `by_staff`: as for `delete`. Raises
    PermissionDenied; ValidationError: a reply cannot be pinned."""
    if by.pk != comment.user_id and not (by_staff and by.is_staff):
        raise PermissionDenied("Only the profile's owner may pin a comment.")
    if comment.parent_id is not None:
        raise ValidationError("A reply cannot be pinned.")
    comment = _locked(comment)
    comment.is_pinned = is_pinned
    comment.save(update_fields=["is_pinned"])
    if not by_staff:
        audit.record(f"comment:{'' if is_pinned else 'un'}pinned", by=by, on=comment.user, comment=comment.pk)


@transaction.atomic
def like(*, comment: Comment, by: User, by_staff: bool = False) -> None:
    """Like the comment, once for each user; idempotent. `by_staff`: as for `write`. Raises PermissionDenied as
    `feedback.admit`."""
    _admit(user_id=comment.user_id, by=by, by_staff=by_staff)
    comment = _locked(comment)
    _, is_new = CommentLike.objects.get_or_create(comment=comment, user=by)
    if is_new:
        counters.add_to_comment(comment.pk, like_count=1)


@transaction.atomic
def unlike(*, comment: Comment, by: User) -> None:
    lock_people(user_id=comment.user_id, by=by)
    comment = _locked(comment)
    deleted, _ = CommentLike.objects.filter(comment=comment, user=by).delete()
    if deleted:
        counters.add_to_comment(comment.pk, like_count=-1)


def locked_for_deletion(comment: Comment) -> Comment:
    """Return the current row, locked after the comment that it replies to: concurrent replies, likes and reports are
    done or wait. Raises Comment.DoesNotExist if it was deleted."""
    if comment.parent_id is not None:
        _locked(Comment(pk=comment.parent_id))
    return Comment.objects.select_for_update().get(pk=comment.pk)


def _admit(*, user_id: str, by: User, by_staff: bool) -> None:
    """Lock as `lock_people`, and check what the owner allows unless staff act."""
    if by_staff:
        lock_people(user_id=user_id, by=by)
    else:
        admit("commentsSettings", user_id=user_id, by=by)


def _locked(comment: Comment) -> Comment:
    """Return the current row, locked, so that its deletion waits. Raises Comment.DoesNotExist if it was deleted."""
    return Comment.objects.select_for_update(no_key=True).get(pk=comment.pk)


def find(user_id: str, comment_id: str) -> CommentRow | None:
    """Return the comment on this user's profiles; None for a reply, a banned author or no comment. 1 query."""
    rows = _shown().filter(user=user_id, pk=comment_id, parent__isnull=True)
    found = rows.values_list(*COLUMNS).first()
    return None if found is None else CommentRow._make(found)


def replies(comment_id: str, *, limit: int, offset: int = 0) -> list[CommentRow]:
    """Return replies to the comment, oldest first. 1 query."""
    rows = _shown().filter(parent=comment_id).order_by("created_at", "pk").values_list(*COLUMNS)
    return [CommentRow._make(row) for row in rows[offset : offset + limit]]


def _shown() -> QuerySet[Comment]:
    return Comment.objects.filter(author__is_active=True)
