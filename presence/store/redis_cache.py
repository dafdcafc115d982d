"""The presence store in production: a cache in Redis, whose guarded writes are scripts."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.conf import settings
from django_redis.cache import RedisCache
from redis.exceptions import ResponseError

from infrastructure.redis_connection import Command, RedisConnection, Script
from infrastructure.requests.request_context import Prefetch
from presence.store.caches import StoreCache

PICKLE = b"\x80"  # what a pickle begins with
KEEPS_ALL = "noeviction"
# KEYS: the lease. ARGV: the token; how many milliseconds to hold the lease from now, 0 to free it.
HOLD = Script("""
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
""")
# KEYS: the lease, then keys to set, then keys to delete. ARGV: the token; the lifetime in milliseconds, 0 for none;
# the values of the keys to set.
WRITE = Script("""
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for i = 2, #KEYS do
  local value = ARGV[i + 1]
  if not value then redis.call('DEL', KEYS[i])
  elseif ARGV[2] == '0' then redis.call('SET', KEYS[i], value)
  else redis.call('SET', KEYS[i], value, 'PX', ARGV[2]) end
end
return 1
""")


class PresenceRedisCache(StoreCache, RedisCache):
    """Every method raises RedisError, or django-redis's own ConnectionInterrupted, where Redis does not do it."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        RedisCache.__init__(self, server, params)
        self._prefix = str(self.make_key(""))
        # To the server of this cache, which need not be one that the settings name.
        self._redis = RedisConnection(client=lambda: self.client.get_client(write=True))
        self._shares_server_with_limits = server == settings.CACHES["default"].get("LOCATION")

    def get_many(self, keys: Iterable[str], version: int | None = None) -> dict[str, Any]:
        """Read the keys by one MGET. A value that cannot be read raises what unpickling it raises."""
        if version is not None:
            return dict(super().get_many(keys, version))
        names = list(keys)
        return self.decoded(names, self.raw(names)) if names else {}

    def prefetch(self, names: Sequence[str]) -> Prefetch | None:
        if not self._shares_server_with_limits:
            return None
        prefetch = Prefetch()
        prefetch.command = self._command(names)
        return prefetch

    def raw(self, names: Sequence[str]) -> Sequence[Any]:
        values: Sequence[Any] = self._redis.call(*self._command(names))
        return values

    def decoded(self, names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
        return {name: self._value(value) for name, value in zip(names, values, strict=True) if value is not None}

    def _command(self, names: Sequence[str]) -> Command:
        return "MGET", *[self._prefix + name for name in names]

    def _value(self, value: bytes) -> Any:
        if value.startswith(PICKLE):
            return pickle.loads(value)  # noqa: S301 - as django-redis does: who writes there runs this service
        return self.client.decode(value)

    def take(self, lease: str, token: str, seconds: float) -> bool:
        return bool(self.add(lease, token, seconds))

    def renew(self, lease: str, token: str, seconds: float) -> bool:
        return self._run(HOLD, [lease], token, [int(seconds * 1000)])

    def release(self, lease: str, token: str) -> None:
        self._run(HOLD, [lease], token, [0])

    def write_as(
        self, lease: str, token: str, values: Mapping[str, Any], removed: Collection[str], timeout: float | None
    ) -> bool:
        milliseconds = 0 if timeout is None else int(timeout * 1000)
        encoded = [self.client.encode(value) for value in values.values()]
        return self._run(WRITE, [lease, *values, *removed], token, [milliseconds, *encoded])

    def eviction(self) -> str:
        """Return the policy by INFO, as managed servers forbid CONFIG."""
        try:
            memory = self.client.get_client(write=True).info("memory")
        except ResponseError:  # forbidden, too
            return ""
        policy = str(memory.get("maxmemory_policy", KEEPS_ALL))
        return policy if memory.get("maxmemory") and policy != KEEPS_ALL else ""

    def _run(self, script: Script, keys: list[str], token: str, arguments: list[Any]) -> bool:
        """Return whether the script wrote, which it does only for the lease's holder."""
        names = [self._prefix + key for key in keys]
        return bool(self._redis.script(script, names, [self.client.encode(token), *arguments])[0])
