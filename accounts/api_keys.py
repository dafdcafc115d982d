"""API keys: issued, found by their secret, and changed."""

from __future__ import annotations

import hashlib
import json
import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone

from accounts import audit, key_cache, users
from accounts.key_records import KeyRecord, microseconds
from accounts.models import ApiKey, Permission, User
from accounts.plans import PREMIUM_PLANS

PUBLIC_LENGTH = 8
RANDOM_LENGTH = 40  # of 62 characters: 238 random bits
_ALPHABET = string.ascii_letters + string.digits
_RECORD = """
    SELECT k.id, k.owner_id, k.permissions, k.revoked_at IS NOT NULL OR NOT u.is_active, k.is_enabled, k.expires_at,
        k.remaining_uses IS NOT NULL, u.plan, u.plan_expires_at
    FROM accounts_apikey k JOIN accounts_user u ON u.id = k.owner_id WHERE k.secret_hash = %s
"""


@dataclass(frozen=True)
class IssuedKey:
    """A new key. `secret` exists here alone: show it once."""

    key: ApiKey
    secret: str


def digest(secret: str) -> str:
    """SHA-256 in 64 hexadecimal characters: how a key is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def find(secret: str) -> ApiKey | None:
    """The key with this secret, its owner loaded; revoked, disabled and expired ones too. 1 query."""
    return ApiKey.objects.select_related("owner").filter(secret_hash=digest(secret)).first()


def record_of(secret_hash: str) -> KeyRecord | None:
    """What a request's check must know of the key, as the database says now. 1 query, by hand: each request may ask."""
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, [secret_hash])
        row = cursor.fetchone()
    if row is None:
        return None
    key_id, owner_id, permissions, is_dead, is_enabled, expires_at, has_quota, plan, plan_expires_at = row
    return KeyRecord(
        key_id=key_id,
        owner_id=owner_id,
        permissions=json.loads(permissions),
        is_dead=bool(is_dead),
        is_enabled=bool(is_enabled),
        expires_at=microseconds(_moment(expires_at)),
        premium_until=microseconds(_moment(plan_expires_at)) if plan in PREMIUM_PLANS else 0,
        has_quota=bool(has_quota),
    )


def problems(
    *,
    owner: User | None = None,
    permissions: Sequence[str] | None = None,
    name: str = "",
    expires_at: datetime | None = None,
    remaining_uses: int | None = None,
    refill_amount: int | None = None,
    refill_interval: timedelta | None = None,
) -> dict[str, list[str]]:
    """Why `issue` would refuse these, as far as given, by argument; empty: it would not."""
    found: dict[str, list[str]] = {}
    if owner is not None and not owner.is_active:
        found["owner"] = ["This account is banned."]
    if permissions is not None:
        found["permissions"] = _permission_problems(permissions)
    if len(name) > 64:
        found["name"] = ["Use at most 64 characters."]
    if expires_at is not None and expires_at <= timezone.now():
        found["expires_at"] = ["The end must be in the future."]
    found |= _quota_problems(remaining_uses, refill_amount, refill_interval)
    return {argument: sentences for argument, sentences in found.items() if sentences}


@transaction.atomic
def issue(  # noqa: PLR0913 - all keyword-only, most with a default
    *,
    owner: User,
    permissions: Sequence[str],
    name: str = "",
    expires_at: datetime | None = None,
    remaining_uses: int | None = None,
    refill_amount: int | None = None,
    refill_interval: timedelta | None = None,
    by: User | None,
) -> IssuedKey:
    """Make a key. ValidationError by argument, as `problems` tells; PermissionDenied as `users.check_may_act_for`."""
    users.check_may_act_for(owner=owner, by=by)
    found = problems(
        owner=owner,
        permissions=permissions,
        name=name,
        expires_at=expires_at,
        remaining_uses=remaining_uses,
        refill_amount=refill_amount,
        refill_interval=refill_interval,
    )
    if found:
        raise ValidationError(found)
    public = f"ik_{_random(PUBLIC_LENGTH)}"
    secret = f"{public}_{_random(RANDOM_LENGTH)}"
    key = ApiKey.objects.create(
        owner=owner,
        name=name,
        prefix=public,
        secret_hash=digest(secret),
        permissions=[permission for permission in Permission.values if permission in permissions],
        expires_at=expires_at,
        remaining_uses=remaining_uses,
        refill_amount=refill_amount,
        refill_interval=refill_interval,
        refilled_at=timezone.now() if refill_amount is not None else None,
    )
    audit.record("api_key:issued", by=by, on=key, prefix=key.prefix, owner=owner.pk, permissions=key.permissions)
    return IssuedKey(key, secret)


@transaction.atomic
def grant_permission(*, key: ApiKey, permission: str, by: User | None, reason: str = "") -> ApiKey:
    """Let the key call one more surface. A key that has the permission stays as it is."""
    _check_permission(permission)
    key = _locked(key)
    users.check_authority(user=key.owner, by=by)
    if permission not in key.permissions:
        key.permissions = [known for known in Permission.values if known in {*key.permissions, permission}]
        key.save(update_fields=["permissions"])
        _record("permission_granted", key, by, reason, permission=permission)
    return key


@transaction.atomic
def withdraw_permission(*, key: ApiKey, permission: str, by: User | None, reason: str = "") -> ApiKey:
    """Take a surface away from the key."""
    _check_permission(permission)
    key = _locked(key)
    if permission in key.permissions:
        key.permissions = [kept for kept in key.permissions if kept != permission]
        key.save(update_fields=["permissions"])
        _record("permission_withdrawn", key, by, reason, permission=permission)
    return key


@transaction.atomic
def enable(*, key: ApiKey, by: User | None, reason: str = "") -> ApiKey:
    """Undo `disable`. ValidationError for a revoked key: that is for ever."""
    key = _locked(key)
    if key.revoked_at is not None:
        raise ValidationError("A revoked key cannot be used again; issue a new one.")
    users.check_may_act_for(owner=key.owner, by=by)
    if not key.is_enabled:
        key.is_enabled = True
        key.save(update_fields=["is_enabled"])
        _record("enabled", key, by, reason)
    return key


@transaction.atomic
def disable(*, key: ApiKey, by: User | None, reason: str = "") -> ApiKey:
    """Refuse the key's calls until `enable`."""
    key = _locked(key)
    if key.is_enabled:
        key.is_enabled = False
        key.save(update_fields=["is_enabled"])
        _record("disabled", key, by, reason)
    return key


@transaction.atomic
def revoke(*, key: ApiKey, by: User | None, reason: str = "") -> ApiKey:
    """End the key for ever. Its row stays, so that its callers are told so."""
    key = _locked(key)
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])
        _record("revoked", key, by, reason)
    return key


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _locked(key: ApiKey) -> ApiKey:
    return ApiKey.objects.select_for_update().get(pk=key.pk)


def _moment(value: Any) -> datetime | None:
    """A column's moment with its time zone, which SQLite leaves out."""
    moment: datetime | None = value
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def _record(verb: str, key: ApiKey, by: User | None, reason: str, **data: str) -> None:
    """Of a key that has changed."""
    key_cache.forget(key)
    audit.record(f"api_key:{verb}", by=by, on=key, reason=reason, prefix=key.prefix, **data)


def _check_permission(permission: str) -> None:
    found = _permission_problems([permission])
    if found:
        raise ValidationError({"permission": found})


def _permission_problems(permissions: Sequence[str]) -> list[str]:
    found = [
        f"{permission} is no permission; choose from {', '.join(Permission.values)}."
        for permission in permissions
        if permission not in Permission.values
    ]
    repeated = {permission for permission in permissions if permissions.count(permission) > 1}
    found += [f"{permission} is given twice." for permission in sorted(repeated)]
    return found if permissions else ["A key needs at least one permission."]


def _quota_problems(uses: int | None, amount: int | None, interval: timedelta | None) -> dict[str, list[str]]:
    """The rules of the table's constraints, in sentences."""
    if uses is not None and uses < 0:
        return {"remaining_uses": ["The usage quota cannot be negative."]}
    if amount is None and interval is None:
        return {}
    if amount is None or amount <= 0 or interval is None or interval <= timedelta() or uses is None:
        return {"refill_amount": ["A refill needs a usage quota, a positive amount and a positive interval."]}
    return {}
