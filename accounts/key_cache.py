"""Makes changes of keys and of their owners reach the records that the check of keys has cached, in every process.

Operations call this inside their transaction, and the records are forgotten once it is committed. Where the store does
not answer then, the change stands and the log tells of it: cached records end by themselves (`limits.RECORD_LIFETIME`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from django.db import DatabaseError, transaction

from accounts import limits
from accounts.limits import LimitsUnavailable
from accounts.models import ApiKey, User

logger = logging.getLogger(__name__)


def forget(key: ApiKey) -> None:
    """The key has changed."""
    _after_commit(lambda: [key.secret_hash])


def forget_of(owner: User) -> None:
    """What the check of keys reads of this account has changed: its plan, or whether it is banned.

    The keys are looked up after the commit: one that is issued meanwhile is among them, or its readers see the change.
    """
    _after_commit(lambda: _hashes_of(owner.pk))


def forget_deleted(owner: User) -> None:
    """The account is about to be deleted with its keys, and nobody can issue another for it."""
    hashes = list(_hashes_of(owner.pk))
    _after_commit(lambda: hashes)


def _hashes_of(owner_id: str) -> Iterable[str]:
    return ApiKey.objects.filter(owner=owner_id).values_list("secret_hash", flat=True)


def _after_commit(hashes: Callable[[], Iterable[str]]) -> None:
    def forget_all() -> None:
        try:
            limits.forget_keys(list(hashes()))
        except (LimitsUnavailable, DatabaseError):
            logger.exception("Cached keys could not be forgotten: they answer as before until they end.")

    transaction.on_commit(forget_all)
