"""What users allowed apps to do. An approval outlives tokens, until the user or staff disconnects the app."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction

from accounts import audit
from accounts.models import User
from oidc_provider import logouts, revocation
from oidc_provider.applications.scopes import in_order
from oidc_provider.models import Application, Approval


@transaction.atomic
def approve(*, user: User, application: Application, scopes: list[str], now: datetime) -> Approval:
    """Add `scopes` to what `user` allows `application`; concurrent calls add up."""
    approval = Approval.objects.select_for_update().filter(user=user, application=application).first()
    if approval is None:
        try:
            with transaction.atomic():
                return Approval.objects.create(
                    user=user, application=application, scopes=in_order(scopes), created_at=now, updated_at=now
                )
        except IntegrityError:  # another tab was faster
            approval = Approval.objects.select_for_update().get(user=user, application=application)
    approval.scopes = in_order([*approval.scopes, *scopes])
    approval.updated_at = now
    approval.save(update_fields=["scopes", "updated_at"])
    return approval


@transaction.atomic
def disconnect(*, user: User, application: Application, by: User | None, reason: str = "") -> None:
    """Delete the approval and every code and token of the app for this user. Idempotent.

    `reason`: of staff who act for the user.
    """
    deleted, _ = Approval.objects.filter(user=user, application=application).delete()
    revocation.delete_of_user_and_application(user, application)
    if deleted:
        logouts.disconnected(user, application)
        audit.record("approval:withdrawn", by=by, on=application, reason=reason, user_id=user.pk)


def withdraw(*, approval: Approval, by: User | None, reason: str) -> None:
    """Disconnect the app of `approval` for its user, by staff."""
    disconnect(user=approval.user, application=approval.application, by=by, reason=reason)
