"""Actions of owners on their API keys, with the requests to staff and the emails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import notifications, users
from accounts.api_keys import keys
from accounts.api_keys.keys import IssuedKey
from accounts.models import ApiKey, EventType, User
from accounts.webhooks import outbox
from dashboard import access_requests, versions
from dashboard.access_requests import SELF_SERVED
from dashboard.models import AccessRequest
from infrastructure import timestamps


@transaction.atomic
def make(*, owner: User, permissions: Sequence[str], requested: Sequence[str], reason: str, **values: Any) -> IssuedKey:
    """Create the key and its requests to staff, and notify the owner. `requested`: permissions that staff grant, for
    `reason`. `values`: further arguments of `keys.issue`. Raises ValidationError, by argument."""
    if set(permissions) - set(SELF_SERVED):
        raise ValidationError({"permissions": ["Staff grant this permission: request it."]})
    issued = keys.issue(owner=owner, permissions=permissions, may_be_empty=bool(requested), by=owner, **values)
    for permission in requested:
        access_requests.ask_for_permission(key=issued.key, permission=permission, reason=reason)
    _notify(issued.key, "A new API key was created", "key_made", {"requested": requested})
    return issued


@transaction.atomic
def rotate(*, key: ApiKey, overlap: timedelta, form_id: str, by: User) -> IssuedKey:
    """Rotate the key as `keys.rotate`; pending requests move to the new key."""
    issued = keys.rotate(key=key, overlap=overlap, form_id=form_id, by=by)
    AccessRequest.objects.pending().filter(key=key).update(key=issued.key)
    old = ApiKey.objects.get(pk=key.pk)
    _notify(issued.key, "An API key was replaced", "key_replaced", {"old": old, "has_overlap": bool(overlap)})
    return issued


@transaction.atomic
def revoke(*, key: ApiKey, by: User) -> ApiKey:
    """Revoke the key permanently and withdraw its pending requests."""
    users.lock(key.owner_id)  # before requests and keys, as `access_requests` does
    for request in AccessRequest.objects.pending().filter(key=key).order_by("pk"):
        access_requests.withdraw(request=request, by=by)
    return keys.revoke(key=key, by=by)


@transaction.atomic
def edit(*, key: ApiKey, name: str, expires_at: datetime | None, origins: str, version: str, by: User) -> ApiKey:
    """Change name, end and origins. Raises ValidationError: by argument, or the key has changed since `version`."""
    users.lock(key.owner_id)
    versions.check(version, keys.locked(key).changed_at)
    key = keys.rename(key=key, name=name, by=by)
    key = keys.name_origins(key=key, origins=origins, by=by)
    return keys.change_end(key=key, expires_at=expires_at, by=by)


@transaction.atomic
def enable(*, key: ApiKey, by: User) -> ApiKey:
    """Undo `disable`. Raises ValidationError: staff disabled it, it is revoked, or the owner has too many keys."""
    if not key.is_enabled and not key.is_over(timezone.now()):
        keys.check_room(key.owner)
    return keys.enable(key=key, by=by)


def give_permission(*, key: ApiKey, permission: str, by: User) -> ApiKey:
    """Add a self-served permission. Raises ValidationError: staff grant it, or the key is revoked."""
    if permission not in SELF_SERVED:
        raise ValidationError("Staff grant this permission: request it.")
    if key.revoked_at is not None:
        raise ValidationError("A revoked key cannot be used again; create a new one.")
    return keys.grant_permission(key=key, permission=permission, by=by, is_self_served=True)


def remind(now: datetime, within: timedelta) -> int:
    """Notify the owners of keys that end `within` that time, once for each key and end. Return the number of keys."""
    ending = ApiKey.objects.live(now).filter(expires_at__lte=now + within, reminded_at=None, replaced_by=None)
    pks = ending.filter(owner__is_active=True).order_by("pk").values_list("pk", flat=True)
    return sum(_remind(pk, now) for pk in list(pks))


@transaction.atomic
def _remind(pk: int, now: datetime) -> bool:
    key = ApiKey.objects.select_related("owner").select_for_update(of=("self",)).filter(pk=pk, reminded_at=None).first()
    if key is None:
        return False
    key.reminded_at = now
    key.save(update_fields=["reminded_at"])
    _notify(key, "An API key expires soon", "key_ends", {})
    ends = key.expires_at and timestamps.iso(key.expires_at)
    data = {"prefix": key.prefix, "name": key.name, "expires_at": ends}
    outbox.post_to_user(EventType.KEY_EXPIRING, user_id=key.owner_id, data=data)
    return True


def _notify(key: ApiKey, subject: str, template: str, context: dict[str, object]) -> None:
    notifications.send_after_commit(
        to=key.owner,
        subject=subject,
        template=f"dashboard/letters/{template}.txt",
        context={"key": key, **context},
    )
