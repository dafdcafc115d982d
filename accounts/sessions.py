"""Sessions in the database, read from Redis; without Redis the signed-in pages are slower, and nothing else.

SESSION_ENGINE names this module where Redis is configured.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends import cached_db, db
from django.core.cache import BaseCache, caches
from django.db import transaction

from infrastructure.redis_errors import AWAY

COPY_SECONDS = 300  # of a copy in Redis: what was saved while Redis was away counts once the copy before it has expired
ENDED_SECONDS = 60  # of the mark of an ended session: longer than a transaction that ends it, and than a request


class SessionStore(cached_db.SessionStore):
    """One session. While Redis is away it cannot end: the copy there would go on after the outage."""

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(session_key)
        self._cache = _OptionalCache(caches[settings.SESSION_CACHE_ALIAS])

    def load(self) -> dict[str, Any]:
        """Return the data of the session. A copy that is made here replaces nothing in Redis: the session may have
        ended since its row was read."""
        self._cache.is_loading = True
        try:
            data: dict[str, Any] = super().load()
        finally:
            self._cache.is_loading = False
        return data

    def delete(self, session_key: str | None = None) -> None:
        """Delete the session, in Redis first. Raises one of AWAY, and then nothing is deleted.

        Until the transaction commits, other requests still read the row: a mark in Redis keeps them from copying it.
        """
        key = session_key or self.session_key
        if key:
            self._cache.end(self.cache_key_prefix + key)
        db.SessionStore.delete(self, session_key)
        if key:
            transaction.on_commit(partial(self._cache.set, self.cache_key_prefix + key, _ENDED, ENDED_SECONDS))


_ENDED: dict[str, Any] = {}  # counts as no copy


class _OptionalCache:
    """A cache that is as good as empty while it is away; it is asked once in a request. `end` raises.

    `is_loading`: `set` keeps what is there, also the mark of an ended session.
    """

    def __init__(self, cache: BaseCache) -> None:
        self._cache = cache
        self.is_loading = False
        self._is_away = False

    def get(self, key: str) -> Any:
        try:
            return None if self._is_away else self._cache.get(key) or None
        except AWAY:
            self._is_away = True
            return None

    def set(self, key: str, value: Any, timeout: float) -> None:
        try:
            if not self._is_away:
                write = self._cache.add if self.is_loading else self._cache.set
                write(key, value, min(timeout, COPY_SECONDS))
        except AWAY:
            self._is_away = True

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def end(self, key: str) -> None:
        self._cache.set(key, _ENDED, ENDED_SECONDS)
