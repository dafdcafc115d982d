"""Votes on a profile, and who may take part there: its owner blocks users and switches comments and votes off."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db import transaction

from accounts import audit
from accounts.models import User
from lookup.documents import counters
from lookup.editing import profiles
from lookup.models import FeedbackVote, Profile, ProfileBlock
from lookup.shapes import settings_schema

PARTS = {"comments": "commentsSettings", "votes": "feedbackSettings"}  # the settings of what can be switched off
_COUNTERS = {True: "likes", False: "dislikes"}
_SWITCHED_OFF = {
    "commentsSettings": "Comments on this profile are switched off.",
    "feedbackSettings": "Votes on this profile are switched off.",
}


@transaction.atomic
def vote(*, user: User, is_like: bool, by: User) -> FeedbackVote:
    """Vote on the profile of `user`, in place of the vote that `by` gave before. Raises PermissionDenied: one's own
    profile, or as `admit`; User.DoesNotExist: `user` was deleted."""
    admit("feedbackSettings", user_id=user.pk, by=by)
    if user.pk == by.pk:
        raise PermissionDenied("You cannot vote on your own profile.")
    given = FeedbackVote.objects.select_for_update().filter(user=user, voter=by).first()
    if given is None:
        counters.add(user.pk, **{_COUNTERS[is_like]: 1})
        return FeedbackVote.objects.create(user=user, voter=by, is_like=is_like)
    if given.is_like != is_like:
        given.is_like = is_like
        given.save(update_fields=["is_like"])
        counters.add(user.pk, **{_COUNTERS[is_like]: 1, _COUNTERS[not is_like]: -1})
    return given


@transaction.atomic
def withdraw(*, user: User, by: User) -> None:
    """Take the vote back, if there is one."""
    lock_people(user_id=user.pk, by=by)
    given = FeedbackVote.objects.select_for_update().filter(user=user, voter=by).first()
    if given is not None:
        counters.add(user.pk, **{_COUNTERS[given.is_like]: -1})
        given.delete()


def admit(part: str, *, user_id: str, by: User) -> None:
    """Lock as `lock_people`, and check that `by` may use this part of the profile: "commentsSettings" or
    "feedbackSettings" of the main one.

    Raises PermissionDenied: `by` is banned or blocked by the owner, or the part is off; User.DoesNotExist.
    """
    lock_people(user_id=user_id, by=by)
    if ProfileBlock.objects.filter(user=user_id, blocked=by).exists():
        raise PermissionDenied("The owner of this profile has blocked you.")
    stored = Profile.objects.filter(user=user_id, is_main=True).values_list("settings", flat=True).first()
    if not settings_schema.filled(stored or {})[part]["enabled"]:
        raise PermissionDenied(_SWITCHED_OFF[part])


def lock_people(*, user_id: str, by: User, author_id: str | None = None) -> None:
    """Lock the rows of the owner, of `by` and of the author of a comment, so that a ban or a deletion of them waits.

    Raises PermissionDenied: `by` is banned or deleted; User.DoesNotExist: the profile's owner was deleted.
    """
    people = {user_id, by.pk, author_id or by.pk}
    rows = User.objects.select_for_update(no_key=True).filter(pk__in=people).order_by("pk")
    found = {user.pk: user for user in rows}
    if by.pk not in found or not found[by.pk].is_active:
        raise PermissionDenied("This account is banned.")
    if user_id not in found:
        raise User.DoesNotExist


def switch(*, part: str, is_on: bool, by: User) -> None:
    """Show comments or votes (`part`: of PARTS) on the main profile and accept new ones, or neither."""
    profile = Profile.objects.get(user=by, is_main=True)
    profiles.change_setting(profile, PARTS[part], "enabled", value=is_on, by=by)


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
