"""Bans: a banned user cannot sign in, and nothing of theirs answers."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from accounts import audit, hooks, users
from accounts.api_keys import records
from accounts.models import User


@transaction.atomic
def ban(*, user: User, by: User | None, reason: str) -> User:
    """Close the account, end its sessions and call the receivers of `user_banned`, all or nothing.

    PermissionDenied: one's own account; a staff account, and `by` is no superuser. A banned user stays banned.
    """
    if by is not None and by.pk == user.pk:
        raise PermissionDenied("You cannot ban yourself.")
    users.check_authority(user=user, by=by)
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if user.is_banned:
        return user
    user.is_active = False
    user.banned_at = timezone.now()
    user.save(update_fields=["is_active", "banned_at"])
    records.forget_of(user)
    ended = users.end_sessions(user)
    hooks.call("user_banned", user)
    audit.record("user:banned", by=by, on=user, reason=reason, sessions_ended=ended)
    return user


@transaction.atomic
def lift(*, user: User, by: User | None, reason: str) -> User:
    """Let the user sign in again, and call the receivers of `ban_lifted`. Tokens and sessions stay ended.

    A deletion that the user has asked for is postponed, so that there is time to stop it.
    """
    users.check_authority(user=user, by=by)
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if not user.is_banned:
        return user
    user.is_active = True
    user.banned_at = None
    user.save(update_fields=["is_active", "banned_at"])
    records.forget_of(user)
    hooks.call("ban_lifted", user)
    data = users.postpone_deletion(user)
    audit.record("user:ban_lifted", by=by, on=user, reason=reason, **data)
    return user
