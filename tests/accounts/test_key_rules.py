"""What an API key may be."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine

from accounts.api_keys import keys
from accounts.models import User
from tests.accounts.clock import NOON

UNSAFE = "Contains a control character or a bidirectional override (U+202E); remove it."
HOUR = timedelta(hours=1)
REFILL = "A refill needs a usage quota, a positive amount and a positive interval."


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"owner": User(), "permissions": ["account"], "name": "x" * 64}, {}),
        ({"owner": User(is_active=False)}, {"owner": ["This account is banned."]}),
        ({"permissions": []}, {"permissions": ["A key needs at least one permission."]}),
        ({"permissions": ["account", "account"]}, {"permissions": ["account is given twice."]}),
        ({"name": "x" * 65}, {"name": ["Use at most 64 characters."]}),
        ({"name": "a\u202eb"}, {"name": [UNSAFE]}),
        ({"expires_at": NOON + timedelta.resolution}, {}),
        ({"expires_at": NOON}, {"expires_at": ["The end must be in the future."]}),
        ({"remaining_uses": 0}, {}),
        ({"remaining_uses": -1}, {"remaining_uses": ["The usage quota cannot be negative."]}),
        ({"remaining_uses": 0, "refill_amount": 1, "refill_interval": timedelta.resolution}, {}),
        ({"remaining_uses": 0, "refill_amount": 0, "refill_interval": HOUR}, {"refill_amount": [REFILL]}),
        ({"remaining_uses": 0, "refill_amount": 1, "refill_interval": timedelta()}, {"refill_amount": [REFILL]}),
        ({"refill_amount": 1, "refill_interval": HOUR}, {"refill_amount": [REFILL]}),
    ],
)
def test_each_rule_has_its_sentence(given: dict[str, Any], found: dict[str, list[str]]) -> None:
    with time_machine.travel(NOON, tick=False):
        assert keys.problems(**given) == found
