"""Django's caches: the service's own, and the store of live presence."""

from typing import Any

REDIS_OPTIONS = {"SOCKET_CONNECT_TIMEOUT": 1, "SOCKET_TIMEOUT": 1}  # seconds; a hanging Redis holds no worker


def options(redis_url: str) -> dict[str, dict[str, Any]]:
    """CACHES. Without Redis one process keeps its own cache, and presence, which two processes share, the database."""
    if not redis_url:
        return {
            "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
            "presence": {
                "BACKEND": "presence.database_cache.PresenceDatabaseCache",
                "LOCATION": "presence_storeentry",
                "TIMEOUT": None,
            },
        }
    return {name: _redis(redis_url, prefix) for name, prefix in (("default", "cache"), ("presence", "chat"))}


def _redis(url: str, prefix: str) -> dict[str, Any]:
    backend = "presence.redis_cache.PresenceRedisCache" if prefix == "chat" else "django_redis.cache.RedisCache"
    timeout = {"TIMEOUT": None} if prefix == "chat" else {}
    return {"BACKEND": backend, "LOCATION": url, "KEY_PREFIX": prefix, "OPTIONS": dict(REDIS_OPTIONS), **timeout}
