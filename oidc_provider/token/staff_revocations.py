"""What staff take back on a user's behalf: tokens and approvals, with a reason."""

from __future__ import annotations

from django.db import transaction

from accounts import audit
from accounts.models import User
from oidc_provider.authorize import approvals
from oidc_provider.authorize.models import Approval
from oidc_provider.token import tokens
from oidc_provider.token.models import AccessToken, RefreshToken


@transaction.atomic
def revoke_access_token(*, token: AccessToken, by: User | None, reason: str) -> None:
    """Kill this token alone."""
    _record("access_token:revoked", token, by, reason)
    AccessToken.objects.filter(pk=token.pk).delete()


@transaction.atomic
def revoke_refresh_token(*, token: RefreshToken, by: User | None, reason: str) -> None:
    """Kill everything that came from the same sign-in."""
    _record("refresh_token:revoked", token, by, reason)
    tokens.revoke_family(token.token_family, token.application_id)


def disconnect(*, approval: Approval, by: User | None, reason: str) -> None:
    """Delete the approval and every token of the app for its user."""
    approvals.disconnect(user=approval.user, application=approval.application, by=by, reason=reason)


def _record(verb: str, token: AccessToken | RefreshToken, by: User | None, reason: str) -> None:
    audit.record(verb, by=by, on=token, reason=reason, user_id=token.user_id, client_id=token.application.client_id)
