"""A key that was let in, looked at again while its answer goes on: for free, and with the words of the check."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts import api_keys, authentication, bans
from accounts.errors import ApiError, InvalidApiKey, KeyDisabled, KeyExpired, KeyNotFound
from accounts.models import ApiKey, Permission
from tests.factories.accounts import ApiKeyFactory

pytestmark = pytest.mark.django_db(transaction=True)  # cached keys are forgotten once a change is committed

SECRET = "the-secret-of-a-key"
HASH = api_keys.digest(SECRET)


def _recheck(secret_hash: str = HASH) -> ApiError | None:
    return authentication.recheck(secret_hash, permission=Permission.LOOKUP_PRESENCE, now=timezone.now())


def _key(**values: Any) -> ApiKey:
    """Any: columns."""
    permissions = [Permission.LOOKUP_PRESENCE.value, Permission.LOOKUP_USER.value]
    return ApiKeyFactory(secret=SECRET, **{"permissions": permissions, **values})


def test_nothing_is_wrong_with_a_good_key_and_looking_costs_it_nothing() -> None:
    key = _key(remaining_uses=0)
    assert {_recheck() for _ in range(100)} == {None}  # more than any limit of a minute
    key.refresh_from_db()
    assert (key.remaining_uses, key.last_used_at) == (0, None)


CHANGES: dict[str, tuple[Callable[[ApiKey], object], type[ApiError]]] = {
    "revoked": (lambda key: api_keys.revoke(key=key, by=None), KeyNotFound),
    "disabled": (lambda key: api_keys.disable(key=key, by=None), KeyDisabled),
    "withdrawn": (
        lambda key: api_keys.withdraw_permission(key=key, permission="lookup:presence", by=None),
        KeyNotFound,
    ),
    "banned": (lambda key: bans.ban(user=key.owner, by=None, reason="x"), KeyNotFound),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_is_told_at_the_next_look(case: str) -> None:
    change, error = CHANGES[case]
    key = _key()
    assert _recheck() is None
    change(key)
    assert type(_recheck()) is error


def test_an_expired_key_and_one_that_is_gone_are_told() -> None:
    _key(expires_at=timezone.now() + timedelta(hours=1))
    assert _recheck() is None
    with time_machine.travel(timezone.now() + timedelta(hours=1)):
        assert type(_recheck()) is KeyExpired
    assert type(_recheck(api_keys.digest("nobody's"))) is InvalidApiKey
