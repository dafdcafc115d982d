"""The client of Redis of caches, sessions and visits: it measures its calls (`infrastructure.metrics.engine_time`)."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from redis import Redis
from redis.client import Pipeline

from infrastructure.metrics import engine_time


class TimedPipeline(Pipeline):
    def execute(self, raise_on_error: bool = True) -> list[Any]:  # noqa: FBT001, FBT002 - as the base class
        if not engine_time.is_on():
            return list(super().execute(raise_on_error))
        began_at = perf_counter()
        try:
            return list(super().execute(raise_on_error))
        finally:
            engine_time.note(engine_time.REDIS, engine_time.PIPELINE, began_at)


class TimedRedis(Redis):
    def execute_command(self, *args: Any, **options: Any) -> Any:
        if not engine_time.is_on():
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]  # it has no types
        began_at = perf_counter()
        try:
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]  # it has no types
        finally:
            engine_time.note(engine_time.REDIS, engine_time.kind_of_command(args[0]), began_at)

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Pipeline:  # noqa: FBT001, FBT002 - as the base class
        return TimedPipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)
