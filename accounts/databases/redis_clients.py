"""The clients of Redis that caches, sessions and visits use: of a server, which measures its calls
(`accounts.metrics.engine_time`), and of a Redis Cluster, for django-redis (CONNECTION_FACTORY in CACHES)."""

from __future__ import annotations

import os
import threading
from time import perf_counter
from typing import Any, cast

from django_redis.pool import ConnectionFactory
from redis import Redis
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.cluster import RedisCluster
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import RedisClusterException
from redis.retry import Retry

from accounts.metrics import engine_time

_lock = threading.Lock()
_clients: dict[tuple[int, str], ClusterClient] = {}  # by process and address: a client knows the whole cluster


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


class ClusterClient(RedisCluster):
    """Raises a RedisError for whatever the cluster does not do, as the client of a single server does."""

    def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().execute_command(*args, **kwargs)  # type: ignore[no-untyped-call]
        except RedisClusterException as error:
            raise NoConnection(f"The Redis Cluster does not answer: {error}") from error


class ClusterConnectionFactory(ConnectionFactory):
    """`connect`: one client for all threads of a process."""

    def connect(self, url: str) -> Any:
        with _lock:
            client = _clients.get((os.getpid(), url))
            if client is None:
                client = _clients[os.getpid(), url] = _made(self.make_connection_params(url))
            return client


def _made(options: dict[str, Any]) -> ClusterClient:
    """`options`: as django-redis has them. While some nodes are away, the keys of the others are served."""
    del options["parser_class"]
    try:
        made = ClusterClient.from_url(**options, require_full_coverage=False, retry=Retry(NoBackoff(), 1))
    except RedisClusterException as error:
        raise NoConnection(f"The Redis Cluster does not answer: {error}") from error
    return cast("ClusterClient", made)
