"""A cache that can be read and takes no writes, as a replica or a full disk does."""

from __future__ import annotations

from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from redis import RedisError


class UnwritableCache(LocMemCache):
    """Reads what a LocMemCache at the same LOCATION holds. Any: as Django says."""

    def set(self, *arguments: Any, **options: Any) -> None:
        raise RedisError("READONLY")

    def add(self, *arguments: Any, **options: Any) -> bool:
        raise RedisError("READONLY")

    def delete(self, *arguments: Any, **options: Any) -> bool:
        raise RedisError("READONLY")
