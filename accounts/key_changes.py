"""API keys that live on: renamed, given another end, replaced by a new one, deleted."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import api_keys, audit, key_cache, key_rules, users
from accounts.api_keys import IssuedKey
from accounts.models import ApiKey, User

LONGEST_OVERLAP = timedelta(hours=24)


@transaction.atomic
def rename(*, key: ApiKey, name: str, by: User | None) -> ApiKey:
    """Give the key another name, which may be empty. ValidationError: too long."""
    _check({"name": name})
    key = api_keys.locked(key)
    users.check_may_act_for(owner=key.owner, by=by)
    if name != key.name:
        old_name, key.name = key.name, name
        key.changed_at = timezone.now()
        key.save(update_fields=["name", "changed_at"])
        api_keys.record("renamed", key, by, old_name=old_name)
    return key


@transaction.atomic
def change_end(*, key: ApiKey, expires_at: datetime | None, by: User | None) -> ApiKey:
    """Let the key end at another moment, or never. An expired one lives again.

    ValidationError: a moment that is past; a key that is revoked, or that another one has replaced.
    """
    users.lock(key.owner_id)  # before the key, here and below
    key = api_keys.locked(key)
    users.check_may_act_for(owner=key.owner, by=by)
    if expires_at == key.expires_at:
        return key
    _check({"expires_at": expires_at})
    if key.revoked_at is not None:
        raise ValidationError({"expires_at": ["A revoked key cannot be used again; make a new one."]})
    if key.replaced_by_id is not None:
        raise ValidationError({"expires_at": ["Another key has replaced this one; change the end of that."]})
    if by is not None and by.pk == key.owner_id and key.is_expired(timezone.now()):
        api_keys.check_place(key.owner, argument="expires_at")
    key.expires_at, key.reminded_at, key.changed_at = expires_at, None, timezone.now()
    key.save(update_fields=["expires_at", "reminded_at", "changed_at"])
    api_keys.record("end_changed", key, by, expires_at=expires_at.isoformat() if expires_at else "")
    return key


@transaction.atomic
def rotate(*, key: ApiKey, overlap: timedelta, form_id: str = "", by: User | None) -> IssuedKey:
    """A new key with the name, permissions, end and quota of `key`, which works on for `overlap` and no longer.

    The uses that are left of a quota move along; with an overlap the old key keeps half of them, and no refill.
    ValidationError: the key cannot be used now, or has been replaced; with an overlap, the owner has no place for one
    more.
    """
    if not timedelta() <= overlap <= LONGEST_OVERLAP:
        raise ValidationError({"overlap": ["The old key can work on for at most 24 hours."]})
    users.lock(key.owner_id)
    key = api_keys.locked(key)
    now = timezone.now()
    if key.replaced_by_id is not None:
        raise ValidationError("Another key has replaced this one already.")
    if key.is_over(now):
        raise ValidationError("This key has ended; make a new one.")
    if not key.is_enabled:
        raise ValidationError("This key is disabled; enable it first, or make a new one.")
    if by is not None and by.pk == key.owner_id and overlap:
        api_keys.check_place(key.owner, argument="overlap")
    kept = (key.remaining_uses or 0) // 2 if overlap else 0
    issued = api_keys.replace(key=key, kept_uses=kept, form_id=form_id, by=by)
    key.replaced_by, key.changed_at = issued.key, now
    if overlap:
        key.expires_at = min(key.expires_at or now + overlap, now + overlap)
    else:
        key.revoked_at = now
    if key.remaining_uses is not None:
        key.remaining_uses, key.refill_amount, key.refill_interval, key.refilled_at = kept, None, None, None
    key.save()
    api_keys.record("rotated", key, by, new_prefix=issued.key.prefix, overlap_hours=overlap // timedelta(hours=1))
    return issued


@transaction.atomic
def delete(*, key: ApiKey, by: User | None) -> None:
    """Forget a key that is over. ValidationError: it still works, or could."""
    key = api_keys.locked(key)
    users.check_may_act_for(owner=key.owner, by=by)
    if not key.is_over(timezone.now()):
        raise ValidationError("Revoke the key first: only one that has ended can be deleted.")
    audit.record("api_key:deleted", by=by, on=key, prefix=key.prefix, owner=key.owner_id)
    key_cache.forget(key)
    key.delete()


def _check(values: dict[str, object]) -> None:
    found = key_rules.problems(**values)  # type: ignore[arg-type]  # each by its own name
    if found:
        raise ValidationError(found)
