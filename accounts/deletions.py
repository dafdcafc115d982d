"""Deletion of accounts: the owner requests it and can cancel it within the days of grace; then a job deletes. The job
also deletes accounts whose address was never confirmed."""

from __future__ import annotations

from datetime import datetime, timedelta

from allauth.account.models import EmailAddress
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from accounts import audit, users
from accounts.models import AccountDeletion, User
from accounts.models.names import NameKind
from accounts.models.users import UserQuerySet
from accounts.plans import Plan

CONFIRMED_WITHIN = timedelta(days=3)


@transaction.atomic
def ask(*, user: User, by: User) -> AccountDeletion:
    """Delete the account once `users.DELETION_GRACE` is over. Asked again, it stays with the first day.

    PermissionDenied: staff, whose accounts another superuser deletes; another user's account.
    """
    if user.is_staff or user.pk != by.pk:
        raise PermissionDenied("Only the person can ask for it, and no member of staff.")
    users.lock(user.pk)
    now = timezone.now()
    deletion, is_new = AccountDeletion.objects.get_or_create(
        user=user, defaults={"asked_at": now, "due_at": now + users.DELETION_GRACE}
    )
    if is_new:
        audit.record("user:deletion_asked", by=by, on=user, due_at=deletion.due_at.isoformat())
    return deletion


@transaction.atomic
def stop(*, user: User, by: User | None) -> bool:
    """Keep the account. False: no deletion was asked for."""
    users.check_may_act_for(owner=user, by=by)
    users.lock(user.pk)
    deleted, _ = AccountDeletion.objects.filter(user=user).delete()
    if deleted:
        audit.record("user:deletion_stopped", by=by, on=user)
    return bool(deleted)


def due(now: datetime) -> list[str]:
    """Return the ids of users whose accounts are to be deleted now, without banned people and staff. 1 query."""
    rows = AccountDeletion.objects.filter(due_at__lte=now, user__is_active=True, user__is_staff=False)
    return list(rows.order_by("due_at", "pk").values_list("user", flat=True))


@transaction.atomic
def carry_out(user_id: str, *, now: datetime) -> bool:
    """Delete the account with everything that is its own. False: it was stopped, or is done already."""
    if not users.lock(user_id):
        return False
    still = AccountDeletion.objects.filter(due_at__lte=now, user__is_active=True, user__is_staff=False)
    deletion = still.filter(user=user_id).select_related("user").first()
    if deletion is None:
        return False
    users.delete(user=deletion.user, by=None, reason="Asked for by the person.")
    return True


def unconfirmed(now: datetime) -> UserQuerySet:
    """Return the accounts that were made CONFIRMED_WITHIN ago, have no confirmed address and have never signed in.

    Left out: banned people, staff, and accounts to which staff or a command gave something.
    """
    old = User.objects.get_queryset().filter(created_at__lte=now - CONFIRMED_WITHIN, last_login=None, is_active=True)
    plain = old.filter(is_staff=False, is_superuser=False, is_verified=False, plan=Plan.FREE)
    bare = plain.filter(api_keys=None, applications=None, linked_accounts=None, groups=None, user_permissions=None)
    bare = bare.filter(unlocked_scopes=[]).exclude(names__kind=NameKind.ALIAS)
    return bare.filter(emailaddress__verified=False).exclude(emailaddress__verified=True).distinct()


@transaction.atomic
def delete_unconfirmed(user_id: str, *, now: datetime) -> bool:
    """Delete the account, its name and its address. False: it was confirmed, or is deleted already."""
    users.lock(user_id)
    list(EmailAddress.objects.select_for_update().filter(user=user_id))  # a confirmation comes before or after
    user = unconfirmed(now).filter(pk=user_id).first()
    if user is None:
        return False
    users.delete(user=user, by=None, reason="The address was never confirmed.")
    return True
