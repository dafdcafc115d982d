"""Owners moderate comments on their profiles and block their authors. Each action is in the audit trail."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db import transaction

from accounts import audit
from accounts.models import User
from lookup.editing import profiles
from lookup.models import Comment, Profile, ProfileBlock
from lookup.social import comments
from lookup.social.feedback import lock_people

PARTS = {"comments": "commentsSettings", "votes": "feedbackSettings"}


@transaction.atomic
def delete(*, comment: Comment, by: User) -> None:
    """Delete as author or as owner of the profile; staff use the admin, with its second factor and its own records.

    Raises PermissionDenied; Comment.DoesNotExist where it was deleted.
    """
    if by.pk not in {comment.author_id, comment.user_id}:
        raise PermissionDenied("Only its author or the profile's owner may delete a comment.")
    comments.delete(comment=comment, by=by)
    if by.pk != comment.author_id:
        audit.record("comment:deleted", by=by, on=comment.user, comment=comment.pk, author=comment.author_id)


@transaction.atomic
def pin(*, comment: Comment, is_pinned: bool, by: User) -> None:
    """Pin or unpin as the profile's owner. Raises PermissionDenied, Comment.DoesNotExist, and as `comments.pin`."""
    if by.pk != comment.user_id:
        raise PermissionDenied("Only the profile's owner may pin a comment.")
    comments.pin(comment=comment, is_pinned=is_pinned, by=by)
    audit.record("comment:pinned" if is_pinned else "comment:unpinned", by=by, on=comment.user, comment=comment.pk)


@transaction.atomic
def block(*, blocked: User, by: User) -> None:
    """Keep `blocked` from the profiles of `by`. Idempotent. Raises PermissionDenied: one's own account, or `by` is
    banned; User.DoesNotExist: `blocked` was deleted."""
    if blocked.pk == by.pk:
        raise PermissionDenied("You cannot block yourself.")
    lock_people(user_id=blocked.pk, by=by)
    _, is_new = ProfileBlock.objects.get_or_create(user=by, blocked=blocked)
    if is_new:
        audit.record("profile:blocked", by=by, on=by, user=blocked.pk)


@transaction.atomic
def unblock(*, blocked_id: str, by: User) -> None:
    """Unblock the user. Idempotent."""
    deleted, _ = ProfileBlock.objects.filter(user=by, blocked=blocked_id).delete()
    if deleted:
        audit.record("profile:unblocked", by=by, on=by, user=blocked_id)


def switch(*, part: str, is_on: bool, by: User) -> None:
    """Show comments or votes (`part`: of PARTS) on the main profile and accept new ones, or neither."""
    profile = Profile.objects.get(user=by, is_main=True)
    profiles.change_setting(profile, PARTS[part], "enabled", value=is_on, by=by)
