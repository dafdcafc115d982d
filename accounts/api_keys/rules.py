"""Validation rules of API keys, with their error messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone

from accounts import text_rules
from accounts.models import Permission, User


def check(**values: Any) -> None:
    """ValidationError by argument, where `problems` finds any. Any: arguments of `problems`."""
    found = problems(**values)
    if found:
        raise ValidationError(found)


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
    """Return why `keys.issue` refuses the given values, by argument; empty where it accepts them."""
    found: dict[str, list[str]] = {}
    if owner is not None and not owner.is_active:
        found["owner"] = ["This account is banned."]
    if permissions is not None:
        found["permissions"] = permission_problems(permissions)
    if len(name) > 64:
        found["name"] = ["Use at most 64 characters."]
    elif problem := text_rules.problem_of_line(name):
        found["name"] = [problem]
    if expires_at is not None and expires_at <= timezone.now():
        found["expires_at"] = ["The end must be in the future."]
    found |= _quota_problems(remaining_uses, refill_amount, refill_interval)
    return {argument: sentences for argument, sentences in found.items() if sentences}


def permission_problems(permissions: Sequence[str]) -> list[str]:
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
    """The table's constraints, as error messages."""
    if uses is not None and uses < 0:
        return {"remaining_uses": ["The usage quota cannot be negative."]}
    if amount is None and interval is None:
        return {}
    if amount is None or amount <= 0 or interval is None or interval <= timedelta() or uses is None:
        return {"refill_amount": ["A refill needs a usage quota, a positive amount and a positive interval."]}
    return {}
