"""The digest by which secrets are stored."""

from __future__ import annotations

import hashlib


def digest(secret: str) -> str:
    """Return the SHA-256 of a random secret in 64 hexadecimal characters. For API keys, tokens, codes and the like; a
    password needs a slow hash instead."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
