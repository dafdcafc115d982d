"""Batches at the same moment get exactly what their key allows."""

from __future__ import annotations

import itertools

import pytest

from accounts import rate_limits
from accounts.models import Permission
from tests.factories.accounts import ApiKeyFactory
from tests.lookup import answers
from tests.lookup.answers import compact
from tests.support.threads import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]
SECRET = "a-key-of-its-own"
LARGER, SMALLEST = (50, 31, 11), (1,) * 6  # values of the batches of each thread


def _passed(number: int) -> list[int]:
    """Send the batches of one thread, from an address of its own; return the costs of those that were answered."""
    passed = []
    for count in (*LARGER, *SMALLEST):
        body = compact({"type": "username", "values": ["nobody"] * count})
        answer = answers.raw_users(body, SECRET, REMOTE_ADDR=f"198.51.100.{number}")
        assert answer.status == 200 or answer.body.get("code") in ("RATE_LIMITED", "USAGE_EXCEEDED"), answer.text
        if answer.status == 200:
            passed.append(rate_limits.batch_cost(count))
    return passed


def test_16_threads_get_exactly_the_rate_of_the_key() -> None:
    """The costs of the batches that pass are 30 in all: the smallest fill what the larger ones leave."""
    ApiKeyFactory(secret=SECRET, permissions=[Permission.LOOKUP_USER.value])
    assert sum(itertools.chain.from_iterable(together(16, _passed))) == 30


def test_16_threads_get_exactly_the_quota_of_the_key(unlimited: None) -> None:
    key = ApiKeyFactory(secret=SECRET, permissions=[Permission.LOOKUP_USER.value], remaining_uses=13)
    assert sum(itertools.chain.from_iterable(together(16, _passed))) == 13
    key.refresh_from_db()
    assert key.remaining_uses == 0
