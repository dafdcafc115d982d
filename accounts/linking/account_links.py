"""Operations on linked outside accounts."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import audit, hooks
from accounts.models import LinkedAccount, User

TAKEN = "This account is linked to another user."
CLAIMS = frozenset({"connections"})  # that say what is linked


@transaction.atomic
def link(*, user: User, kind: str, external_id: str, name: str, avatar_url: str = "", by: User | None) -> LinkedAccount:
    """Link the outside account, in place of the one of its kind that was linked before; then call the
    receivers of `account_linked`. ValidationError: another user has linked it."""
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    holder = LinkedAccount.objects.filter(kind=kind, external_id=external_id).exclude(user=user)
    if holder.exists():
        raise ValidationError(TAKEN, code="taken")
    columns: dict[str, Any] = {"external_id": external_id, "name": name, "avatar_url": avatar_url}
    before = LinkedAccount.objects.filter(user=user, kind=kind).first()
    if before is None or before.external_id != external_id:
        columns["linked_at"] = timezone.now()  # another account than before, if there was one
    try:
        with transaction.atomic():
            linked, _ = LinkedAccount.objects.update_or_create(user=user, kind=kind, defaults=columns)
    except IntegrityError as error:  # another user linked it after the check
        raise ValidationError(TAKEN, code="taken") from error
    audit.record("linked_account:linked", by=by, on=user, kind=kind, external_id=external_id)
    hooks.call("public_access_changed", user)  # of another account than before
    hooks.call("account_linked", user)
    if before is None or (before.external_id, before.name) != (external_id, name):
        hooks.claims_changed({user.pk: CLAIMS})
    return linked


@transaction.atomic
def unlink(*, user: User, kind: str, by: User | None) -> None:
    """Forget the linked account of this kind; nothing where there is none."""
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    deleted, _ = LinkedAccount.objects.filter(user=user, kind=kind).delete()
    if deleted:
        audit.record("linked_account:unlinked", by=by, on=user, kind=kind)
        hooks.call("account_linked", user)
        hooks.claims_changed({user.pk: CLAIMS})


@transaction.atomic
def refresh(*, kind: str, external_id: str, name: str, avatar_url: str) -> bool:
    """Store the name and picture that the outside service reports. No user acts, so there is no audit event. Return
    whether anything changed; only then receivers are called. False where the account is not linked."""
    linked = LinkedAccount.objects.filter(kind=kind, external_id=external_id).first()
    if linked is None or (linked.name, linked.avatar_url) == (name, avatar_url):
        return False
    user = User.objects.select_for_update(no_key=True).filter(pk=linked.user_id).first()
    of_this_user = LinkedAccount.objects.filter(pk=linked.pk, user=user, kind=kind, external_id=external_id)
    if user is None or not of_this_user.update(
        name=name, avatar_url=avatar_url
    ):  # unlinked, or another one in its place
        return False
    hooks.call("account_linked", user)
    if linked.name != name:  # the picture is no claim
        hooks.claims_changed({user.pk: CLAIMS})
    return True
