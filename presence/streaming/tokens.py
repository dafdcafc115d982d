"""Short-lived tokens by which a browser opens an event stream: a key in a URL would end in logs and histories.

The cache holds the hash of the key under the digest of the token, so a token that is read there opens nothing, and
whatever ends the key refuses its tokens, too.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.core.cache import cache

from infrastructure import hashing
from presence.streaming.streams import cache_errors_as_503

LIFETIME = timedelta(seconds=60)
LENGTH = 43  # characters of `hashing.new_secret`


class StreamToken(NamedTuple):
    """A new token. `text` is stored nowhere."""

    text: str
    expires_at: datetime


def issue(secret_hash: str, *, now: datetime) -> StreamToken:
    """Return a token of the key with this hash. Raises Unavailable where the cache does not answer."""
    text = hashing.new_secret()
    with cache_errors_as_503():
        cache.set(_name(text), secret_hash, LIFETIME.total_seconds())
    return StreamToken(text, now + LIFETIME)


def secret_hash_of(text: str) -> str | None:
    """Return the hash of the key that a token stands for; None where it is unknown or has expired. 1 round trip.

    A token opens streams until it expires: a browser that is cut off in the first minute connects again by itself.
    """
    if len(text) != LENGTH:
        return None
    with cache_errors_as_503():
        found: str | None = cache.get(_name(text))
    return found


def _name(text: str) -> str:
    return f"stream-token:{hashing.digest(text)}"
