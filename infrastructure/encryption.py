"""Encrypts secrets that have to be read again, such as signing keys, before the database gets them."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings


def cipher(purpose: str, *, first_only: bool = False) -> MultiFernet:
    """Return the cipher for secrets of one purpose: the first of SIGNING_KEY_ENCRYPTION_KEYS encrypts, all decrypt.

    `first_only`: only the first decrypts. What none of them fits raises `cryptography.fernet.InvalidToken`.
    """
    keys = settings.SIGNING_KEY_ENCRYPTION_KEYS[: 1 if first_only else None]
    return MultiFernet(
        [Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"{purpose}:{key}".encode()).digest())) for key in keys]
    )
