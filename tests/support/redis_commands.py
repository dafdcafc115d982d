"""What Redis is asked, command by command: through the client library and over the connections that threads hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

# CACHES whose Redis refuses every connection.
UNREACHABLE = {"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}


def noted(patch: pytest.MonkeyPatch) -> list[str]:
    """The names of the commands from now on. Those of a pipeline, which share a round trip, are joined by a plus."""
    from redis import Redis

    from infrastructure.redis_connection import RedisConnection

    names: list[str] = []
    execute: Callable[..., Any] = Redis.execute_command
    exchange: Callable[..., Any] = RedisConnection.pipeline

    def execute_noted(self: Any, *arguments: Any, **options: Any) -> Any:
        names.append(arguments[0])
        return execute(self, *arguments, **options)

    def exchange_noted(self: Any, *commands: tuple[Any, ...], **options: Any) -> Any:
        names.append("+".join(str(command[0]) for command in commands))
        return exchange(self, *commands, **options)

    patch.setattr(Redis, "execute_command", execute_noted)
    patch.setattr(RedisConnection, "pipeline", exchange_noted)
    return names
