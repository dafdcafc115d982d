"""One replica: its connections, on which no read waits for longer than SECONDS, and the lease by which this process
reads it."""

from __future__ import annotations

import hashlib
import math
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import psycopg
from django.db import connections
from psycopg import conninfo, errors, pq
from redis.exceptions import RedisError

from accounts.databases.postgresql.watched import StatementServer
from accounts.databases.redis_connection import RedisConnection

T = TypeVar("T")

LEASE = 1.0  # seconds from a time at which the replica had everything; the same in every process of the service
MARGIN = 0.1  # of the clocks of two hosts, over LEASE
LONGEST_LAG = LEASE / 2  # a replica that is further behind is left out
PAUSE = LEASE / 4  # between two measurements
_POLL = 0.003  # between two looks at what a replica has applied

_PRIMARY = b"""SELECT pg_current_wal_flush_lsn()::text, left(pg_walfile_name(pg_current_wal_flush_lsn()), 8),
    (SELECT system_identifier::text FROM pg_control_system()), current_database()::text,
    current_setting('synchronous_commit')"""
# A standby that follows another primary than today's since a failover says so from its next restartpoint on.
_REPLICA = b"""SELECT pg_is_in_recovery(), upper(lpad(to_hex(timeline_id), 8, '0')),
    (SELECT system_identifier::text FROM pg_control_system()), current_database()::text
    FROM pg_control_checkpoint()"""
_HAS_APPLIED = b"SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn"
SECONDS = 1.0  # in which a connection to a replica has to answer
CONNECT_SECONDS = 2  # libpq takes no less
_OPTIONS = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": CONNECT_SECONDS * 1000, "client_encoding": "UTF8"}
_DONE = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)


class NoAnswer(errors.OperationalError):
    """The server has not answered in time. Its connection is of no more use: the answer may still come."""


class BoundedServer(StatementServer):
    """Raises NoAnswer."""

    def __init__(self, server: pq.abc.PGconn) -> None:
        super().__init__(server)
        self._poll = select.poll()
        self._poll.register(server.socket, select.POLLIN)

    def _wait(self) -> None:
        give_up_at = time.monotonic() + SECONDS
        while self._server.is_busy():
            if not self._poll.poll(max(give_up_at - time.monotonic(), 0) * 1000):
                raise NoAnswer(f"no answer within {SECONDS:.0f} s")
            self._server.consume_input()


class ReplicaConnection:
    """One of this process. `prepared`: the names of the statements that the server has."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        """`parameters`: of psycopg (Any: libpq's values). Raises psycopg.Error."""
        self._connection = psycopg.connect(**parameters, autocommit=True)
        self.server = BoundedServer(self._connection.pgconn)
        self.prepared: set[bytes] = set()
        self.one(b"SELECT set_config('TimeZone', 'UTC', false)")

    @classmethod
    def to(cls, url: str) -> ReplicaConnection:
        """To the server at an address such as `postgres://user:password@host/name`."""
        return cls(parameters_of(url))

    def one(self, sql: bytes, *values: bytes) -> tuple[bytes | None, ...]:
        """The first row. Raises psycopg.Error."""
        result = self.server.exec_params(sql, values)
        if result.status not in _DONE:
            raise errors.error_from_result(result)
        return tuple(result.get_value(0, column) for column in range(result.nfields))

    @property
    def is_broken(self) -> bool:
        return self.server.status == pq.ConnStatus.BAD

    def close(self) -> None:
        self._connection.close()


def parameters_of(url: str) -> dict[str, Any]:
    """psycopg's, with time limits where the address names no others."""
    return {**_OPTIONS, **conninfo.conninfo_to_dict(url)}


def name_of(url: str) -> str:
    """`host:port`: what operators read, without a secret."""
    given = conninfo.conninfo_to_dict(url)
    return f"{given.get('host', 'localhost')}:{given.get('port', 5432)}"


class Measured(NamedTuple):
    """`lag`: seconds that the replica is behind; infinite where it may not be read, for the reason `problem`.
    `is_away`: it does not answer, or the primary does not; the problem then is the server's own words."""

    lag: float
    problem: str = ""
    is_away: bool = False


class Unfit(Exception):
    """A replica that may not be read; the message says why."""


class Replica:
    """A replica as this process sees it. From its first read on a thread watches it.

    `problem`: why it is not read; "" while it is. `most`: connections for reads.
    """

    def __init__(self, url: str, *, most: int) -> None:
        self.name = name_of(url)
        # One hash tag for all: a command may only touch keys of one slot of a Redis Cluster.
        self.key = f"{{replicas}}:{hashlib.sha256(url.encode()).hexdigest()[:16]}"
        self._url, self._most = url, most
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Start with nothing, as a forked process does."""
        self.problem = "not asked so far"
        self._leased_until = 0.0
        self._idle: deque[ReplicaConnection] = deque()
        self._opened = self._missing = 0
        self._lock = threading.Lock()
        self._watcher: threading.Thread | None = None
        self._stopped = threading.Event()

    def measured(self) -> Measured:
        """Measure it now, whether or not it is read. Takes at most a few seconds."""
        watch = Watch(self._url)
        try:
            return Measured(watch.measure())
        except (psycopg.Error, Unfit) as error:
            return Measured(math.inf, _first_line(error), is_away=isinstance(error, psycopg.Error))
        finally:
            watch.close()

    def stop(self) -> None:
        """End its watcher and its connections."""
        self._stopped.set()
        if self._watcher is not None:
            self._watcher.join()
        self._lose("stopped")

    @property
    def is_leased(self) -> bool:
        return time.monotonic() < self._leased_until

    def read(self, run: Callable[[ReplicaConnection], T]) -> T | None:
        """What `run` returns; None where this replica may not be read now. Never waits for a connection."""
        connection = self._take()
        if connection is None:
            return None
        try:
            found = run(connection)
        except psycopg.Error as error:
            is_away = connection.is_broken or error.sqlstate is None  # else the statement failed, as by a conflict
            self._drop(connection)
            if is_away:
                self._lose(_first_line(error))
            return None
        except BaseException:
            self._drop(connection)
            raise
        self._idle.append(connection)
        return found if self.is_leased else None  # looked at last: the read may have taken long

    def wait_until_applied(self, position: bytes, give_up_at: float) -> None:
        """Return once the replica has what the primary had flushed up to `position`, or at that time."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = None
        try:
            connection = connection or self._open()
            is_applied = _wait(connection, position, give_up_at)
            self._idle.append(connection)
        except psycopg.Error:
            is_applied = False
            if connection is not None:
                self._drop(connection)
        if not is_applied:
            time.sleep(max(give_up_at - time.monotonic(), 0))

    def _take(self) -> ReplicaConnection | None:
        if not self.is_leased:
            if self._watcher is None or not self._watcher.is_alive():
                self._start_watching()
            return None
        try:
            return self._idle.pop()
        except IndexError:
            self._missing += 1  # the watcher opens another one
            return None

    def _open(self) -> ReplicaConnection:
        connection = ReplicaConnection.to(self._url)
        with self._lock:
            self._opened += 1
        return connection

    def _drop(self, connection: ReplicaConnection) -> None:
        connection.close()
        with self._lock:
            self._opened -= 1

    def _start_watching(self) -> None:
        with self._lock:
            if self._watcher is None or not self._watcher.is_alive():
                self._watcher = threading.Thread(target=self._watch, name=f"replica {self.name}", daemon=True)
                self._watcher.start()

    def _watch(self) -> None:
        watch = Watch(self._url)
        while not self._stopped.wait(PAUSE):
            try:
                self._renew(watch)
                self._open_missing()
            except (psycopg.Error, RedisError, Unfit) as error:
                watch.close()
                self._lose(_first_line(error))
        watch.close()

    def _renew(self, watch: Watch) -> None:
        """Begin or prolong the lease. Raises psycopg.Error, RedisError, Unfit.

        The mark in Redis is set before the measurement from which the lease counts. A replica that would get no lease
        gets no mark, since writers would wait for it.
        """
        if not self.is_leased:
            watch.measure()
        began_at = time.monotonic()
        _redis.call("SET", self.key, "1", "PX", round(LEASE * 1000))
        watch.measure()
        self._leased_until, self.problem = began_at + LEASE, ""

    def _open_missing(self) -> None:
        missing, self._missing = self._missing, 0
        try:
            for _ in range(min(max(missing, 1 - self._opened), self._most - self._opened)):
                self._idle.append(self._open())
        except psycopg.Error as error:  # those that are open are used
            self.problem = _first_line(error)

    def _lose(self, problem: str) -> None:
        self._leased_until, self.problem = 0.0, problem
        while self._idle:
            self._drop(self._idle.pop())


class Watch:
    """Measures whether a replica has what the primary has. One connection to each."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._primary: ReplicaConnection | None = None
        self._replica: ReplicaConnection | None = None

    def measure(self) -> float:
        """Return once the replica has every commit that the primary had when this was called: how many seconds it took.

        Raises psycopg.Error where one of them does not answer, Unfit where the replica may not be read.
        """
        if self._primary is None:
            self._primary = ReplicaConnection(_primary_parameters())
        if self._replica is None:
            self._replica = ReplicaConnection.to(self._url)
        position, timeline, system, name, commits = self._primary.one(_PRIMARY)
        is_standby, its_timeline, its_system, its_name = self._replica.one(_REPLICA)
        if is_standby != b"t":
            raise Unfit("no standby")
        if (its_system, its_name) != (system, name):
            raise Unfit("of another database")
        if its_timeline != timeline:
            raise Unfit("on another timeline than the primary: it is read again after its next restartpoint")
        if commits == b"off":  # a commit that counts may be missing from what is flushed
            raise Unfit("synchronous_commit is off on the primary")
        began_at = time.monotonic()
        if not _wait(self._replica, position or b"", began_at + LONGEST_LAG):
            raise Unfit(f"more than {LONGEST_LAG} s behind")
        return time.monotonic() - began_at

    def close(self) -> None:
        for connection in (self._primary, self._replica):
            if connection is not None:
                connection.close()
        self._primary = self._replica = None


def in_use(replicas: Sequence[Replica]) -> list[Replica]:
    """Those on which a process may hold a lease that has begun before this call. 1 round trip. Raises RedisError."""
    marks = _redis.call("MGET", *(replica.key for replica in replicas))
    return [replica for replica, mark in zip(replicas, marks, strict=True) if mark is not None]


_redis = RedisConnection("default")


def _wait(connection: ReplicaConnection, position: bytes, give_up_at: float) -> bool:
    """Whether the replica has applied `position` by that time. Raises psycopg.Error."""
    while connection.one(_HAS_APPLIED, position) != (b"t",):
        if time.monotonic() >= give_up_at:
            return False
        time.sleep(_POLL)
    return True


def _primary_parameters() -> dict[str, object]:
    """psycopg's, of Django's connection."""
    given = connections["default"].get_connection_params()
    return {name: value for name, value in given.items() if name not in {"cursor_factory", "context"}}


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
