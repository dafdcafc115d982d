"""Sessions in the database, read from Redis; without Redis the signed-in pages are slower, and nothing else.

SESSION_ENGINE names this module where Redis is configured.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.sessions.backends import cached_db
from django.core.cache import BaseCache, caches

from infrastructure.redis_errors import AWAY

COPY_SECONDS = 300  # of a copy in Redis: what was saved while Redis was away counts once the copy before it has expired


class SessionStore(cached_db.SessionStore):
    """One session. While Redis is away it cannot end: the copy there would go on after the outage."""

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(session_key)
        self._cache = _OptionalCache(caches[settings.SESSION_CACHE_ALIAS])

    def delete(self, session_key: str | None = None) -> None:
        """Delete the session, in Redis first. Raises one of AWAY, and then nothing is deleted."""
        if key := session_key or self.session_key:
            self._cache.delete(self.cache_key_prefix + key)
        super().delete(session_key)


class _OptionalCache:
    """A cache that is as good as empty while it is away; it is asked once in a request. `delete` raises."""

    def __init__(self, cache: BaseCache) -> None:
        self._cache = cache
        self._is_away = False

    def get(self, key: str) -> Any:
        try:
            return None if self._is_away else self._cache.get(key)
        except AWAY:
            self._is_away = True
            return None

    def set(self, key: str, value: Any, timeout: float) -> None:
        try:
            if not self._is_away:
                self._cache.set(key, value, min(timeout, COPY_SECONDS))
        except AWAY:
            self._is_away = True

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def delete(self, key: str) -> None:
        self._cache.delete(key)
