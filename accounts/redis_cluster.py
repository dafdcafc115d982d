"""The client library's connection to a Redis Cluster, for django-redis (CONNECTION_FACTORY in CACHES)."""

from __future__ import annotations

import os
import threading
from typing import Any, cast

from django_redis.pool import ConnectionFactory
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import RedisClusterException
from redis.retry import Retry

_lock = threading.Lock()
_clients: dict[tuple[int, str], ClusterClient] = {}  # by process and address: a client knows the whole cluster


class ClusterClient(RedisCluster):
    """Raises a RedisError for whatever the cluster does not do, as the client of a single server does."""

    # Any: commands and replies of Redis.
    def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().execute_command(*args, **kwargs)  # type: ignore[no-untyped-call]
        except RedisClusterException as error:
            raise NoConnection(f"The Redis Cluster does not answer: {error}") from error


class ClusterConnectionFactory(ConnectionFactory):
    """`connect`: one client for all threads of a process."""

    def connect(self, url: str) -> Any:
        """Any: the base class has a client of a single server."""
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
