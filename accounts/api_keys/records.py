"""The records by which requests check API keys: read from the database, and dropped from caches after changes.

Operations call `forget` and its kin inside their transaction; the cached records of all processes are dropped once it
is committed. Where the limit store does not answer then, the change is kept and the failure logged: cached records
expire after `limits.RECORD_LIFETIME`.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Iterable

from django.db import DatabaseError, transaction

from accounts.models import ApiKey, User
from accounts.plans import PREMIUM_PLANS
from infrastructure import limits
from infrastructure.databases.statements import Statement
from infrastructure.limits import KeyRecord, LimitsUnavailable, microseconds

_RECORD = Statement(
    """SELECT k.id, k.owner_id, k.permissions, k.revoked_at IS NOT NULL OR NOT u.is_active, k.is_enabled, k.expires_at,
        k.remaining_uses IS NOT NULL, u.plan, u.plan_expires_at
    FROM accounts_apikey k JOIN accounts_user u ON u.id = k.owner_id WHERE k.secret_hash = $1""",
    "issbbdbsd",
)

logger = logging.getLogger(__name__)


def load(secret_hash: str) -> KeyRecord | None:
    """Return the record of the key with this hash, or None. 1 query, prepared by hand: each request may need it."""
    row = _RECORD.one(secret_hash)
    if row is None:
        return None
    key_id, owner_id, permissions, is_dead, is_enabled, expires_at, has_quota, plan, plan_expires_at = row
    return KeyRecord(
        key_id=key_id,
        owner_id=owner_id,
        permissions=_permissions(permissions),
        is_dead=is_dead,
        is_enabled=is_enabled,
        expires_at=microseconds(expires_at),
        premium_until=microseconds(plan_expires_at) if plan in PREMIUM_PLANS else 0,
        has_quota=has_quota,
    )


@functools.lru_cache(maxsize=1_000)
def _permissions(text: str) -> list[str]:
    """Parse the column; cached, as many keys have equal permissions. The list is never changed."""
    permissions: list[str] = json.loads(text)
    return permissions


def forget(key: ApiKey) -> None:
    """Drop the record of a key that has changed."""
    _after_commit(lambda: [key.secret_hash])


def forget_of(owner: User) -> None:
    """Drop the records of an account whose plan or ban has changed.

    The keys are looked up after the commit, so that one that is issued until then is among them.
    """
    _after_commit(lambda: _hashes_of(owner.pk))


def forget_deleted(owner: User) -> None:
    """Drop the records of an account that is about to be deleted with its keys."""
    hashes = list(_hashes_of(owner.pk))
    _after_commit(lambda: hashes)


def _hashes_of(owner_id: str) -> Iterable[str]:
    return ApiKey.objects.filter(owner=owner_id).values_list("secret_hash", flat=True)


def _after_commit(hashes: Callable[[], Iterable[str]]) -> None:
    def forget_all() -> None:
        try:
            limits.forget_keys(list(hashes()))
        except (LimitsUnavailable, DatabaseError):
            logger.exception("Cached keys could not be dropped: they answer as before until they expire.")

    transaction.on_commit(forget_all)
