"""Requests to staff: created, withdrawn, granted, denied. A grant performs the request in the same transaction.

Every operation locks the user's row first, then the request, then the key. A ban, a relock and the deletion of the
account lock the same row first, so all of them run one after the other for each user.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import audit, notifications, users
from accounts.api_keys import keys
from accounts.models import ApiKey, Permission, User
from dashboard.models import AccessRequest
from infrastructure import text_rules
from oidc_provider.applications import applications
from oidc_provider.applications.scopes import LOCKED_SCOPES

# Permissions that owners give their keys themselves; staff grant all other ones.
SELF_SERVED = tuple(permission for permission in Permission if permission.is_self_served)
BY_REQUEST = tuple(permission for permission in Permission if not permission.is_self_served)
MAX_REASON = 2000
_DECIDED = "This request has been decided or withdrawn in the meantime."
_GONE = "This request no longer exists: its account was deleted."


@transaction.atomic
def ask_for_scope(*, user: User, scope: str, reason: str) -> AccessRequest:
    """Request a locked scope for the user's apps. Raises ValidationError, by argument."""
    user = users.lock_active(user)
    if scope not in LOCKED_SCOPES:
        raise ValidationError({"scope": f"{scope} is not a locked scope."})
    if scope in user.unlocked_scopes:
        raise ValidationError({"scope": f"{scope} is unlocked for you already."})
    return _ask(user=user, kind=AccessRequest.Kind.SCOPE, subject=scope, reason=reason)


@transaction.atomic
def ask_for_permission(*, key: ApiKey, permission: str, reason: str) -> AccessRequest:
    """Request another permission for the key. Raises ValidationError, by argument."""
    user = users.lock_active(key.owner)
    key = keys.locked(key)
    if permission not in BY_REQUEST:
        raise ValidationError({"permission": f"{permission} is not a permission that staff grant."})
    if key.allows(permission):
        raise ValidationError({"permission": "The key has this permission already."})
    if key.is_over(timezone.now()):
        raise ValidationError({"permission": "This key cannot be used again; create a new one."})
    return _ask(user=user, kind=AccessRequest.Kind.PERMISSION, subject=permission, key=key, reason=reason)


@transaction.atomic
def withdraw(*, request: AccessRequest, by: User) -> AccessRequest:
    """Withdraw the request. Raises ValidationError where it is decided."""
    request = _locked(request)
    users.check_may_act_for(owner=request.user, by=by)
    request.state = AccessRequest.State.WITHDRAWN
    request.decided_at = timezone.now()
    request.save(update_fields=["state", "decided_at"])
    _record("withdrawn", request, by, "")
    return request


@transaction.atomic
def grant(*, request: AccessRequest, by: User, reason: str) -> AccessRequest:
    """Grant and perform the request. Raises ValidationError: it is decided, or no longer possible; PermissionDenied:
    the user is staff, and `by` is no superuser."""
    request = _locked(request)
    if request.user.is_banned:
        raise ValidationError("This account is banned. Lift the ban first, or deny the request.")
    if request.key is None:
        applications.unlock_scope(owner=request.user, scope=request.subject, by=by, reason=reason)
    elif keys.locked(request.key).is_over(timezone.now()):
        raise ValidationError("The key was revoked or has expired in the meantime. Deny the request.")
    else:
        keys.grant_permission(key=request.key, permission=request.subject, by=by, reason=reason)
    return _decide(request, AccessRequest.State.GRANTED, by, reason)


@transaction.atomic
def deny(*, request: AccessRequest, by: User, reason: str) -> AccessRequest:
    """Deny the request; the requester reads `reason`. Raises ValidationError and PermissionDenied as `grant`."""
    request = _locked(request)
    users.check_authority(user=request.user, by=by)
    return _decide(request, AccessRequest.State.DENIED, by, reason)


def _ask(
    *, user: User, kind: AccessRequest.Kind, subject: str, reason: str, key: ApiKey | None = None
) -> AccessRequest:
    reason = reason.strip()
    if len(reason) > MAX_REASON or not text_rules.has_something_to_see(reason):
        raise ValidationError({"reason": f"Say what you need it for, in 1 to {MAX_REASON} characters."})
    try:
        with transaction.atomic():
            asked = AccessRequest.objects.create(user=user, kind=kind, subject=subject, key=key, reason=reason)
    except IntegrityError:
        raise ValidationError("You have requested this already; staff will answer.") from None
    _record("asked", asked, user, reason)
    return asked


def _decide(request: AccessRequest, state: AccessRequest.State, by: User, answer: str) -> AccessRequest:
    request.state, request.answer = state, answer
    request.decided_by, request.decided_at = by, timezone.now()
    request.save(update_fields=["state", "answer", "decided_by", "decided_at"])
    _record(state.lower(), request, by, answer)
    notifications.send_after_commit(
        to=request.user,
        subject=f"Your request for {request.subject}: {state.label.lower()}",
        template="dashboard/letters/access_request.txt",
        context={"request": request},
    )
    return request


def _locked(request: AccessRequest) -> AccessRequest:
    """Lock the requester, then the request, and return it. Raises ValidationError: it is deleted or decided."""
    if not users.lock(request.user_id):
        raise ValidationError(_GONE)
    locked = AccessRequest.objects.select_for_update(of=("self",), no_key=True).select_related("user", "key__owner")
    found = locked.filter(pk=request.pk).first()
    if found is None:
        raise ValidationError(_GONE)
    if not found.is_pending:
        raise ValidationError(_DECIDED)
    return found


def _record(verb: str, request: AccessRequest, by: User, reason: str) -> None:
    data: dict[str, Any] = {"subject": request.subject, "request": request.pk}
    if request.key is not None:
        data["prefix"] = request.key.prefix
    audit.record(f"access_request:{verb}", by=by, on=request.user, reason=reason, **data)
