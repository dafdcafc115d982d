"""Operations on API keys, and the validation rules that they share with forms."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import audit, users
from accounts.api_keys import records
from accounts.models import ApiKey, AuditEvent, EventType, Permission, User
from accounts.webhooks import outbox
from infrastructure import hashing, text_rules

PUBLIC_LENGTH = 8
RANDOM_LENGTH = 40  # of 62 characters: 238 random bits
MAX_LIVE = 25  # live keys of one user; staff may give more
LONGEST_OVERLAP = timedelta(hours=24)  # how long a rotated key may still work
MAX_ORIGINS = 10
MAX_ORIGINS_LENGTH = 3000  # characters
_ORIGIN = re.compile(r"(https?)://([a-z0-9.-]{1,253}|\[::1\])(?::([1-9][0-9]{0,4}))?")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_DEFAULT_PORTS = {"https": "443", "http": "80"}
_ALPHABET = string.ascii_letters + string.digits


@dataclass(frozen=True)
class IssuedKey:
    """A new key. `secret` is stored nowhere: show it once."""

    key: ApiKey
    secret: str


def _check(**values: Any) -> None:
    """Raise ValidationError by argument, where `problems` finds any."""
    found = problems(**values)
    if found:
        raise ValidationError(found)


def problems(  # noqa: PLR0913 - all keyword-only with a default
    *,
    owner: User | None = None,
    permissions: Sequence[str] | None = None,
    name: str = "",
    expires_at: datetime | None = None,
    remaining_uses: int | None = None,
    refill_amount: int | None = None,
    refill_interval: timedelta | None = None,
    origins: str = "",
) -> dict[str, list[str]]:
    """Return why `issue` refuses the given values, by argument; empty where it accepts them."""
    found: dict[str, list[str]] = {}
    if owner is not None and not owner.is_active:
        found["owner"] = ["This account is banned."]
    if permissions is not None:
        found["permissions"] = _permission_problems(permissions)
    if len(name) > 64:
        found["name"] = ["Use at most 64 characters."]
    else:
        try:
            text_rules.validate_line(name)
        except ValidationError as error:
            found["name"] = error.messages
    if expires_at is not None and expires_at <= timezone.now():
        found["expires_at"] = ["The end must be in the future."]
    found["origins"] = _origin_problems(origins)
    found |= _quota_problems(remaining_uses, refill_amount, refill_interval)
    return {argument: sentences for argument, sentences in found.items() if sentences}


def _permission_problems(permissions: Sequence[str]) -> list[str]:
    """Return why a key cannot have exactly these permissions."""
    found = [
        f"{permission} is no permission; choose from {', '.join(Permission.values)}."
        for permission in permissions
        if permission not in Permission.values
    ]
    repeated = {permission for permission in permissions if permissions.count(permission) > 1}
    found += [f"{permission} is given twice." for permission in sorted(repeated)]
    return found if permissions else ["A key needs at least one permission."]


def _quota_problems(uses: int | None, amount: int | None, interval: timedelta | None) -> dict[str, list[str]]:
    """Return the violations of the table's constraints, as error messages."""
    if uses is not None and uses < 0:
        return {"remaining_uses": ["The usage quota cannot be negative."]}
    if amount is None and interval is None:
        return {}
    if amount is None or amount <= 0 or interval is None or interval <= timedelta() or uses is None:
        return {"refill_amount": ["A refill needs a usage quota, a positive amount and a positive interval."]}
    return {}


def _origin_problems(text: str) -> list[str]:
    """Return why a key cannot name the origins in `text`, which are separated by spaces or lines."""
    if len(text) > MAX_ORIGINS_LENGTH:
        return [f"Use at most {MAX_ORIGINS_LENGTH} characters."]
    names = text.split()
    if len(names) > MAX_ORIGINS:
        return [f"Name at most {MAX_ORIGINS} origins."]
    return [
        f"{name} is no origin: write https:// and the host, in lower case, such as https://www.example.org. "
        "Add a port only where it is not 443. http:// is for this computer alone, such as http://localhost:3000."
        for name in names
        if not _is_origin(name)
    ]


def _is_origin(name: str) -> bool:
    """Return whether a browser can send `name` as the origin of a page: RFC 6454 §6.2."""
    found = _ORIGIN.fullmatch(name)
    if found is None:
        return False
    scheme, host, port = found.groups()
    if port is not None and (port == _DEFAULT_PORTS[scheme] or int(port) > 65535):
        return False
    return host in _LOOPBACK or (scheme == "https" and not host.startswith((".", "-")) and not host.endswith("-"))


def origins_of(key_id: int) -> frozenset[str]:
    """Return the origins that a key names. 1 query."""
    text = ApiKey.objects.filter(pk=key_id).values_list("origins", flat=True).first()
    return frozenset((text or "").split())


def find(secret: str) -> ApiKey | None:
    """Return the key with this secret, its owner loaded; revoked, disabled and expired ones too. 1 query."""
    return ApiKey.objects.select_related("owner").filter(secret_hash=hashing.digest(secret)).first()


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
    origins: str = "",
    may_be_empty: bool = False,
    form_id: str = "",
    by: User | None,
) -> IssuedKey:
    """Create a key. ValidationError by argument, as `problems` returns it; PermissionDenied as
    `users.check_may_act_for`.

    `may_be_empty`: without a permission, until staff grant one. `form_id`: of the form that asks for it;
    ValidationError where that has made a key already. An owner who has MAX_LIVE live keys makes no more.
    """
    users.check_may_act_for(owner=owner, by=by)
    users.lock(owner.pk)
    columns: dict[str, Any] = {"name": name, "expires_at": expires_at, "remaining_uses": remaining_uses}
    columns["origins"] = _lines(origins)
    columns |= {"refill_amount": refill_amount, "refill_interval": refill_interval}
    asked = None if may_be_empty and not permissions else permissions
    _check(owner=owner, permissions=asked, **columns)
    _check_form(owner, form_id)
    if by is not None and by.pk == owner.pk:
        check_room(owner)
    return _made(
        by=by,
        owner=owner,
        permissions=[permission for permission in Permission.values if permission in permissions],
        refilled_at=timezone.now() if refill_amount is not None else None,
        form_id=form_id or None,
        **columns,
    )


def check_room(owner: User, *, argument: str | None = None) -> None:
    """Lock the owner's row. Raises ValidationError, of the argument, where the owner has MAX_LIVE live keys."""
    users.lock(owner.pk)
    if ApiKey.objects.live(timezone.now()).filter(owner=owner).count() >= MAX_LIVE:
        sentence = f"You have {MAX_LIVE} active keys, which is the limit. Revoke one that you do not need."
        raise ValidationError({argument: [sentence]} if argument else sentence)


@transaction.atomic
def rotate(*, key: ApiKey, overlap: timedelta, form_id: str = "", by: User | None) -> IssuedKey:
    """Replace `key` by a new one with its name, permissions, expiry and quota; `key` still works for `overlap`.

    The uses that are left of a quota move to the new key; with an overlap the old key keeps half of them.
    ValidationError: the key cannot be used now, or has been replaced; with an overlap, the owner is at MAX_LIVE.
    """
    if not timedelta() <= overlap <= LONGEST_OVERLAP:
        raise ValidationError({"overlap": ["The old key can work for at most 24 more hours."]})
    users.lock(key.owner_id)
    key = locked(key)
    now = timezone.now()
    if key.replaced_by_id is not None:
        raise ValidationError("This key was replaced already.")
    if key.is_over(now):
        raise ValidationError("This key is revoked or has expired; create a new one.")
    if not key.is_enabled:
        raise ValidationError("This key is disabled; enable it first, or create a new one.")
    if by is not None and by.pk == key.owner_id and overlap:
        check_room(key.owner, argument="overlap")
    kept = (key.remaining_uses or 0) // 2 if overlap else 0
    issued = _replacement(key=key, kept_uses=kept, form_id=form_id, by=by)
    key.replaced_by, key.changed_at = issued.key, now
    if overlap:
        key.expires_at = min(key.expires_at or now + overlap, now + overlap)
    else:
        key.revoked_at = now
    if key.remaining_uses is not None:
        key.remaining_uses, key.refill_amount, key.refill_interval, key.refilled_at = kept, None, None, None
    key.save()
    _record("rotated", key, by, new_prefix=issued.key.prefix, overlap_hours=overlap // timedelta(hours=1))
    if not overlap:
        _tell_of_end(key, "replaced", by)
    return issued


def _replacement(*, key: ApiKey, kept_uses: int, form_id: str, by: User | None) -> IssuedKey:
    """Issue another key that may do what `key` may; the old one keeps `kept_uses` of its quota."""
    users.check_may_act_for(owner=key.owner, by=by)
    _check_form(key.owner, form_id)
    copied = ("name", "permissions", "expires_at", "reminded_at", "origins")
    quota = ("remaining_uses", "refill_amount", "refill_interval", "refilled_at")
    columns = {column: getattr(key, column) for column in (*copied, *quota)}
    if key.remaining_uses is not None:
        columns["remaining_uses"] = key.remaining_uses - kept_uses
    return _made(by=by, owner=key.owner, form_id=form_id or None, **columns)


@transaction.atomic
def rename(*, key: ApiKey, name: str, by: User | None) -> ApiKey:
    """Give the key another name, which may be empty. ValidationError: too long."""
    _check(name=name)
    key = locked(key)
    users.check_may_act_for(owner=key.owner, by=by)
    if name != key.name:
        data = {"old_name": key.name}
        _change("renamed", key, by, data=data, name=name, changed_at=timezone.now())
    return key


@transaction.atomic
def name_origins(*, key: ApiKey, origins: str, by: User | None) -> ApiKey:
    """Let pages of these origins, and no others, open event streams with a token of the key.

    `origins`: separated by spaces or lines. Streams that are open go on. ValidationError: one is no origin.
    """
    _check(origins=origins)
    origins = _lines(origins)
    key = locked(key)
    users.check_may_act_for(owner=key.owner, by=by)
    if origins != key.origins:
        data = {"old_origins": key.origins, "origins": origins}
        _change("origins_changed", key, by, data=data, origins=origins, changed_at=timezone.now())
    return key


def _lines(origins: str) -> str:
    """Return the origins as the column has them: each once, one on each line."""
    return "\n".join(dict.fromkeys(origins.split()))


@transaction.atomic
def change_end(*, key: ApiKey, expires_at: datetime | None, by: User | None) -> ApiKey:
    """Change when the key expires; None: never. An expired key can work again.

    ValidationError: a time in the past; a key that is revoked, or replaced by another one.
    """
    users.lock(key.owner_id)  # before the key, here and below
    key = locked(key)
    users.check_may_act_for(owner=key.owner, by=by)
    if expires_at == key.expires_at:
        return key
    _check(expires_at=expires_at)
    if key.revoked_at is not None:
        raise ValidationError({"expires_at": ["A revoked key cannot be used again; create a new one."]})
    if key.replaced_by_id is not None:
        raise ValidationError({"expires_at": ["This key was replaced; change the expiry of the new key."]})
    if by is not None and by.pk == key.owner_id and key.is_expired(timezone.now()):
        check_room(key.owner, argument="expires_at")
    data = {"expires_at": expires_at.isoformat() if expires_at else ""}
    columns: dict[str, Any] = {"expires_at": expires_at, "reminded_at": None, "changed_at": timezone.now()}
    _change("end_changed", key, by, data=data, **columns)
    return key


@transaction.atomic
def grant_permission(
    *, key: ApiKey, permission: str, by: User | None, reason: str = "", is_self_served: bool = False
) -> ApiKey:
    """Let the key call one more surface. A key that has the permission stays as it is. `is_self_served`: owners may
    give it to their keys themselves."""
    _check_permission(permission)
    key = locked(key)
    if is_self_served:
        users.check_may_act_for(owner=key.owner, by=by)
    else:
        users.check_authority(user=key.owner, by=by)
    if permission not in key.permissions:
        permissions = [known for known in Permission.values if known in {*key.permissions, permission}]
        _change("permission_granted", key, by, reason, data={"permission": permission}, permissions=permissions)
    return key


@transaction.atomic
def withdraw_permission(*, key: ApiKey, permission: str, by: User | None, reason: str = "") -> ApiKey:
    """Take a surface away from the key."""
    _check_permission(permission)
    key = locked(key)
    if permission in key.permissions:
        permissions = [kept for kept in key.permissions if kept != permission]
        _change("permission_withdrawn", key, by, reason, data={"permission": permission}, permissions=permissions)
    return key


@transaction.atomic
def enable(*, key: ApiKey, by: User | None, reason: str = "") -> ApiKey:
    """Undo `disable`. ValidationError: the key is revoked; its owner enables it, and staff had disabled it."""
    key = locked(key)
    if key.revoked_at is not None:
        raise ValidationError("A revoked key cannot be used again; issue a new one.")
    users.check_may_act_for(owner=key.owner, by=by)
    if _is_owner(key, by) and is_disabled_by_others(key):
        raise ValidationError("Staff disabled this key, and only they can enable it again.")
    if not key.is_enabled:
        _change("enabled", key, by, reason, is_enabled=True)
    return key


@transaction.atomic
def disable(*, key: ApiKey, by: User | None, reason: str = "") -> ApiKey:
    """Refuse the key's calls until `enable`. If staff disable it, only staff can enable it."""
    key = locked(key)
    is_end = key.is_live(timezone.now())
    if key.is_enabled or not (_is_owner(key, by) or is_disabled_by_others(key)):
        _change("disabled", key, by, reason, is_enabled=False)
    if is_end:
        _tell_of_end(key, "disabled", by)
    return key


@transaction.atomic
def revoke(*, key: ApiKey, by: User | None, reason: str = "") -> ApiKey:
    """Revoke the key permanently. Its row stays, so that its callers get the right error."""
    key = locked(key)
    is_end = key.is_live(timezone.now())
    if key.revoked_at is None:
        _change("revoked", key, by, reason, revoked_at=timezone.now())
    if is_end:
        _tell_of_end(key, "revoked", by)
    return key


@transaction.atomic
def delete(*, key: ApiKey, by: User | None) -> None:
    """Delete a key that is revoked or expired. ValidationError: it is neither."""
    key = locked(key)
    users.check_may_act_for(owner=key.owner, by=by)
    if not key.is_over(timezone.now()):
        raise ValidationError("Revoke the key first: an active key cannot be deleted.")
    audit.record("api_key:deleted", by=by, on=key, prefix=key.prefix, owner=key.owner_id)
    records.forget(key)
    key.delete()


def is_disabled_by_others(key: ApiKey) -> bool:
    """Return whether a user other than its owner disabled the key last. 1 query where the key is disabled."""
    if key.is_enabled:
        return False
    events = AuditEvent.objects.filter(object_type=key._meta.label_lower, object_id=str(key.pk))
    last = events.filter(verb="api_key:disabled").order_by("-created_at", "-pk").first()
    return last is not None and last.actor_id != key.owner_id


def locked(key: ApiKey) -> ApiKey:
    """Read the key again and lock it until the transaction ends. ApiKey.DoesNotExist: it has been deleted."""
    return ApiKey.objects.select_for_update().get(pk=key.pk)


def _change(
    verb: str, key: ApiKey, by: User | None, reason: str = "", *, data: dict[str, str] | None = None, **columns: Any
) -> None:
    """Write `columns` of the key, and the audit event with `data`."""
    for name, value in columns.items():
        setattr(key, name, value)
    key.save(update_fields=list(columns))
    _record(verb, key, by, reason, **(data or {}))


def _record(verb: str, key: ApiKey, by: User | None, reason: str = "", **data: str | int) -> None:
    """Write the audit event of a change, and drop the cached record of the key."""
    records.forget(key)
    audit.record(f"api_key:{verb}", by=by, on=key, reason=reason, prefix=key.prefix, **data)


def _made(*, by: User | None, owner: User, **columns: Any) -> IssuedKey:
    public = f"ik_{_random(PUBLIC_LENGTH)}"
    secret = f"{public}_{_random(RANDOM_LENGTH)}"
    key = ApiKey.objects.create(owner=owner, prefix=public, secret_hash=hashing.digest(secret), **columns)
    audit.record("api_key:issued", by=by, on=key, prefix=key.prefix, owner=owner.pk, permissions=key.permissions)
    return IssuedKey(key, secret)


def _tell_of_end(key: ApiKey, act: str, by: User | None) -> None:
    """Tell the owner's webhooks that the key has stopped working, by `act` of the owner or of staff. At most 2
    queries."""
    data = {"prefix": key.prefix, "name": key.name, "reason": act, "by": "owner" if _is_owner(key, by) else "staff"}
    outbox.post_to_user(EventType.KEY_DISABLED, user_id=key.owner_id, data=data)


def _is_owner(key: ApiKey, by: User | None) -> bool:
    return by is not None and by.pk == key.owner_id


def _check_form(owner: User, form_id: str) -> None:
    made = ApiKey.objects.filter(owner=owner, form_id=form_id).first() if form_id else None
    if made is not None:
        raise ValidationError(
            f"This form was sent twice. The key {made.prefix} is made, and its secret was in the first answer. If you "
            "did not see it, replace the key.",
            code="sent_twice",
        )


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _check_permission(permission: str) -> None:
    found = _permission_problems([permission])
    if found:
        raise ValidationError({"permission": found})
