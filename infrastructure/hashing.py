"""Random secrets, and the digest by which they are stored.

256 random bits cannot be guessed: a slow hash, which a password needs, would only cost CPU time at each request.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, Any

from django.contrib.auth.hashers import BasePasswordHasher

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


def new_secret() -> str:
    """Return 256 random bits in 43 characters of `[A-Za-z0-9_-]`."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Return the SHA-256 of a random secret in 64 hexadecimal characters. For API keys, tokens, codes and the like."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class SecretHasher(BasePasswordHasher):
    """Hashes client secrets: the toolkit's field for them stores `secret_sha256$<digest>`."""

    algorithm = "secret_sha256"

    def salt(self) -> str:
        return "none"  # a salt adds nothing to 256 random bits

    def encode(self, password: str, salt: str) -> str:
        return f"{self.algorithm}${digest(password)}"

    def decode(self, encoded: str) -> dict[str, str]:
        algorithm, hexadecimal = encoded.split("$", 1)
        return {"algorithm": algorithm, "hash": hexadecimal}

    def verify(self, password: str, encoded: str) -> bool:
        return secrets.compare_digest(self.encode(password, ""), encoded)

    def safe_summary(self, encoded: str) -> dict[str | _StrPromise, Any]:
        return {"algorithm": self.algorithm}

    def must_update(self, encoded: str) -> bool:
        return False

    def harden_runtime(self, password: str, encoded: str) -> None:
        """Does nothing: one hash takes the same time for every secret."""
