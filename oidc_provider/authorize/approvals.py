"""What users allowed apps to do. An approval outlives tokens, until the user or staff disconnects the app."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction

from accounts import audit, users
from accounts.models import User
from oidc_provider import logouts, revocation
from oidc_provider.applications import app_events
from oidc_provider.applications.scopes import in_order
from oidc_provider.models import Application, Approval


@transaction.atomic
def approve(
    *, user: User, application: Application, scopes: list[str], now: datetime, has_webhooks: bool = True
) -> Approval:
    """Add `scopes` to what `user` allows `application`, and tell its webhooks of new ones; concurrent calls add up.

    `has_webhooks`: whether the app may have some; if so, and there are new scopes, 1 query more to find them.
    """
    approval, is_news = _stored(user, application, scopes, now)
    if is_news and has_webhooks:
        app_events.authorized(approval=approval, application=application)
    return approval


def _stored(user: User, application: Application, scopes: list[str], now: datetime) -> tuple[Approval, bool]:
    """Store the approval; return it, and whether it allows something new."""
    approval = Approval.objects.select_for_update().filter(user=user, application=application).first()
    if approval is None:
        try:
            with transaction.atomic():
                made = Approval.objects.create(
                    user=user, application=application, scopes=in_order(scopes), created_at=now, updated_at=now
                )
                return made, True
        except IntegrityError:  # another tab was faster
            approval = Approval.objects.select_for_update().get(user=user, application=application)
    is_news = not approval.covers(scopes)
    approval.scopes = in_order([*approval.scopes, *scopes])
    approval.updated_at = now
    approval.save(update_fields=["scopes", "updated_at"])
    return approval, is_news


@transaction.atomic
def disconnect(*, user: User, application: Application, by: User | None, reason: str = "") -> None:
    """Delete the approval and every code and token of the app for this user. Idempotent.

    The user and the app are locked first, as by a ban and by the deletion of either (`roles.lock_teams`). `reason`: of
    staff who act for the user.
    """
    users.lock(user.pk)
    list(Application.objects.select_for_update(no_key=True).filter(pk=application.pk).values_list("pk"))
    if revocation.disconnect(user, application):
        logouts.disconnected(user, application)
        audit.record("approval:withdrawn", by=by, on=application, reason=reason, user_id=user.pk)
        app_events.disconnected(user=user, application=application)


def withdraw(*, approval: Approval, by: User | None, reason: str) -> None:
    """Disconnect the app of `approval` for its user, by staff."""
    disconnect(user=approval.user, application=approval.application, by=by, reason=reason)
