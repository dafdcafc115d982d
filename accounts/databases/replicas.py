"""Reads from streaming replicas of PostgreSQL, as fresh as the primary (docs/decisions/0016-reads-from-replicas.md).

A process reads a replica while it holds a lease on it: for LEASE seconds from a time at which the replica had every
commit of the primary. A page that changes something answers once each replica in use has the change, or once every
lease that began before it has ended. So every read that begins after the answer, in any process, sees the change; a
change from elsewhere is seen LEASE seconds after its commit.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.db import DatabaseError, connection
from redis.exceptions import RedisError

from accounts.kept_settings import from_settings

if TYPE_CHECKING:
    from accounts.databases.replica import Replica, ReplicaConnection

T = TypeVar("T")
Execute = Callable[..., Any]  # Django's, of an execute wrapper

_turn = itertools.count()


@from_settings
def is_on() -> bool:
    """Whether there are replicas."""
    return bool(settings.DATABASE_REPLICA_URLS)


@from_settings
def configured() -> tuple[Replica, ...]:
    """Return the replicas of DATABASE_REPLICA_URLS."""
    if not is_on():
        return ()
    from accounts.databases.replica import Replica  # psycopg would take 9 MB of a process on SQLite

    return tuple(Replica(url, most=settings.DATABASE_REPLICA_CONNECTIONS) for url in settings.DATABASE_REPLICA_URLS)


def read(run: Callable[[ReplicaConnection], T]) -> T | None:
    """What `run` returns, a read on the connection that it is given; None: read the primary."""
    for replica in _in_turn():
        found = replica.read(run)
        if found is not None:
            return found
    return None


def _in_turn() -> Iterator[Replica]:
    """Yield each replica, beginning with another one at each call."""
    replicas = configured()
    first = next(_turn)
    for place in range(len(replicas)):
        yield replicas[(first + place) % len(replicas)]


class Writes:
    """A wrapper of Django's `execute` that notices statements that may write."""

    def __init__(self) -> None:
        self.is_any = False

    def __call__(self, execute: Execute, sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001 - Django's
        if sql.lstrip()[:6].upper() != "SELECT":
            self.is_any = True
        return execute(sql, params, many, context)


def wait_until_applied() -> None:
    """Return once no process reads from a replica what was there before the commits of this thread.

    1 round trip to Redis; with replicas in use 1 query, and a few on each of them. At most a little over LEASE.
    """
    from accounts.databases.replica import LEASE, MARGIN

    give_up_at = time.monotonic() + LEASE + MARGIN  # then every lease that began before this has ended
    used = _in_use()
    if not used:
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_wal_flush_lsn()::text")
            position = cursor.fetchone()[0].encode()
    except DatabaseError:  # the answer is ready: it needs no more of the database
        time.sleep(max(give_up_at - time.monotonic(), 0))
        return
    for replica in used:
        replica.wait_until_applied(position, give_up_at)


def _in_use() -> list[Replica]:
    """Return the replicas on which a process may hold a lease; all of them where Redis does not answer."""
    from accounts.databases.replica import in_use

    try:
        return in_use(configured())
    except RedisError:
        return list(configured())
